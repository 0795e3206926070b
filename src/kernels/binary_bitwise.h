/* The part of the table of binary loops that binary_bitwise.c holds.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_BINARY_BITWISE_H
#define IRRUN_KERNELS_BINARY_BITWISE_H

#include "kernels/binary.h"

/* From BINARY_BIT_AND to BINARY_SHIFT_RIGHT; NULL if there is none for the type. */
binary_fn *binary_bitwise_scalar(enum binary_operation operation, enum irrun_dtype dtype);

#endif
