/* The graph of --dot, which dot_fold.c simplifies and dot.c prints.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DOT_INTERNAL_H
#define IRRUN_CLI_DOT_INTERNAL_H

#include "base/arena.h"

/* How a layer is shown. */
struct dot_node {
    bool is_hidden;    /* not shown: a constant, or in the body of an op that is not shown */
    size_t group;      /* the layer whose node includes it: the last of a chain, or itself */
    size_t shown;      /* the group shown instead: in a repetition, that of the first block */
    size_t block;      /* number of its block in a repetition, from 1; 0: not repeated */
    size_t repetition; /* index of the repetition, if block > 0 */
};

/* A block of `period` groups that is repeated `count` times in a row. */
struct dot_repetition {
    size_t start, period, count; /* start: index in `order` */
};

struct dot {
    const struct irrun_layer *layers;
    struct dot_node *nodes; /* [n] */
    size_t n;
    double *shares; /* [n] each shown node's fraction of the time; NULL: not measured */
    size_t *order;  /* [n_order] groups outside of bodies, in layer order */
    size_t n_order;
    struct dot_repetition *repetitions;
    size_t n_repetitions;
    struct arena arena;
};

/* Finds constants, chains and repetitions. */
bool dot_fold(struct dot *dot, struct irrun_error *err);

/* Returns the index after the last layer of the bodies of layer i; i + 1 if it has none. */
size_t dot_body_end(const struct dot *dot, size_t i);

#endif
