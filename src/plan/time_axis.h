/* Follows the time axis of a model through its ops, from inputs to outputs, and finds the ops that
 * cannot compute a sequence in chunks with the same results. Uses the shapes in the XML.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_TIME_AXIS_H
#define IRRUN_PLAN_TIME_AXIS_H

#include "graph/graph.h"

/* How a value depends on the frames of a record. */
enum time_kind {
    TIME_NONE,    /* not at all */
    TIME_ALONG,   /* the value has elements for each frame, along `axis` */
    TIME_LENGTH,  /* only on the number of frames */
    TIME_LAST,    /* on all frames up to the last one, as a state does */
    TIME_REFUSED, /* unknown: a refused op computes it */
};

/* Dimension `axis` has outer * frames * inner elements, in row-major order. */
struct time_use {
    enum time_kind kind;
    bool reads_variable; /* TIME_LAST: computed from a ReadValue, with no recurrent op in between */
    uint32_t axis;
    int64_t outer, inner; /* outer 0: more than 1, but unknown */
};

/* A Reshape whose constant shape contains the number of frames, and the shape that replaces it: 0
 * copies a dimension, -1 is dynamic. */
struct time_reshape {
    uint32_t op_id, n;
    int64_t dims[IRRUN_MAX_RANK];
};

struct time_walk {
    const struct graph *graph;
    /* For each value. The caller sets the uses of Parameters whose time axis becomes dynamic. */
    struct time_use *uses;
    const bool *carries; /* for each op: it is recurrent and keeps its state between chunks */
    int64_t n_frames;    /* number of frames in the XML; -1: any number */
    bool is_trial;       /* accepts operands without the time axis, and reports nothing */
    uint32_t operand;    /* the first operand without the time axis; NO_ID: none */
    uint32_t operand_axis;
    struct time_reshape *reshapes; /* on the heap */
    size_t n_reshapes, reshapes_capacity;
    unsigned n_refused;
    struct irrun_error *err; /* lists the refused ops, one per line */
};

/* Visits all ops in the order of the graph, and sets the uses of all values. Returns false if an op
 * is refused, or on failure. */
bool time_walk_run(struct time_walk *walk);

/* An item of a list of integers that the model computes, which may depend on the number of
 * frames. */
enum time_item_kind { TIME_ITEM_NUMBER, TIME_ITEM_FRAMES, TIME_ITEM_OTHER };

struct time_item {
    enum time_item_kind kind;
    int64_t number; /* TIME_ITEM_FRAMES: the multiple of the number of frames; 0: unknown */
};

struct time_items {
    uint32_t n;
    struct time_item items[IRRUN_MAX_RANK];
};

/* Finds the items of a list of at most IRRUN_MAX_RANK integers, or of one integer. Returns false if
 * the items are unknown. */
bool time_items_find(const struct time_walk *walk, uint32_t value_id, struct time_items *list);

/* Return the type, the rank and a dimension of a value in the XML; -1 is a dynamic dimension. */
enum irrun_dtype time_dtype(const struct graph *graph, uint32_t value_id);
uint32_t time_rank(const struct graph *graph, uint32_t value_id);
int64_t time_dim(const struct graph *graph, uint32_t value_id, uint32_t axis);

#endif
