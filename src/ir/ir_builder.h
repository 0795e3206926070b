/* Reads the XML of an IR into a graph, in one pass, without building a tree. Checks everything that
 * does not depend on which ops are live: ids, ports, edges, the form of the document.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_IR_BUILDER_H
#define IRRUN_IR_IR_BUILDER_H

#include "graph/graph.h"

/* A model as the XML describes it. It must not be moved, since its graphs point to `weights`. */
struct ir_model {
    struct arena arena;       /* holds the graph and all its data */
    struct graph *graph;      /* its order is not set yet */
    struct file_map weights;  /* empty until weights_open */
    const char *weights_path; /* NULL if the XML is standard input and no path was given */
    bool has_weights_path;    /* the path was given, so the file must exist */
    bool needs_weights;       /* false: the model is only inspected */
    uint64_t xml_digest;      /* 64-bit FNV-1a hash of the XML */
};

/* Reads the XML; "-" is standard input. If weights_path is NULL, it is xml_path with the extension
 * .bin. Does not open the .bin. On failure *model is already released. Unsupported layers and
 * layers with invalid attributes are kept with a fault; ir_check.h reports those that are live.
 * The parser gets the XML in pieces of piece_bytes; 0 means the default. */
bool ir_load(const char *xml_path, const char *weights_path, bool needs_weights, size_t piece_bytes,
             struct ir_model *model, struct irrun_error *err);

void ir_free(struct ir_model *model);

#endif
