/* Element-wise loops with AVX-512.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__AVX512F__) || !defined(__AVX512BW__)
#error "to be compiled with AVX-512"
#endif
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/vector_avx512.h"

#include "kernels/vector_math_body.h"

#include "kernels/vector_exp_log_body.h"

#include "kernels/elementwise_functions_body.h"

#include "kernels/elementwise_body.h"

const struct elementwise_kernels elementwise_f32_avx512 = ELEMENTWISE_KERNELS;
