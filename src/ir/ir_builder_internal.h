/* Types and functions shared by the files ir_*.c: the data of a graph while its layers and edges
 * are read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_IR_BUILDER_INTERNAL_H
#define IRRUN_IR_IR_BUILDER_INTERNAL_H

#include "ir/ir_builder.h"
#include "ir/xml_reader.h"
#include "ops/op.h"

/* The maximum nesting of bodies, which limits the recursion of functions over them. */
#define MAX_BODY_DEPTH 64

/* The id of a port in the file, and its index among the layer's inputs or outputs. */
struct port_ref {
    uint32_t id; /* NO_ID: the layer does not list this output */
    uint32_t ordinal;
};

/* An edge, with the ids in the file. */
struct parsed_edge {
    uint32_t from_layer, from_port, to_layer, to_port;
    uint32_t line, column;
};

/* The layer ids of one net or body, sorted, with the ids of their ops. */
struct layer_index {
    struct layer_ref {
        uint32_t id, op_id;
    } * refs;
    uint32_t n;
};

struct parsed_back_edge {
    uint32_t from_layer, to_layer;
    uint32_t line, column;
};

/* A body of the current layer and its port maps. Its elements may come in any order, so it keeps
 * the ids in the file until the end of the layer. */
struct parsed_body {
    struct graph *graph; /* NULL until its element ends */
    struct layer_index layers;
    struct parsed_maps {
        struct port_map *items;
        size_t n, capacity;
    } inputs, outputs;
    struct parsed_back_edge *back_edges;
    size_t n_back_edges, back_edges_capacity;
};

/* The value of the enum is the number of bodies. */
enum body_form { BODY_FORM_NONE, BODY_FORM_LOOP, BODY_FORM_IF };

/* The data of the current layer that is not in struct op. */
struct parsed_layer {
    enum body_form body_form;
    struct parsed_body bodies[2];
    bool has_data;
    bool lacks_type, lacks_shape;    /* a Const then uses those of its output port */
    enum irrun_dtype port_precision; /* type of the current output port; IRRUN_DYNAMIC: none */
    struct irrun_shape port_shape;
    bool is_in_output;   /* the current port is an output */
    bool has_port_shape; /* false: no port, or its shape is not static */
};

/* A net or a body while it is read. Its heap arrays are copied into the model's arena at the end.
 * The ops, values and ports of a layer are contiguous. */
struct scope {
    struct scope *parent;
    const char *path;
    uint32_t depth;
    struct op *ops;
    size_t n_ops, ops_capacity;
    uint32_t *layer_ids; /* [n_ops] */
    size_t layer_ids_capacity;
    struct port_ref *inputs; /* sorted by id when their layer ends */
    size_t n_inputs, inputs_capacity;
    struct port_ref *outputs; /* [n_values] */
    size_t outputs_capacity;
    struct value *values;
    size_t n_values, values_capacity;
    struct parsed_edge *edges;
    size_t n_edges, edges_capacity;
    struct parsed_layer layer;
};

/* The cache of the results of op_find has N_FOUND_OPS entries. */
#define N_FOUND_OPS 64
struct found_op {
    char type[40], version[16];
    const struct op_def *def;
    const struct op_fault *fault;
};

/* The attributes of an element: name, value, name, value …, NULL. */
typedef const char *const *xml_attrs;

struct ir_builder;

/* An element that is not skipped, and its handlers. */
struct element {
    uint32_t places; /* set of states in which it is allowed; see ir_builder.c */
    const char *name;
    uint32_t inside; /* the state within it */
    bool (*start)(struct ir_builder *builder, xml_attrs attrs);
    bool (*end)(struct ir_builder *builder);
    unsigned body; /* index of the body that it belongs to */
};

/* More than the deepest nesting that a valid IR needs: net, layers, layer; then body, layers, layer
 * for each body; then output, port, dim. Deeper elements are skipped. */
#define MAX_ELEMENTS (8 + 4 * MAX_BODY_DEPTH)

struct ir_builder {
    struct ir_model *model;
    struct irrun_error *err;
    struct xml_reader *xml;
    const char *file;
    const char *net_name;
    uint32_t ir_version;
    struct scope *scope;                      /* the innermost net or body */
    const struct element *element;            /* the element that starts or ends */
    const struct element *open[MAX_ELEMENTS]; /* the open elements, without skipped ones */
    uint32_t states[MAX_ELEMENTS];            /* the state inside each of them */
    uint32_t n_open;
    size_t n_skipped; /* depth within an element that is skipped */
    char dim[32];     /* the text of a <dim> */
    size_t dim_length;
    bool is_dim_bad;
    struct found_op found_ops[N_FOUND_OPS];
};

/* ---- ir_builder.c --------------------------------------------------------------------------- */

/* Reads the id of a layer or a port, 0 … NO_ID - 1, which the current element must have. */
bool read_id(struct ir_builder *builder, xml_attrs attrs, const char *name, uint32_t *id);

struct scope *scope_new(struct ir_builder *builder, const char *path);

/* Frees the innermost scope and returns to its parent. */
void scope_pop(struct ir_builder *builder);

/* Return the current layer, as an op and as parsed data. */
static inline struct op *current_op(const struct ir_builder *builder)
{
    return &builder->scope->ops[builder->scope->n_ops - 1];
}

static inline struct parsed_layer *current_layer(const struct ir_builder *builder)
{
    return &builder->scope->layer;
}

/* Return the ports that the layer lists, or NULL. They are sorted by id at the end of the layer. */
static inline struct port_ref *input_ports(const struct scope *scope, const struct op *op)
{
    return op->n_inputs != 0 ? scope->inputs + op->first_input : NULL;
}

static inline struct port_ref *output_ports(const struct scope *scope, const struct op *op)
{
    return op->n_outputs != 0 ? scope->outputs + op->first_output : NULL;
}

/* Returns the position of the current element. */
static inline struct place here(const struct ir_builder *builder)
{
    return xml_place(builder->xml);
}

/* ---- ir_layers.c ---------------------------------------------------------------------------- */

bool start_layer(struct ir_builder *builder, xml_attrs attrs);
bool end_layer(struct ir_builder *builder);
bool start_data(struct ir_builder *builder, xml_attrs attrs);

/* ---- ir_ports.c ----------------------------------------------------------------------------- */

bool start_input_port(struct ir_builder *builder, xml_attrs attrs);
bool start_output_port(struct ir_builder *builder, xml_attrs attrs);
bool start_dim(struct ir_builder *builder, xml_attrs attrs);
bool end_dim(struct ir_builder *builder);
bool add_dim_text(void *context, const char *bytes, size_t n); /* context: the ir_builder */

/* Adds an output to the current layer. */
bool add_output(struct ir_builder *builder, uint32_t port_id);

/* Sorts the ports of the current layer; fails if two have the same id. */
bool sort_ports(struct ir_builder *builder);

/* Finds the index of the port with id `port_id`. Returns false if there is none. `refs` are sorted
 * by id. */
bool find_port(const struct port_ref *refs, uint32_t n, uint32_t port_id, uint32_t *ordinal);

/* Splits "a,b\,c" into the names a and b,c, in the arena. */
bool parse_names(struct ir_builder *builder, const char *text, const char *const **names,
                 uint32_t *n);

/* ---- ir_edges.c ----------------------------------------------------------------------------- */

bool start_edge(struct ir_builder *builder, xml_attrs attrs);

/* Ends the innermost net or body: resolves its edges and creates the graph. The caller frees
 * layers->refs. */
bool finish_graph(struct ir_builder *builder, struct graph **graph, struct layer_index *layers);

/* Returns the op with this layer id, or NO_ID. */
uint32_t find_layer(const struct layer_index *layers, uint32_t layer_id);

/* ---- ir_bodies.c ---------------------------------------------------------------------------- */

bool start_port_map(struct ir_builder *builder, xml_attrs attrs);
bool start_back_edge(struct ir_builder *builder, xml_attrs attrs);
bool start_body(struct ir_builder *builder, xml_attrs attrs);
bool end_body(struct ir_builder *builder);

/* Moves the bodies of the current layer into its op. */
bool finish_bodies(struct ir_builder *builder);
void parsed_body_free(struct parsed_body *parsed);

#endif
