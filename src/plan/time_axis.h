/* Follows the time axis of a model through its ops, from inputs to outputs, and finds the ops that
 * cannot compute a sequence in chunks with the same results. Shapes are those that the XML says.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_TIME_AXIS_H
#define IRRUN_PLAN_TIME_AXIS_H

#include "graph/graph.h"

/* How a value depends on the frames of a record. */
enum time_kind {
    TIME_NONE,    /* not at all */
    TIME_ALONG,   /* it has their results along `axis` */
    TIME_LENGTH,  /* on their number only */
    TIME_LAST,    /* on all up to the last of them: a state */
    TIME_REFUSED, /* it comes from an op that is refused */
};

/* The dimension of `axis` is outer * frames * inner, in row-major order. */
struct time_use {
    enum time_kind kind;
    uint32_t axis;
    int64_t outer, inner; /* outer 0: more than 1, but not known */
};

/* A Reshape whose constant shape has the number of frames in it, and the shape that it gets: 0
 * copies a dimension, -1 is open. */
struct time_reshape {
    uint32_t op_id, n;
    int64_t dims[IRRUN_MAX_RANK];
};

struct time_walk {
    const struct graph *graph;
    struct time_use *uses; /* per value; those of the opened Parameters are set before the walk */
    const bool *carries;   /* per op: a recurrent op that keeps its state from chunk to chunk */
    int64_t n_frames;      /* that the XML says; -1: any number */
    bool is_trial;         /* operands may lack the time axis, and nothing is reported */
    uint32_t operand;      /* the value that lacks it, which stopped the walk; NO_ID: none */
    uint32_t operand_axis;
    struct time_reshape *reshapes; /* on the heap */
    size_t n_reshapes, reshapes_capacity;
    unsigned n_refused;
    struct irrun_error *err; /* the refusals, a line each */
};

/* Walks over the graph in its order and sets the uses of all values. Returns false if an op is
 * refused, or if there is no memory. */
bool time_walk_run(struct time_walk *walk);

/* The number of frames as it is found in a list of integers that a model computes. */
enum time_item_kind { TIME_ITEM_NUMBER, TIME_ITEM_FRAMES, TIME_ITEM_OTHER };

struct time_item {
    enum time_item_kind kind;
    int64_t number; /* of TIME_ITEM_FRAMES: times so many; 0: not known */
    /* TIME_ITEM_OTHER: dimension `axis` of `value_id`, if that is known; else NO_ID. */
    uint32_t value_id, axis;
};

struct time_items {
    uint32_t n;
    struct time_item items[IRRUN_MAX_RANK];
};

/* Finds the elements of a list of at most IRRUN_MAX_RANK integers, or of one integer. False if they
 * are not known. */
bool time_items_find(const struct time_walk *walk, uint32_t value_id, struct time_items *list);

/* Returns the rank and a dimension that the XML says of a value; a dimension of -1 is open. */
uint32_t time_rank(const struct graph *graph, uint32_t value_id);
int64_t time_dim(const struct graph *graph, uint32_t value_id, uint32_t axis);

#endif
