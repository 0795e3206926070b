/* Softmax with AVX-512.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__AVX512F__)
#error "to be compiled with AVX-512"
#endif
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/vector_avx512.h"

#include "kernels/vector_math_body.h"

#include "kernels/vector_exp_log_body.h"

#include "kernels/softmax_body.h"

void softmax_f32_avx512(const struct softmax *softmax, const float *in, float *out)
{
    run_softmax(softmax, in, out);
}
