/* The part of binary.h whose results are boolean.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_BINARY_COMPARE_H
#define IRRUN_KERNELS_BINARY_COMPARE_H

#include "kernels/binary.h"

/* BINARY_EQUAL and all that follow; booleans of any non-zero byte are equal. */
binary_fn *binary_compare_scalar(enum binary_operation operation, enum irrun_dtype dtype);

#endif
