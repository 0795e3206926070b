/* Chooses the variant of an indirect convolution that has the lowest estimated cost.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/indirect_convolution.h"

double reading_cost(double n_floats, double n)
{
    bool is_large = n_floats > (double)(L2_BYTES / sizeof(float));
    return is_large ? n_floats * (n < 1 ? 1 : n) * 6 : 0;
}

#define SCALAR_COST 12 /* per multiplication in a scalar loop */

/* Winograd has larger rounding errors, so it is chosen only if it takes at most this fraction of
 * the time. */
#define MAX_WINOGRAD_RATIO 0.95

/* Returns the cost of a multiplication with positions in the lanes. These tiles load more vectors
 * per multiplication, especially with 16 registers of 8 lanes, where a tile has 12 sums. */
static double position_cost(const struct indirect_convolution *conv)
{
    return conv->microkernels->lanes == 8 ? 1.6 : 1.2;
}

/* Estimates the cost in 1/16 cycle, which is about one multiplication. The constants were fitted to
 * the times of 60 convolutions. */
static double find_cost(const struct indirect_convolution *conv)
{
    /* The cost to copy an element of a short row. */
    double copied = conv->in_channels_last ? 2 : conv->channels_in_lanes ? 16 : 11, cost = 0;

    for (size_t i = 0; i < conv->n_subconvolutions; i++) {
        const struct subconvolution *sub = &conv->subconvolutions[i];
        double k = (double)sub->k;
        if (conv->tile[0] > 0)
            cost += winograd_cost(conv);
        else if (conv->channels_in_lanes) /* 15 per sum */
            cost +=
                (double)sub->n_positions * (double)conv->ld_sums *
                    (k * multiplication_cost(conv) + 15) +
                reading_cost(k * (double)conv->ld_sums, (double)sub->n_positions / (double)sub->nr);
        else
            cost += (double)(sub->n_column_tiles * sub->nr) *
                    ((double)(sub->mr * sub->n_row_tiles) * k * position_cost(conv) +
                     (double)(conv->c_out * window_product(sub->n_phases)) * 15);
    }
    return cost * (double)conv->n_groups + (double)conv->copy_floats * copied;
}

#define LARGE_COPY 16384 /* floats: too large for an L1 cache */

bool indirect_convolution_choose(struct indirect_convolution *conv,
                                 const struct igemm_microkernels *microkernels,
                                 const struct convolution *c, int64_t n_groups, bool is_transposed)
{
    struct indirect_convolution other;
    bool any_channels_last = c->in_pixel_stride > 0 || c->out_pixel_stride > 0;
    if (!indirect_convolution_plan(conv, microkernels, c, n_groups, is_transposed,
                                   any_channels_last))
        return false;
    if (indirect_convolution_plan(&other, microkernels, c, n_groups, is_transposed, true)) {
        if (find_cost(&other) < find_cost(conv))
            *conv = other;
        if (indirect_convolution_plan_winograd(&other) &&
            find_cost(&other) < find_cost(conv) * MAX_WINOGRAD_RATIO)
            *conv = other;
    }
    bool is_faster = find_cost(conv) < (double)n_groups * (double)window_product(c->window.out) *
                                           (double)window_product(conv->kernel) * (double)c->c_in *
                                           (double)c->c_out * SCALAR_COST;
    if (conv->copy_floats >= LARGE_COPY)
        indirect_convolution_plan_rows(conv);
    return is_faster;
}

void indirect_convolution_choose_pairs(struct indirect_convolution *conv,
                                       const struct igemm_microkernels *microkernels,
                                       const struct convolution *c)
{
    struct indirect_convolution other;
    /* The f32 plan needs its input rounded in advance, which costs 64 per element. */
    double rounding = 64 * (double)window_product(c->window.in) * (double)c->c_in;
    if (indirect_convolution_plan_pairs(&other, microkernels, c) &&
        find_cost(&other) < find_cost(conv) + rounding)
        *conv = other;
}
