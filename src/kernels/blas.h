/* The system's CBLAS library. It is loaded on first use, since loading takes up to 3 ms and most
 * models do not need it; `make BLAS=link` links it instead.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_BLAS_H
#define IRRUN_KERNELS_BLAS_H

#include <stdbool.h>

#include "base/error.h"

/* Loads the library once. Fails with IRRUN_SYSTEM if this is impossible. */
bool blas_load(struct irrun_error *err);

/* Makes a BLAS that has its own threads use only the calling thread, until the process ends. May be
 * called before the library is loaded. Ends the threads that OpenBLAS starts while it is loaded. */
void blas_limit_to_one_thread(void);

/* Returns a function of the library by name; NULL if the library cannot be loaded or lacks the
 * function. */
typedef void blas_function_fn(void);
blas_function_fn *blas_function(const char *name);

/* Loads the library and returns its name, as in "OpenBLAS (openblas-pthread/libblas.so.3)",
 * "reference (blas/libblas.so.3.11.0)" or "other (FILE)". Returns "unknown" if its file is not
 * known, and "none" if it cannot be loaded. */
const char *blas_identity(void);

/* Loads the library and returns whether it is OpenBLAS, BLIS or MKL. The reference BLAS is 10 to 40
 * times slower than these, and slower than the plain loops. */
bool blas_is_fast(void);

#endif
