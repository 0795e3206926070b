/* What inputs and outputs are called: primary names, aliases, "@K".
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_PORTS_H
#define IRRUN_RUNTIME_PORTS_H

#include "graph/graph.h"

struct ports {
    struct irrun_port *items;
    size_t n;
    bool is_output; /* for messages */
    /* [n]; which of an output's names is LAYER:PORT, made up for a layer with several outputs; else
     * NULL. For inputs NULL. */
    const char **port_readings;
};

/* Everything is in the arena. */
bool ports_of_inputs(const struct graph *graph, struct arena *arena, struct ports *ports,
                     struct irrun_error *err);
bool ports_of_outputs(const struct graph *graph, struct arena *arena, struct ports *ports,
                      struct irrun_error *err);

/* The outputs of an op with all their names, as the XML declares them. */
bool ports_of_op(const struct graph *graph, const struct op *op, struct arena *arena,
                 const struct irrun_port **ports, struct irrun_error *err);

/* Resolves a primary name, an alias or "@K"; IRRUN_USAGE, with a list, for none or several. */
bool ports_find(const struct ports *ports, const char *name, size_t *index,
                struct irrun_error *err);

#endif
