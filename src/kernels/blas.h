/* The CBLAS library that the system provides. It is loaded on first use, since that takes up to 3
 * ms and most models do not need it; `make BLAS=link` links it instead.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_BLAS_H
#define IRRUN_KERNELS_BLAS_H

#include <stdbool.h>

#include "base/error.h"

/* Loads it, once. Fails with IRRUN_SYSTEM if it cannot be loaded. */
bool blas_load(struct irrun_error *err);

/* Limits a BLAS with threads of its own to the calling thread, until the process ends: now if it is
 * loaded, else when it is loaded. Ends the threads that OpenBLAS starts when it is loaded. */
void blas_hold_to_one_thread(void);

/* A function of the library by name; NULL if there is none or the library cannot be loaded. */
typedef void blas_function_fn(void);
blas_function_fn *blas_function(const char *name);

/* "OpenBLAS (openblas-pthread/libblas.so.3)", "reference (blas/libblas.so.3.11.0)", "other (FILE)";
 * "unknown" where there is no file, "none" where it cannot be loaded. Loads it. */
const char *blas_identity(void);

/* Whether it is an optimized library: OpenBLAS, BLIS, MKL. The reference BLAS is 10 to 40 times
 * slower, and slower than plain loops. Loads it. */
bool blas_is_fast(void);

#endif
