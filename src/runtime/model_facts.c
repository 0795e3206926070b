/* Counts ops by type and version, and the bytes of weights in the XML.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/model_facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir_check.h"
#include "ops/op_state.h"
#include "ops/recurrent_op.h"
#include "runtime/ports.h"

/* The bytes of a Const in the .bin. */
struct blob {
    uint64_t begin, end;
};

#define MERGE_AT 4096 /* minimum length of the list of counts when equal counts are merged */

struct census {
    struct irrun_op_count *counts;
    size_t n, capacity;
    struct blob *blobs;
    size_t n_blobs, blobs_capacity;
    const char **warnings;
    size_t n_warnings, warnings_capacity;
    struct arena *arena;
    size_t n_ops;
    size_t merge_at; /* length of the list at which equal counts are merged */
};

static int by_type(const void *a, const void *b)
{
    const struct irrun_op_count *left = a, *right = b;
    int order = strcmp(left->type, right->type);
    if (order == 0)
        order = strcmp(left->version, right->version);
    return order ? order : (left->problem != NULL) - (right->problem != NULL);
}

static int by_begin(const void *a, const void *b)
{
    const struct blob *left = a, *right = b;
    return (left->begin > right->begin) - (left->begin < right->begin);
}

/* Adds a warning, one line of at most `size` bytes. */
static bool add_warning(struct census *census, size_t size, struct irrun_error *err,
                        const char *format, ...)
{
    char *line = arena_alloc(census->arena, size, err);
    if (!line || !GROW_ARRAY(census->warnings, census->n_warnings, census->warnings_capacity, err))
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(line, size, format, args);
    va_end(args);
    census->warnings[census->n_warnings++] = line;
    return true;
}

/* Warns about cells whose weights_format is neither fico nor ifco. OpenVINO ignores the attribute
 * and computes fico; it writes ifco, which irrun therefore reads as fico. In other cases irrun uses
 * the given order, which may not be what the author of the model meant. */
static bool warn_about_gates(struct census *census, const struct op *op, struct irrun_error *err)
{
    static const char *const orders[] = {"fico", "icof", "ifco", "ifoc", "iofc"};
    if (!op->def || op->def->prepare != recurrent_prepare || !op->attrs)
        return true;
    const struct recurrent_attrs *attrs = op->attrs;
    const char *order = orders[attrs->weights_format];
    if (strcmp(order, "fico") == 0 || strcmp(order, "ifco") == 0)
        return true;
    return add_warning(
        census, strlen(op->name) + 160, err,
        "%s \"%s\" (line %u): the gates of its weights are read in the order %s given by "
        "weights_format; OpenVINO reads fico",
        op->def->type, op->name, (unsigned)op->line, order);
}

static bool count_op(struct census *census, const struct op *op, struct irrun_error *err)
{
    if (!GROW_ARRAY(census->counts, census->n, census->capacity, err))
        return false;
    const char *problem = op->def ? ir_type_problem(op) : op->fault->message;
    census->counts[census->n++] = (struct irrun_op_count){op_type(op), op->version, 1, problem};
    census->n_ops++;
    if (op_role_of(op) != ROLE_CONST)
        return true;
    const struct const_attrs *attrs = op->attrs;
    if (attrs->size <= 0 || attrs->offset < 0)
        return true;
    if (!GROW_ARRAY(census->blobs, census->n_blobs, census->blobs_capacity, err))
        return false;
    uint64_t begin = (uint64_t)attrs->offset;
    census->blobs[census->n_blobs++] = (struct blob){begin, begin + (uint64_t)attrs->size};
    return true;
}

/* Sorts the counts, and merges the counts of the same op. */
static void merge(struct census *census)
{
    qsort(census->counts, census->n, sizeof *census->counts, by_type);
    size_t n = 0;
    for (size_t i = 0; i < census->n; i++) {
        if (n > 0 && by_type(&census->counts[n - 1], &census->counts[i]) == 0)
            census->counts[n - 1].n += census->counts[i].n;
        else
            census->counts[n++] = census->counts[i];
    }
    census->n = n;
}

/* Counts the ops of a graph and its bodies. The XML reader limits how deep bodies can nest. */
static bool count_graph(struct census *census, const struct graph *graph, struct irrun_error *err)
{
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const struct op *op = &graph->ops[i];
        if (!count_op(census, op, err) || !warn_about_gates(census, op, err))
            return false;
        if (census->n >= census->merge_at) {
            merge(census);
            census->merge_at = 2 * census->n > MERGE_AT ? 2 * census->n : MERGE_AT;
        }
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (!count_graph(census, op->bodies[b].graph, err))
                return false;
    }
    return true;
}

/* Returns the number of bytes that the blobs cover. Sets *last_end to the end of the last blob. */
static uint64_t union_bytes(struct census *census, uint64_t *last_end)
{
    if (census->n_blobs > 0)
        qsort(census->blobs, census->n_blobs, sizeof *census->blobs, by_begin);
    uint64_t sum = 0, end = 0;
    for (size_t i = 0; i < census->n_blobs; i++) {
        const struct blob *blob = &census->blobs[i];
        uint64_t begin = blob->begin > end ? blob->begin : end;
        if (blob->end > begin) {
            sum += blob->end - begin;
            end = blob->end;
        }
    }
    *last_end = end;
    return sum;
}

#define PADDING_BYTES 4096 /* a .bin may be padded to whole pages */

/* Warns about a .bin that continues after the last Const, because it may belong to a larger
 * model. */
static bool warn_about_length(struct census *census, const struct ir_model *model, uint64_t end,
                              struct irrun_error *err)
{
    uint64_t n = model->weights.size_bytes;
    return n < end + PADDING_BYTES ||
           add_warning(census, strlen(model->weights_path) + 160, err,
                       "%s: %" PRIu64 " of its %" PRIu64
                       " bytes are after the last constant: does it belong to a different model?",
                       model->weights_path, n - end, n);
}

bool model_facts_collect(struct ir_model *model, struct model_facts *facts, struct irrun_error *err)
{
    struct census census = {.arena = &model->arena, .merge_at = MERGE_AT};
    *facts = (struct model_facts){0};
    uint64_t end = 0;
    bool is_done = count_graph(&census, model->graph, err);
    facts->weights_bytes = union_bytes(&census, &end);
    is_done = is_done && warn_about_length(&census, model, end, err);
    if (is_done) {
        if (census.n > 0)
            merge(&census);
        facts->n_ops = census.n_ops;
        facts->n_op_counts = census.n;
        facts->op_counts =
            arena_copy(&model->arena, census.counts, census.n, sizeof *census.counts, err);
        facts->n_warnings = census.n_warnings;
        facts->warnings = arena_copy(&model->arena, census.warnings, census.n_warnings,
                                     sizeof *census.warnings, err);
        is_done = facts->op_counts && facts->warnings;
    }
    free(census.warnings);
    free(census.counts);
    free(census.blobs);
    return is_done;
}

bool model_list_variables(const struct model *model, struct irrun_variable **variables,
                          struct irrun_error *err)
{
    *variables = arena_alloc_array(model->arena, model->n_variables, sizeof **variables, err);
    if (!*variables)
        return false;
    for (size_t i = 0; i < model->n_variables; i++) {
        const struct variable_decl *decl = &model->variables[i];
        const struct op *read = decl->read;
        const char *init = "zeros";
        if (read->n_inputs > 0)
            init = value_producer(decl->graph, op_input(decl->graph, read, 0))->name;
        (*variables)[i] = (struct irrun_variable){.id = decl->id,
                                                  .dtype = decl->dtype,
                                                  .shape = decl->shape,
                                                  .init = init,
                                                  .line = read->line,
                                                  .column = read->column};
    }
    return true;
}

struct layer_list {
    struct irrun_layer *items;
    size_t n, capacity;
};

static const char *variable_of(const struct op *op)
{
    if (op_role_of(op) == ROLE_READ_VALUE)
        return ((const struct read_value_attrs *)op->attrs)->variable_id;
    return op_role_of(op) == ROLE_ASSIGN ? ((const struct assign_attrs *)op->attrs)->variable_id
                                         : NULL;
}

/* Lists the inputs of each layer. at: for each op of the graph, its index in the list. */
static bool list_inputs(struct layer_list *list, const struct graph *graph, const size_t *at,
                        struct arena *arena, struct irrun_error *err)
{
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const struct op *op = &graph->ops[i];
        struct irrun_layer_port *inputs =
            arena_alloc_array(arena, op->n_inputs, sizeof *inputs, err);
        if (!inputs)
            return false;
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const struct value *value = &graph->values[op_input(graph, op, k)];
            inputs[k] = (struct irrun_layer_port){at[value->op_id], value->port};
        }
        list->items[at[i]].inputs = inputs;
        list->items[at[i]].n_inputs = op->n_inputs;
    }
    return true;
}

static bool list_graph(struct layer_list *list, const struct graph *graph, struct arena *arena,
                       struct irrun_error *err)
{
    size_t *at = arena_alloc_array(arena, graph->n_ops, sizeof *at, err);
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const struct op *op = &graph->ops[i];
        if (!at || !GROW_ARRAY(list->items, list->n, list->capacity, err))
            return false;
        at[i] = list->n;
        struct irrun_layer *layer = &list->items[list->n++];
        *layer = (struct irrun_layer){.name = op->name,
                                      .type = op_type(op),
                                      .version = op->version,
                                      .path = graph->path,
                                      .line = op->line,
                                      .is_elementwise =
                                          op->def && (op->def->flags & OP_ELEMENTWISE) != 0,
                                      .variable = variable_of(op),
                                      .n_outputs = op->n_outputs};
        if (!ports_of_op(graph, op, arena, &layer->outputs, err))
            return false;
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (!list_graph(list, op->bodies[b].graph, arena, err))
                return false;
    }
    return at && list_inputs(list, graph, at, arena, err);
}

bool model_list_layers(const struct model *model, const struct irrun_layer **layers, size_t *n,
                       struct irrun_error *err)
{
    struct layer_list list = {.items = NULL};
    *layers = list_graph(&list, model->graph, model->arena, err)
                  ? arena_copy(model->arena, list.items, list.n, sizeof *list.items, err)
                  : NULL;
    free(list.items);
    *n = list.n;
    return *layers != NULL;
}
