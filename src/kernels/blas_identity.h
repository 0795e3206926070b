/* Which library stands behind CBLAS: the administrator's choice, not ours.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_BLAS_IDENTITY_H
#define IRRUN_KERNELS_BLAS_IDENTITY_H

#include <stddef.h>

/* "OpenBLAS (libopenblas.so.0)", "reference (libblas.so.3.11.0)"; "unknown" where it cannot be told. Writes
 * at most size_bytes, and returns `text`. */
char *blas_identity(char *text, size_t size_bytes);

#endif
