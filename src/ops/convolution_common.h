/* What Convolution and its transpose share, grouped or not: channels, output and the walk over the
 * groups. Input 0 is the data, input 1 the filters.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_CONVOLUTION_COMMON_H
#define IRRUN_OPS_CONVOLUTION_COMMON_H

#include "kernels/convolution.h"
#include "ops/op.h"

struct convolution_groups {
    int64_t n_batches, n_groups;
};

/* Checks the ranks, and fills the groups and the channels of one group. The filters are
 * [c_out][c_in][kernel], of a transpose [c_in][c_out][kernel]; before that stand as many dimensions
 * as the op's family says: 1 for the groups. */
bool convolution_infer_channels(struct infer *infer, bool is_transposed, struct convolution *one,
                                struct convolution_groups *groups);

/* The output has these spatial sizes, right-aligned. */
bool convolution_infer_output(struct infer *infer, const struct convolution *one,
                              const struct convolution_groups *groups, const int64_t sizes[3]);

/* One group of one batch element; `first` is the number of its first element of the output. */
typedef void convolution_group_fn(const struct step *step, const void *in, const void *filters,
                                  void *out, size_t first);

/* Calls it for all groups of all batch elements. n_in, n_out: positions of a channel. */
void convolution_walk(const struct step *step, const struct convolution *one,
                      const struct convolution_groups *groups, int64_t n_in, int64_t n_out,
                      convolution_group_fn *convolve);

#endif
