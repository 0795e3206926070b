/* The library behind CBLAS: the administrator's choice, not ours. It is loaded when somebody first
 * asks for it, since loading one takes up to 3 ms, and most models never do; `make BLAS=link` links
 * it instead.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_BLAS_H
#define IRRUN_KERNELS_BLAS_H

#include <stdbool.h>

#include "base/error.h"

/* Loads it, once. Fails with IRRUN_SYSTEM if it cannot be loaded. */
bool blas_load(struct irrun_error *err);

/* Keeps a BLAS that has threads of its own to the calling one, for the rest of the process: at once
 * if it is loaded, else when it is. The threads that OpenBLAS starts when it is loaded end. */
void blas_hold_to_one_thread(void);

/* A function of it by name, NULL if it has none or cannot be loaded. */
typedef void blas_function_fn(void);
blas_function_fn *blas_function(const char *name);

/* "OpenBLAS (openblas-pthread/libblas.so.3)", "reference (blas/libblas.so.3.11.0)", "other (FILE)";
 * "unknown" where there is no file, "none" where it cannot be loaded. Loads it. */
const char *blas_identity(void);

/* Whether it is one of those that are written for speed: OpenBLAS, BLIS, MKL. The reference is 10
 * to 40 times slower than they are, and slower than plain loops. Loads it. */
bool blas_is_fast(void);

#endif
