/* Types and functions shared by the files of the pass channels_last_place.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_CHANNELS_LAST_H
#define IRRUN_PLAN_CHANNELS_LAST_H

#include "plan/graph_edit.h"
#include "plan/passes.h"

/* The kind of an op in this pass. Ops of kind OTHER have the channels first. */
enum channels_last_kind {
    OTHER,
    CONVOLUTION,
    DEPTHWISE,
    SPATIAL, /* Pad or MaxPool */
    ELEMENTWISE,
    CONCAT,
    REDUCTION,
    TO_FIRST, /* Transpose to channels first */
    TO_LAST   /* Transpose to channels last */
};

struct channels_last_pass {
    struct model finder; /* finds constants, in memory that is freed after the pass */
    struct graph *graph;
    struct graph_edit edit;
    struct arena *arena;
    enum channels_last_kind *kinds; /* the kind of each op */
    uint32_t *ranks;    /* for each value: its rank if it can have the channels last, or 0 */
    bool *are_wanted;   /* for each value: an op reads it with the channels last */
    bool *are_last;     /* for each value: it comes from a depthwise convolution */
    uint32_t *replaced; /* for each value: its replacement with the channels last, or NO_ID */
    size_t n_replaced;  /* number of convolutions that are replaced */
    uint32_t *n_uses;   /* for each value: number of inputs that read it */
    bool has_groups;    /* the model has grouped convolutions */
    struct irrun_error *err;
};

/* Finds the kinds of all ops, and which values have the channels last. Returns the number of
 * depthwise convolutions. */
size_t channels_last_classify(struct channels_last_pass *pass);

static inline const struct constant *find_constant(const struct channels_last_pass *pass,
                                                   uint32_t value_id)
{
    return pass->graph->analysis->constants[value_id];
}

#endif
