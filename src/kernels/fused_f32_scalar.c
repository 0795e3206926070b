/* Fused element-wise operations without vectors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/vector_plain.h"

#include "kernels/elementwise_functions_body.h"

#include "kernels/fused_body.h"

void fused_f32_scalar(const struct fused_instruction *program, size_t n)
{
    run_fused(program, n);
}
