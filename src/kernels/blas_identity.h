/* Which library stands behind CBLAS: the administrator's choice, not ours.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_BLAS_IDENTITY_H
#define IRRUN_KERNELS_BLAS_IDENTITY_H

#include <stdbool.h>

/* "OpenBLAS (openblas-pthread/libblas.so.3)", "reference (blas/libblas.so.3.11.0)", "other (FILE)"; "unknown"
 * where there is no file. */
const char *blas_identity(void);

/* Whether it is one of those that are written for speed: OpenBLAS, BLIS, MKL. The reference is 10 to 40
 * times slower than they are, and slower than plain loops. */
bool blas_is_fast(void);

/* Keeps a BLAS that has threads of its own to the calling one, for the rest of the process: two teams
 * on the same cores are slower than none. OpenBLAS starts its threads when it is loaded; they end. */
void blas_hold_to_one_thread(void);

#endif
