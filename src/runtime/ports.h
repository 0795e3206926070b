/* The inputs and outputs of a model, and their names: primary names, aliases, "@K".
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_PORTS_H
#define IRRUN_RUNTIME_PORTS_H

#include "graph/graph.h"

struct ports {
    struct irrun_port *items;
    size_t n;
    bool is_output; /* used in messages */
    /* NULL for inputs. [n] for outputs: the alias LAYER:PORT if the layer has several outputs, or
     * NULL. */
    const char **port_aliases;
};

/* List the inputs or the outputs of a model. All memory is in the arena. */
bool ports_of_inputs(const struct graph *graph, struct arena *arena, struct ports *ports,
                     struct irrun_error *err);
bool ports_of_outputs(const struct graph *graph, struct arena *arena, struct ports *ports,
                      struct irrun_error *err);

/* Lists the outputs of an op with all the names that the XML gives them. */
bool ports_of_op(const struct graph *graph, const struct op *op, struct arena *arena,
                 const struct irrun_port **ports, struct irrun_error *err);

/* Finds a port by its primary name, an alias or "@K". Fails with IRRUN_USAGE and a list of names if
 * no port has the name, or several have it. */
bool ports_find(const struct ports *ports, const char *name, size_t *index,
                struct irrun_error *err);

#endif
