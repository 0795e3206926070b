/* Computes large constants that are the result of a tree of element-wise ops (decompressed
 * weights), a few rows at a time, so that intermediate values need memory only for these rows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_FOLD_ROWS_H
#define IRRUN_PLAN_FOLD_ROWS_H

#include "plan/model.h"

/* A constant whose tree has more nodes, or an op with more inputs, is computed as a whole. */
#define FOLD_MAX_NODES 24
#define FOLD_MAX_INPUTS 5

struct fold_node {
    uint32_t value_id;
    const struct op *op;
    struct constant *constant;
    bool is_whole;                      /* every row needs the whole value */
    bool is_leaf;                       /* a Const, or a constant computed separately */
    uint32_t in[FOLD_MAX_INPUTS], n_in; /* indices of nodes */
    struct irrun_tensor rows;           /* the current rows */
};

/* The tree that computes a constant, in topological order; the constant is last. */
struct fold_rows {
    struct model *model;
    const struct graph *graph;
    struct fold_node nodes[FOLD_MAX_NODES];
    uint32_t n_nodes;
    uint32_t axis; /* the first axis longer than 1: the axis of rows */
    size_t n_rows, row_elements;
    struct arena arena; /* holds the current rows */
};

/* Returns whether the constant is large, not computed yet, and the result of a tree within the
 * limits; if so, fills *fold. Allocates nothing. */
bool fold_rows_find(struct fold_rows *fold, struct model *model, const struct graph *graph,
                    uint32_t value_id);

/* Returns a value that constant_get must compute before rows can be computed, or NO_ID. */
uint32_t fold_rows_missing(const struct fold_rows *fold);

/* Returns whether n elements from `begin` on are whole rows that can be computed separately. */
bool fold_rows_is_part(const struct fold_rows *fold, size_t begin, size_t n);

/* Computes n elements from `begin` on, and returns them; they are valid until the next call.
 * Returns NULL with *err filled on failure. */
const void *fold_rows_get(struct fold_rows *fold, size_t begin, size_t n, struct irrun_error *err);

/* Computes all elements into `to`. */
bool fold_rows_all(struct fold_rows *fold, void *to, struct irrun_error *err);

void fold_rows_free(struct fold_rows *fold);

#endif
