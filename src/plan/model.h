/* A model from which plans can be made: the graph in execution order, its constants and variables.
 * All sessions share it. A lock guards the data that changes: constants that are computed on
 * demand, and packed weights.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_MODEL_H
#define IRRUN_PLAN_MODEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "graph/graph.h"
#include "kernels/kernels.h"
#include "plan/weights_cache.h"
#include "tensor/tensor.h"

/* A variable as the ReadValue and Assign layers of one variable_id declare it. */
struct variable_decl {
    const char *id;
    enum irrun_dtype dtype;           /* IRRUN_DYNAMIC: the type of the initial value */
    struct irrun_partial_shape shape; /* the shapes that are allowed */
    const struct graph *graph;        /* the graph of its first ReadValue */
    const struct op *read;            /* its first ReadValue */
    const struct op *assign; /* NULL: none, so that every iteration starts with the initial value */
    const struct graph *assign_graph;
    uint32_t n_reads; /* number of ReadValues */
};

/* A value that is the same for every plan: a Const, or computed from Consts. */
struct constant {
    struct irrun_tensor tensor; /* dtype as in memory; data NULL until computed */
    enum irrun_dtype declared;
    void *widened; /* the f32 copy of an f16 or bf16 constant, once computed */
};

/* Computed once for each graph (of the model and of each body). */
struct graph_analysis {
    struct constant **constants; /* for each value; NULL: not constant */
    /* For each op: index of the Parameter or Result, or of the variable of a ReadValue or Assign;
     * NO_ID for other ops. */
    uint32_t *index_of;
    bool *is_main; /* for each op: needed in every iteration, not only for initial values */
    bool has_variables;
};

struct model {
    struct graph *graph;
    struct arena *arena;
    struct kernels kernels;
    struct variable_decl *variables;
    uint32_t n_variables;
    uint32_t *variable_entries; /* hash table of variable ids: index in variables, or NO_ID */
    uint32_t n_variable_entries;
    pthread_mutex_t lock; /* held while planning; recursive: planning an op plans its bodies */
    struct weights_cache weights_cache;
    atomic_size_t packed_bytes; /* size of copied, converted or prepacked weights */
    unsigned n_threads;         /* threads per session */
    bool no_fusion;
    bool stops_at_nan; /* checks the outputs of every step */
    bool allows_inf;   /* with stops_at_nan: infinities do not stop the run */
    bool times_steps;  /* measures the time of every step */
};

/* Fills model->variables and the analysis of every graph: pairs ReadValue with Assign, and finds
 * the constants. The graphs must be sorted (toposort). is_dry: the model is only inspected; it may
 * have unsupported ops and no weights, and constants are not searched for. */
bool model_prepare(struct model *model, bool is_dry, struct irrun_error *err);
void model_release(struct model *model);

/* Returns the data of a constant value, which the first call computes; NULL on failure. The caller
 * holds the lock. */
const struct irrun_tensor *constant_get(struct model *model, const struct graph *graph,
                                        uint32_t value_id, struct irrun_error *err);
/* Returns the f32 copy of a constant of f16 or bf16. */
const void *constant_get_f32(struct model *model, const struct graph *graph, uint32_t value_id,
                             struct irrun_error *err);

/* Follows views and at most one conversion from `half`, which is f16 or bf16, backwards from
 * `value_id`, and returns the constant that it finds. If there was a conversion, the constant has
 * type `half`. */
uint32_t constant_find_stored(const struct graph *graph, uint32_t value_id, enum irrun_dtype half);

/* Returns n elements of a Const from element `begin` on, which must be a multiple of 8. They are in
 * the mapped file, or in the arena if they have fewer than 8 bits or are misaligned. Returns NULL
 * with *err filled on failure. */
void *constant_read(const struct graph *graph, const struct op *op, size_t begin, size_t n,
                    struct arena *arena, struct irrun_error *err);

/* Calls file_map_dontneed for the bytes of a Const that will rarely be read again. */
void constant_drop_pages(const struct graph *graph, const struct op *op);

/* Finds the constants of one graph. graph->analysis->constants must be allocated. */
bool constants_find(struct model *model, struct graph *graph, struct irrun_error *err);

/* Finds the constants of model->graph before model_prepare: sets graph->analysis to an analysis in
 * model->arena that lists only the constants. The caller must reset it to NULL before it frees the
 * arena. */
bool constants_find_early(struct model *model, struct irrun_error *err);

#endif
