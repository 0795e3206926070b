/* Fused element-wise operations with AVX2.
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

/* The truths of so many do not fit beside the values: a comparison puts them into memory, from
 * which a Select takes them; that is a third faster than half the tile. */
#define TILE_VECTORS 8
#include "kernels/fused_body.h"

void fused_f32_avx2(const struct fused_instruction *program, size_t n)
{
    run_fused(program, n);
}
