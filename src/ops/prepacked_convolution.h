/* Indirect convolutions (kernels/indirect_convolution.h) with constant filters, which are packed
 * once for all plans and sessions of the model. Shared by Convolution and ConvolutionBackpropData.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PREPACKED_CONVOLUTION_H
#define IRRUN_OPS_PREPACKED_CONVOLUTION_H

#include "kernels/indirect_convolution.h"
#include "ops/op.h"

/* Layouts of prepare_prepacked. Packed matrices do not use these numbers. */
enum { LAYOUT_POSITIONS = 100, LAYOUT_CHANNELS, LAYOUT_WINOGRAD, LAYOUT_PAIRS, LAYOUT_DEPTHWISE };

/* --precision=bf16 rounds convolutions with at least this many input channels. The first
 * convolutions of a network have fewer. Rounding them costs the most accuracy (a third of the total
 * error in some networks) and saves no time: channels are multiplied in pairs, so with 3 channels,
 * a quarter of the products multiply by padding. */
#define CONVOLUTION_MIN_ROUNDED 16

struct prepacked_convolution {
    struct indirect_convolution conv;
    const float *filters;  /* NULL: not packed */
    bool rounds_input;     /* the input is copied, rounded to bf16, before a convolution in f32 */
    size_t rounded_offset; /* offset of this copy in scratch memory, in floats */
};

/* Returns whether to compute the convolution with packed filters; if so, plans conv. `convolution`
 * describes one group. Called by op_def.prepacks and prepare. */
bool prepacked_convolution_is_wanted(const struct prepare *prepare,
                                     const struct convolution *convolution, int64_t n_groups,
                                     bool is_transposed, struct indirect_convolution *conv);

/* Packs the filters for packed->conv, which prepacked_convolution_is_wanted has planned, and
 * requests scratch memory. If --precision=bf16 has rounded the filters, plans to round the input,
 * too. */
bool prepacked_convolution_pack(struct prepare *prepare, const struct convolution *convolution,
                                struct prepacked_convolution *packed);

/* Computes all batch elements of a step. */
void prepacked_convolution_run(const struct prepacked_convolution *packed, const struct step *step,
                               int64_t n_batches);

#endif
