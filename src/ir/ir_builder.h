/* Reads the XML of an IR into a graph, in one pass, without a tree. Checks what does not depend on
 * which ops are live: ids, ports, edges, the form of the document.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_IR_BUILDER_H
#define IRRUN_IR_IR_BUILDER_H

#include "graph/graph.h"

/* A model as read. It must not be moved: its graphs point to `weights`. */
struct ir_model {
    struct arena arena;       /* holds the graph and all its data */
    struct graph *graph;      /* its order is not set yet */
    struct file_map weights;  /* empty until weights_open */
    const char *weights_path; /* NULL if the XML comes from standard input and none was given */
    bool has_weights_path;    /* the path was given, so the file must be there */
    bool needs_weights;       /* false: the model is only inspected */
    uint64_t xml_digest;      /* FNV-1a, 64 bits, of the bytes of the XML */
};

/* Reads the XML; "-" is standard input. weights_path may be NULL: xml_path with the ending .bin.
 * Does not open the .bin. On failure *model is already released. Layers that irrun does not support
 * and layers with bad attributes are kept with a fault; ir_check.h reports those that are live. */
bool ir_load(const char *xml_path, const char *weights_path, bool needs_weights,
             struct ir_model *model, struct irrun_error *err);

/* Does the same, but passes the XML to the parser in pieces of piece_bytes; 0 means the default. */
bool ir_load_in_pieces(const char *xml_path, const char *weights_path, bool needs_weights,
                       size_t piece_bytes, struct ir_model *model, struct irrun_error *err);

void ir_free(struct ir_model *model);

#endif
