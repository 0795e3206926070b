/* Opens the sources of -i and --expect, and finds the inputs or outputs of the model that they
 * name.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_BIND_H
#define IRRUN_CLI_BIND_H

#include "cli/options.h"

/* The type of irrun_model_find_input and irrun_model_find_output. */
typedef bool find_port_fn(const struct irrun_model *model, const char *name, size_t *port,
                          struct irrun_error *err);

/* Returns whether `name` is a name of the port. */
bool port_has_name(const struct irrun_model *model, find_port_fn *find, size_t port,
                   const char *name);

/* The values of an option such as --atol=NAME=X, one item per use of the option. The first member
 * of an item is the name of its port, or NULL for all ports. */
struct named_list {
    const void *items;
    size_t n, item_bytes;
};
#define NAMED_LIST(list) ((struct named_list){(list).items, (list).n, sizeof *(list).items})

/* Fails if a name in the list is not the name of a port. */
bool named_check(struct named_list list, const struct irrun_model *model, find_port_fn *find,
                 struct irrun_error *err);

/* Returns the item for the port, or else the item for all ports, or else NULL. */
const void *named_find(struct named_list list, const struct irrun_model *model, find_port_fn *find,
                       size_t port);

/* The open archives. Close their readers before the archives. All zeros: empty. */
struct archive_list {
    struct archive **items;
    size_t n, capacity;
};

/* The inputs or outputs of a model (ports), with the functions that find a port and receive its
 * reader. */
struct binder {
    const char *option; /* "-i" or "--expect=", for messages */
    const struct irrun_model *model;
    const struct irrun_port *(*port)(const struct irrun_model *model, size_t index);
    size_t n_ports;
    bool (*find)(void *context, const char *name, size_t *port, struct irrun_error *err);
    /* Takes ownership of the reader, even on failure. */
    bool (*add_reader)(void *context, size_t port, const struct binding *binding,
                       struct reader *reader, struct irrun_error *err);
    void *context;
    struct archive_list *archives;
};

/* Finds the port that the binding names. A binding without a name means the only port. */
bool bind_find_port(const struct binder *binder, const struct binding *binding, size_t *port,
                    struct irrun_error *err);

/* Opens the source and calls add_reader for its array, or for every member of an npz. Fails with
 * IRRUN_USAGE if the port is ambiguous, with IRRUN_DATA if a member matches no port. */
bool bind_source(const struct binder *binder, const struct binding *binding,
                 struct irrun_error *err);

void archives_close(struct archive_list *archives);

#endif
