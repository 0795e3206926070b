/* What the files of --dot share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DOT_INTERNAL_H
#define IRRUN_CLI_DOT_INTERNAL_H

#include "base/arena.h"

/* What becomes of a layer. */
struct dot_node {
    bool is_hidden; /* a constant, or of a body of a repeated block that is not shown */
    size_t group;   /* the layer whose node it is part of: the last of a chain, or itself */
    size_t shown;   /* of a group: the one that stands for it, of the first of several blocks */
    size_t block;   /* which block of a repetition it is in, from 1; 0: in none */
    size_t repetition;
};

/* A block of `period` groups that comes `count` times one after the other. */
struct dot_repetition {
    size_t start, period, count; /* start: in `order` */
};

struct dot {
    const struct irrun_layer *layers;
    struct dot_node *nodes; /* [n] */
    size_t n;
    size_t *order; /* [n_order]: the groups of the model itself, in the order of the layers */
    size_t n_order;
    struct dot_repetition *repetitions;
    size_t n_repetitions;
    struct arena arena;
};

/* Finds constants and chains, then what repeats. */
bool dot_fold(struct dot *dot, struct irrun_error *err);
bool dot_find_repetitions(struct dot *dot, struct irrun_error *err);

/* Returns the index after the last layer of the bodies of layer i; i + 1 if it has none. */
size_t dot_body_end(const struct dot *dot, size_t i);

#endif
