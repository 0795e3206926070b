/* The graph of a model as the XML describes it: arrays of ops and values, which 32-bit ids index,
 * and the position of every op in the XML. It does not hold inferred shapes, memory or steps.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_GRAPH_GRAPH_H
#define IRRUN_GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/file.h"

#define NO_ID UINT32_MAX

struct op_def;
struct graph;
struct graph_analysis;

/* An output port of an op, where edges start. */
struct value {
    uint32_t op_id;
    uint32_t port;            /* index among the op's outputs */
    const char *const *names; /* tensor names in the order of the file */
    uint32_t n_names;
    /* The type and shape at the port in the XML, which may be outdated. Inspection and some passes
     * read them; plans infer their own. */
    uint8_t dtype_hint; /* enum irrun_dtype */
    uint8_t rank_hint;
    int64_t *dims_hint; /* [rank_hint]; -1: dynamic */
};

enum port_purpose { PURPOSE_NONE, PURPOSE_CURRENT_ITERATION, PURPOSE_EXECUTION_CONDITION };

/* Connects a port of an op to a Parameter or Result of its body. */
struct port_map {
    int64_t external;     /* index among the op's inputs or outputs; -1: no port */
    uint32_t internal_id; /* id of the Parameter or Result in the body */
    bool has_axis;        /* the input is sliced, or the output concatenated, along an axis */
    int64_t axis, start, end, stride, part_size; /* values of the attributes in the XML */
    enum port_purpose purpose;
    uint32_t line, column;
};

/* The value of Result `from_id` in one iteration is the value of Parameter `to_id` in the next. */
struct back_edge {
    uint32_t from_id, to_id;
};

struct body {
    struct graph *graph;
    struct port_map *inputs;
    uint32_t n_inputs;
    struct port_map *outputs;
    uint32_t n_outputs;
    struct back_edge *back_edges;
    uint32_t n_back_edges;
};

/* The reason why an op cannot be used. It is reported only if the op is live: dead layers may have
 * any type. */
struct op_fault {
    enum irrun_error_code code; /* UNSUPPORTED: no def; DATA: invalid attributes */
    const char *type, *version; /* as written; "" if there is no version */
    const char *message, *hint;
};

struct op {
    const struct op_def *def;     /* NULL if irrun does not support it: see fault */
    const char *name;             /* the layer's name; "" if there is none */
    const char *version;          /* as written: "opset5"; "" if there is none */
    const void *attrs;            /* as described by def->attrs; NULL if there is a fault */
    const struct op_fault *fault; /* NULL: none */
    uint32_t n_inputs;            /* value ids: graph->input_ids from first_input on */
    uint32_t first_input;
    uint32_t n_outputs; /* value ids: from first_output on */
    uint32_t first_output;
    uint32_t line, column;
    struct body *bodies; /* TensorIterator and Loop: 1, If: 2 (then, else), others: none */
    uint32_t n_bodies;
    const char *const *output_names; /* of a Result: the names in its attribute output_names */
    uint32_t n_output_names;
};

struct graph {
    const char *file; /* path of the XML, for messages */
    const char *name;
    const char *path; /* for bodies "layer/body/", otherwise ""; for messages and -v */
    uint32_t ir_version;
    struct op *ops;
    uint32_t n_ops;
    struct value *values;
    uint32_t n_values;
    uint32_t *input_ids;
    uint32_t n_input_ids;
    uint32_t *parameters; /* op ids in document order */
    uint32_t n_parameters;
    uint32_t *results; /* op ids in document order */
    uint32_t n_results;
    uint32_t *order; /* live ops in topological order; set by plan/toposort */
    uint32_t n_order;
    struct graph_analysis *analysis; /* computed once, for all plans */
    const struct file_map *weights;  /* the whole .bin; shared with all bodies */
    const char *weights_file;        /* path of the .bin, for messages */
};

static inline uint32_t op_input(const struct graph *graph, const struct op *op, uint32_t i)
{
    return graph->input_ids[op->first_input + i];
}

static inline const struct op *value_producer(const struct graph *graph, uint32_t value_id)
{
    return &graph->ops[graph->values[value_id].op_id];
}

static inline struct place op_place(const struct graph *graph, const struct op *op)
{
    return (struct place){graph->file, op->line, op->column};
}

/* Returns the entry of the port map for a Parameter of the body; NULL if there is none. */
static inline const struct port_map *body_input_map(const struct body *body, uint32_t parameter_id)
{
    for (uint32_t i = 0; i < body->n_inputs; i++)
        if (body->inputs[i].internal_id == parameter_id)
            return &body->inputs[i];
    return NULL;
}

#endif
