/* Reads <port> and <dim> elements: the ids that edges refer to, and the names of tensors. Types and
 * dimensions are hints that may be outdated; only their form is checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ir/ir_builder_internal.h"

bool parse_names(struct ir_builder *builder, const char *text, const char *const **names,
                 uint32_t *n)
{
    struct arena *arena = &builder->model->arena;
    size_t length = strlen(text), n_max = 1;
    for (size_t i = 0; i < length; i++)
        n_max += text[i] == ',';
    if (n_max > UINT32_MAX)
        return fail_at(builder->err, IRRUN_DATA, here(builder), "too many names");
    const char **items = arena_alloc_array(arena, n_max, sizeof *items, builder->err);
    char *out = arena_alloc(arena, length + 1, builder->err);
    if (!items || !out)
        return false;

    uint32_t n_items = 0;
    char *item = out;
    for (const char *at = text;; at++) {
        if (at[0] == '\\' && at[1] == ',') {
            *out++ = *++at;
        } else if (*at == ',' || *at == '\0') {
            *out++ = '\0';
            if (*item != '\0')
                items[n_items++] = item;
            item = out;
            if (*at == '\0')
                break;
        } else {
            *out++ = *at;
        }
    }
    *names = items;
    *n = n_items;
    return true;
}

static bool check_n_ports(struct ir_builder *builder, size_t n)
{
    return n < NO_ID - 1 || fail_at(builder->err, IRRUN_DATA, here(builder), "too many ports");
}

bool start_input_port(struct ir_builder *builder, xml_attrs attrs)
{
    struct scope *scope = builder->scope;
    uint32_t id;
    if (!read_id(builder, attrs, "id", &id) || !check_n_ports(builder, scope->n_inputs) ||
        !GROW_ARRAY(scope->inputs, scope->n_inputs, scope->inputs_capacity, builder->err))
        return false;
    scope->inputs[scope->n_inputs++] = (struct port_ref){id, current_op(builder)->n_inputs++};
    current_layer(builder)->is_in_output = false;
    return true;
}

bool add_output(struct ir_builder *builder, uint32_t port_id)
{
    struct scope *scope = builder->scope;
    if (!check_n_ports(builder, scope->n_values) ||
        !GROW_ARRAY(scope->outputs, scope->n_values, scope->outputs_capacity, builder->err) ||
        !GROW_ARRAY(scope->values, scope->n_values, scope->values_capacity, builder->err))
        return false;
    uint32_t ordinal = current_op(builder)->n_outputs++;
    scope->outputs[scope->n_values] = (struct port_ref){port_id, ordinal};
    scope->values[scope->n_values++] =
        (struct value){.op_id = (uint32_t)(scope->n_ops - 1), .port = ordinal};
    return true;
}

bool start_output_port(struct ir_builder *builder, xml_attrs attrs)
{
    struct scope *scope = builder->scope;
    struct parsed_layer *layer = current_layer(builder);
    uint32_t id;
    if (!read_id(builder, attrs, "id", &id) || !add_output(builder, id))
        return false;
    const char *precision = attrs_find(attrs, "precision");
    if (!precision || !dtype_parse(precision, &layer->port_precision))
        layer->port_precision = IRRUN_DYNAMIC;
    layer->is_in_output = true;
    layer->port_shape.rank = 0;
    layer->has_port_shape = true;
    const char *names = attrs_find(attrs, "names");
    struct value *value = &scope->values[scope->n_values - 1];
    value->dtype_hint = (uint8_t)layer->port_precision;
    return !names || parse_names(builder, names, &value->names, &value->n_names);
}

bool start_dim(struct ir_builder *builder, xml_attrs attrs)
{
    (void)attrs;
    builder->dim_length = 0;
    builder->is_dim_bad = false;
    xml_want_text(builder->xml, true);
    return true;
}

bool add_dim_text(void *context, const char *bytes, size_t n)
{
    struct ir_builder *builder = context;
    for (size_t i = 0; i < n && builder->n_skipped == 0; i++) {
        bool is_blank = text_is_blank(bytes[i]);
        if (is_blank && builder->dim_length == 0)
            continue;
        if (builder->dim_length < sizeof builder->dim)
            builder->dim[builder->dim_length++] = bytes[i];
        else
            builder->is_dim_bad |= !is_blank;
    }
    return true;
}

/* Most tensors have at most this many dimensions. */
#define USUAL_RANK 4

/* Stores a dimension of the current output port. */
static bool add_dim_hint(struct ir_builder *builder, int64_t dim)
{
    struct value *value = &builder->scope->values[builder->scope->n_values - 1];
    uint32_t rank = value->rank_hint;
    if (rank == IRRUN_MAX_RANK)
        return true;
    if (rank == 0 || rank == USUAL_RANK) {
        int64_t *dims =
            arena_alloc_array(&builder->model->arena, rank == 0 ? USUAL_RANK : IRRUN_MAX_RANK,
                              sizeof *dims, builder->err);
        if (!dims)
            return false;
        if (rank > 0)
            memcpy(dims, value->dims_hint, rank * sizeof *dims);
        value->dims_hint = dims;
    }
    value->dims_hint[value->rank_hint++] = dim;
    return true;
}

bool end_dim(struct ir_builder *builder)
{
    xml_want_text(builder->xml, false);
    int64_t dim = 0;
    if (builder->is_dim_bad || !text_to_i64(builder->dim, builder->dim_length, &dim) || dim < -1) {
        fail_at(builder->err, IRRUN_DATA, here(builder),
                "%s \"%.200s\": <dim> is \"%.*s\", expected a whole number of at least -1",
                op_type(current_op(builder)), current_op(builder)->name, (int)builder->dim_length,
                builder->dim);
        return fail_hint(builder->err, "-1 stands for a dimension that is not known");
    }
    struct parsed_layer *layer = current_layer(builder);
    struct irrun_shape *shape = &layer->port_shape;
    if (dim < 0 || shape->rank == IRRUN_MAX_RANK)
        layer->has_port_shape = false;
    else
        shape->dims[shape->rank++] = dim;
    return !layer->is_in_output || add_dim_hint(builder, dim);
}

static int compare_port_ids(const void *a, const void *b)
{
    uint32_t id_a = ((const struct port_ref *)a)->id, id_b = ((const struct port_ref *)b)->id;
    return (id_a > id_b) - (id_a < id_b);
}

/* Sorts ports by id, unless they are sorted, which is usual. Fails if two have the same id. */
static bool sort_list(struct ir_builder *builder, struct port_ref *refs, uint32_t n)
{
    bool is_sorted = true;
    for (uint32_t i = 1; i < n; i++)
        is_sorted = is_sorted && refs[i - 1].id < refs[i].id;
    if (is_sorted)
        return true;
    qsort(refs, n, sizeof *refs, compare_port_ids);
    uint32_t i = 1;
    while (i < n && (refs[i - 1].id != refs[i].id || refs[i].id == NO_ID))
        i++;
    if (i == n)
        return true;
    fail_at(builder->err, IRRUN_DATA, here(builder), "%s \"%.200s\" lists port %u twice",
            op_type(current_op(builder)), current_op(builder)->name, refs[i].id);
    return fail_hint(builder->err, "every port of a layer needs an id of its own");
}

bool sort_ports(struct ir_builder *builder)
{
    const struct scope *scope = builder->scope;
    const struct op *op = current_op(builder);
    return sort_list(builder, input_ports(scope, op), op->n_inputs) &&
           sort_list(builder, output_ports(scope, op), op->n_outputs);
}

bool find_port(const struct port_ref *refs, uint32_t n, uint32_t port_id, uint32_t *ordinal)
{
    const struct port_ref key = {.id = port_id};
    const struct port_ref *ref =
        n > 0 ? bsearch(&key, refs, n, sizeof key, compare_port_ids) : NULL;
    if (ref)
        *ordinal = ref->ordinal;
    return ref != NULL;
}
