/* The system's CBLAS library. It is loaded on first use, since loading takes up to 3 ms and most
 * models do not need it; `make BLAS=link` links it instead.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_BLAS_H
#define IRRUN_KERNELS_BLAS_H

#include <stdbool.h>

#include "base/error.h"

/* Loads the library once. Fails with IRRUN_SYSTEM if this is impossible. */
bool blas_load(struct irrun_error *err);

/* Limits a BLAS that has threads of its own to the calling thread, until the process ends. If the
 * library is not loaded yet, the limit applies when it is. Ends the threads that OpenBLAS starts
 * when it is loaded. */
void blas_limit_to_one_thread(void);

/* Returns a function of the library by name; NULL if there is none or the library cannot be
 * loaded. */
typedef void blas_function_fn(void);
blas_function_fn *blas_function(const char *name);

/* Loads the library and returns its name: "OpenBLAS (openblas-pthread/libblas.so.3)", "reference
 * (blas/libblas.so.3.11.0)" or "other (FILE)"; "unknown" if its file is not known, "none" if it
 * cannot be loaded. */
const char *blas_identity(void);

/* Loads the library and returns whether it is an optimized one: OpenBLAS, BLIS, MKL. The reference
 * BLAS is 10 to 40 times slower, and slower than plain loops. */
bool blas_is_fast(void);

#endif
