/* Element-wise loops without vector instructions of any level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/vector_plain.h"

#include "kernels/elementwise_functions_body.h"

#include "kernels/elementwise_body.h"

const struct elementwise_kernels elementwise_f32_scalar = ELEMENTWISE_KERNELS;
