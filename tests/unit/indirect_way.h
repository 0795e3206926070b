/* Runs an indirect convolution in any of its variants.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_INDIRECT_WAY_H
#define IRRUN_TESTS_INDIRECT_WAY_H

#include <math.h>

#include "kernels/indirect_convolution.h"
#include "tensor/half.h"
#include "unit.h"
#include "window_data.h"

/* The kind of convolution, and the variant, which must not change the results. */
struct way {
    int64_t n_groups;
    bool is_transposed, channels_in_lanes, is_winograd, has_pairs;
    bool copies_rows;      /* calls indirect_convolution_plan_rows, which may have no effect */
    enum weight_type type; /* of the packed weights, whose values it represents exactly */
    struct thread_pool *pool;
    const struct epilogue *epilogue;
};

static void pack_weights(const struct indirect_convolution *conv, const float *weights,
                         enum weight_type type, float *packed)
{
    size_t n = (size_t)conv->c_out * conv->n_channels * (size_t)window_product(conv->kernel);
    uint16_t *halves = malloc(n * sizeof *halves);
    for (size_t i = 0; i < n; i++)
        halves[i] = type == WEIGHTS_BF16 ? bf16_from_f32(weights[i]) : f16_from_f32(weights[i]);
    indirect_convolution_pack(
        conv, type != WEIGHTS_F32 ? (const void *)halves : (const void *)weights, type, packed);
    free(halves);
}

static bool plan_way(struct indirect_convolution *conv, const struct convolution *c,
                     const struct way *way, const struct igemm_microkernels *microkernels)
{
    if (way->has_pairs)
        return indirect_convolution_plan_pairs(conv, microkernels, c);
    if (!indirect_convolution_plan(conv, microkernels, c, way->n_groups, way->is_transposed,
                                   way->channels_in_lanes) ||
        (way->is_winograd && !indirect_convolution_plan_winograd(conv)))
        return false;
    if (way->copies_rows)
        indirect_convolution_plan_rows(conv);
    return true;
}

static bool convolve_indirectly(const struct convolution *c, const struct way *way,
                                const struct igemm_microkernels *microkernels, const float *in,
                                const float *weights, float *out)
{
    struct indirect_convolution conv;
    size_t scratch_bytes;
    if (!plan_way(&conv, c, way, microkernels) ||
        !indirect_convolution_scratch(&conv, thread_pool_n_threads(way->pool), &scratch_bytes))
        return false;
    struct indirection *indirection = malloc(conv.n_indirections * sizeof *indirection);
    int32_t *positions = malloc((conv.n_positions + 1) * sizeof *positions);
    unsigned char *masks = calloc((size_t)window_product(conv.window.kernel), conv.mask_bytes);
    float *packed = malloc(conv.packed_floats * sizeof *packed);
    float *scratch = new_numbers((int64_t)(scratch_bytes / sizeof *scratch));
    indirect_convolution_fill(&conv, indirection, positions, masks);
    pack_weights(&conv, weights, way->type, packed);
    indirect_convolution_run(&conv, &(struct indirect_convolution_job){.in = in,
                                                                       .packed = packed,
                                                                       .out = out,
                                                                       .scratch = scratch,
                                                                       .pool = way->pool,
                                                                       .epilogue = way->epilogue});
    free(indirection);
    free(positions);
    free(masks);
    free(packed);
    free(scratch);
    return true;
}

static void assert_same(float got, float want, int64_t i)
{
    if (got != want && !(isnan(got) && isnan(want)))
        fail_test("[%lld] is %g, not %g\n", (long long)i, (double)got, (double)want);
}

#endif
