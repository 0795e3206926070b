/* Element-wise loops with AVX2.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__AVX2__) || !defined(__FMA__)
#error "to be compiled with AVX2"
#endif
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/vector_avx2.h"

#include "kernels/vector_math_body.h"

#include "kernels/vector_exp_log_body.h"

#include "kernels/elementwise_functions_body.h"

#include "kernels/elementwise_body.h"

const struct elementwise_kernels elementwise_f32_avx2 = ELEMENTWISE_KERNELS;
