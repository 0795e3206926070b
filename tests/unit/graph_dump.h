/* Writes a graph as text, to compare two graphs: every op, attribute, edge and body, in the order
 * of the graph's arrays and of the ops' attribute tables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_GRAPH_DUMP_H
#define IRRUN_TESTS_GRAPH_DUMP_H

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "ops/op.h"

/* Two graphs give the same text if and only if they are equal. Sets text->is_failed if there is no
 * memory. */
static inline void graph_dump(const struct graph *graph, struct text *text);

static inline void dump_string(struct text *text, const char *string)
{
    text_add(text, "\"");
    text_add_bytes(text, string, strlen(string));
    text_add(text, "\"");
}

static inline void dump_strings(struct text *text, const char *label, const char *const *strings,
                                uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        text_add(text, i == 0 ? " %s " : ",", label);
        dump_string(text, strings[i]);
    }
}

static inline void dump_number(struct text *text, double number)
{
    char digits[TEXT_NUMBER_BYTES];
    text_add_bytes(text, digits, text_from_f64(number, digits));
}

static inline void dump_list(struct text *text, const struct attr_def *attr, const void *field)
{
    if (attr->kind == ATTR_KIND_INTS) {
        const struct i64_list *list = field;
        for (uint32_t i = 0; i < list->n; i++)
            text_add(text, i == 0 ? "%" PRId64 : ",%" PRId64, list->items[i]);
    } else if (attr->kind == ATTR_KIND_FLOATS) {
        const struct f64_list *list = field;
        for (uint32_t i = 0; i < list->n; i++) {
            text_add(text, i == 0 ? "" : ",");
            dump_number(text, list->items[i]);
        }
    } else {
        const struct string_list *list = field;
        dump_strings(text, "", list->items, list->n);
    }
}

static inline void dump_attr(struct text *text, const struct attr_def *attr, const void *field)
{
    char shape[SHAPE_TEXT_BYTES];
    text_add(text, " %s=", attr->name);
    switch (attr->kind) {
    case ATTR_KIND_INT:
        text_add(text, "%" PRId64, *(const int64_t *)field);
        break;
    case ATTR_KIND_FLOAT:
        dump_number(text, *(const double *)field);
        break;
    case ATTR_KIND_BOOL:
        text_add(text, "%d", *(const bool *)field);
        break;
    case ATTR_KIND_CHOICE:
        text_add(text, "%d", *(const int *)field);
        break;
    case ATTR_KIND_STRING:
        dump_string(text, *(const char *const *)field);
        break;
    case ATTR_KIND_DTYPE:
        text_add(text, "%s", irrun_dtype_name(*(const enum irrun_dtype *)field));
        break;
    case ATTR_KIND_SHAPE:
        text_add(text, "%s", partial_shape_format(field, shape));
        break;
    case ATTR_KIND_STATIC_SHAPE:
        text_add(text, "%s", shape_format(field, shape));
        break;
    case ATTR_KIND_INTS:
    case ATTR_KIND_FLOATS:
    case ATTR_KIND_STRINGS:
        dump_list(text, attr, field);
        break;
    }
}

static inline void dump_port_map(struct text *text, const char *kind, const struct port_map *map)
{
    text_add(text, "  %s %" PRId64 " layer %u", kind, map->external, map->internal_id);
    if (map->has_axis)
        text_add(text,
                 " axis %" PRId64 " start %" PRId64 " end %" PRId64 " stride %" PRId64
                 " part_size %" PRId64,
                 map->axis, map->start, map->end, map->stride, map->part_size);
    text_add(text, " purpose %d at %u:%u\n", (int)map->purpose, map->line, map->column);
}

static inline void dump_body(struct text *text, const struct body *body)
{
    for (uint32_t i = 0; i < body->n_inputs; i++)
        dump_port_map(text, "input", &body->inputs[i]);
    for (uint32_t i = 0; i < body->n_outputs; i++)
        dump_port_map(text, "output", &body->outputs[i]);
    for (uint32_t i = 0; i < body->n_back_edges; i++)
        text_add(text, "  back edge %u to %u\n", body->back_edges[i].from_id,
                 body->back_edges[i].to_id);
    graph_dump(body->graph, text);
}

static inline void dump_op(struct text *text, const struct graph *graph, uint32_t op_id)
{
    const struct op *op = &graph->ops[op_id];
    text_add(text, "%u at %u:%u ", op_id, op->line, op->column);
    if (op->def)
        text_add(text, "%s-%u ", op->def->type, op->def->opset);
    dump_string(text, op->name);
    if (op->fault) {
        text_add(text, " fault %d ", (int)op->fault->code);
        dump_string(text, op->fault->type);
        dump_string(text, op->fault->version);
        dump_string(text, op->fault->message);
        dump_string(text, op->fault->hint);
    }
    if (op->attrs)
        for (size_t i = 0; i < op->def->n_attrs; i++) {
            const struct attr_def *attr = &op->def->attrs[i];
            dump_attr(text, attr, (const unsigned char *)op->attrs + attr->offset);
        }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const struct value *value = &graph->values[op_input(graph, op, i)];
        text_add(text, i == 0 ? " from %u:%u" : ",%u:%u", value->op_id, value->port);
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const struct value *value = &graph->values[op->first_output + i];
        text_add(text, " output %u", value->port);
        dump_strings(text, "names", value->names, value->n_names);
    }
    dump_strings(text, "output_names", op->output_names, op->n_output_names);
    text_add(text, "\n");
    for (uint32_t i = 0; i < op->n_bodies; i++)
        dump_body(text, &op->bodies[i]);
}

static inline void graph_dump(const struct graph *graph, struct text *text)
{
    text_add(text, "graph ");
    dump_string(text, graph->name);
    dump_string(text, graph->path);
    text_add(text, " version %u\n", graph->ir_version);
    for (uint32_t i = 0; i < graph->n_ops; i++)
        dump_op(text, graph, i);
    for (uint32_t i = 0; i < graph->n_parameters; i++)
        text_add(text, i == 0 ? "parameters %u" : ",%u", graph->parameters[i]);
    for (uint32_t i = 0; i < graph->n_results; i++)
        text_add(text, i == 0 ? " results %u" : ",%u", graph->results[i]);
    for (uint32_t i = 0; i < graph->n_order; i++)
        text_add(text, i == 0 ? " order %u" : ",%u", graph->order[i]);
    text_add(text, "\nend\n");
}

#endif
