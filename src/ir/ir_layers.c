/* Reads <layer> elements and their <data>: finds the op, and reads its attributes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/fast_hash.h"
#include "base/text.h"
#include "ir/ir_builder_internal.h"
#include "ops/op_state.h"

static const struct op_fault *fault_new(struct ir_builder *builder, const struct op_fault *texts)
{
    struct arena *arena = &builder->model->arena;
    struct op_fault *fault = arena_alloc(arena, sizeof *fault, builder->err);
    if (!fault)
        return NULL;
    fault->code = texts->code;
    fault->type = arena_strdup(arena, texts->type, builder->err);
    fault->version = arena_strdup(arena, texts->version, builder->err);
    fault->message = arena_strdup(arena, texts->message, builder->err);
    fault->hint = arena_strdup(arena, texts->hint, builder->err);
    return fault->type && fault->version && fault->message && fault->hint ? fault : NULL;
}

/* Returns the entry of the cache for a type and version, by the hash of both. */
static struct found_op *find_slot(struct ir_builder *builder, const char *type, const char *version)
{
    uint64_t hash = fast_hash(0, type, strlen(type));
    return &builder->found_ops[fast_hash(hash, version, strlen(version)) % N_FOUND_OPS];
}

/* Sets op->def, or op->fault if there is no definition. */
static bool find_def(struct ir_builder *builder, struct op *op, const char *type,
                     const char *version)
{
    struct found_op *slot = find_slot(builder, type, version);
    if (strcmp(slot->type, type) == 0 && strcmp(slot->version, version) == 0) {
        op->def = slot->def;
        op->fault = slot->fault;
        return true;
    }
    char why[OP_WHY_BYTES];
    op->def = op_find(type, version, why);
    op->fault = NULL;
    if (!op->def) {
        op->fault =
            fault_new(builder, &(struct op_fault){IRRUN_UNSUPPORTED, type, version, why, ""});
        if (!op->fault)
            return false;
    }
    if (strlen(type) < sizeof slot->type && strlen(version) < sizeof slot->version) {
        strcpy(slot->type, type);
        strcpy(slot->version, version);
        slot->def = op->def;
        slot->fault = op->fault;
    }
    return true;
}

static enum body_form find_body_form(const char *type)
{
    if (text_equals_ignore_case(type, "TensorIterator") || text_equals_ignore_case(type, "Loop"))
        return BODY_FORM_LOOP;
    return text_equals_ignore_case(type, "If") ? BODY_FORM_IF : BODY_FORM_NONE;
}

static bool add_op(struct ir_builder *builder, uint32_t layer_id)
{
    struct scope *scope = builder->scope;
    if (scope->n_ops >= NO_ID - 1)
        return fail_at(builder->err, IRRUN_DATA, here(builder), "too many layers");
    if (!GROW_ARRAY(scope->ops, scope->n_ops, scope->ops_capacity, builder->err) ||
        !GROW_ARRAY(scope->layer_ids, scope->n_ops, scope->layer_ids_capacity, builder->err))
        return false;
    scope->layer_ids[scope->n_ops] = layer_id;
    scope->ops[scope->n_ops++] = (struct op){.first_input = (uint32_t)scope->n_inputs,
                                             .first_output = (uint32_t)scope->n_values,
                                             .line = here(builder).line,
                                             .column = here(builder).column};
    scope->layer = (struct parsed_layer){.body_form = BODY_FORM_NONE};
    return true;
}

bool start_layer(struct ir_builder *builder, xml_attrs attrs)
{
    uint32_t id;
    if (!read_id(builder, attrs, "id", &id))
        return false;
    const char *type = attrs_find(attrs, "type");
    if (!type || *type == '\0') {
        fail_at(builder->err, IRRUN_DATA, here(builder), "<layer> %u has no type", id);
        return fail_hint(builder->err, "write <layer type=\"...\" version=\"opset...\">");
    }
    if (!add_op(builder, id))
        return false;

    struct op *op = current_op(builder);
    const char *name = attrs_find(attrs, "name");
    op->name = name ? arena_strdup(&builder->model->arena, name, builder->err) : "";
    if (!op->name)
        return false;
    const char *version = attrs_find(attrs, "version");
    op->version = arena_strdup(&builder->model->arena, version ? version : "", builder->err);
    if (!op->version || !find_def(builder, op, type, op->version))
        return false;
    current_layer(builder)->body_form = find_body_form(type);
    const char *output_names = attrs_find(attrs, "output_names");
    return !output_names ||
           parse_names(builder, output_names, &op->output_names, &op->n_output_names);
}

/* Keeps an error in the attributes as the fault of the op. It is reported only if the layer is
 * live, which is not known yet. */
static bool keep_fault(struct ir_builder *builder, struct op *op, const struct irrun_error *error)
{
    op->attrs = NULL;
    op->fault = fault_new(
        builder, &(struct op_fault){error->code, op->def->type, "", error->message, error->hint});
    return op->fault != NULL;
}

static bool read_attrs(struct ir_builder *builder, xml_attrs attrs)
{
    struct op *op = current_op(builder);
    struct parsed_layer *layer = current_layer(builder);
    layer->has_data = true;
    if (!op->def || op->def->attrs_size == 0)
        return true;
    void *fields = arena_alloc(&builder->model->arena, op->def->attrs_size, builder->err);
    if (!fields)
        return false;
    struct irrun_error error;
    error_clear(&error);
    if (!attrs_read(op->def, attrs, fields, &builder->model->arena, op->name, here(builder),
                    &error)) {
        if (error.code == IRRUN_DATA)
            return keep_fault(builder, op, &error);
        *builder->err = error;
        return false;
    }
    op->attrs = fields;
    layer->lacks_type = op->def->role == ROLE_CONST && !attrs_find(attrs, "element_type");
    layer->lacks_shape = op->def->role == ROLE_CONST && !attrs_find(attrs, "shape");
    return true;
}

bool start_data(struct ir_builder *builder, xml_attrs attrs)
{
    if (current_layer(builder)->has_data) {
        fail_at(builder->err, IRRUN_DATA, here(builder), "%s \"%.200s\" has a second <data>",
                op_type(current_op(builder)), current_op(builder)->name);
        return fail_hint(builder->err, "one <data> holds all attributes of a layer");
    }
    return read_attrs(builder, attrs);
}

/* Completes a Const from its output port: the oldest IRs of version 10 give its type and shape only
 * there. */
static bool complete_const(struct ir_builder *builder, struct op *op)
{
    const struct parsed_layer *layer = current_layer(builder);
    struct const_attrs *attrs =
        arena_copy(&builder->model->arena, op->attrs, 1, sizeof *attrs, builder->err);
    if (!attrs)
        return false;
    const char *missing = NULL;
    if (layer->lacks_type)
        attrs->element_type = layer->port_precision;
    if (layer->lacks_type && layer->port_precision == IRRUN_DYNAMIC)
        missing = "element_type";
    if (layer->lacks_shape)
        attrs->shape = layer->port_shape;
    if (layer->lacks_shape && !layer->has_port_shape)
        missing = "shape";
    op->attrs = attrs;
    if (!missing)
        return true;
    struct irrun_error error;
    error_clear(&error);
    fail(&error, IRRUN_DATA,
         "Const \"%.200s\": attribute %s is missing, and no output port gives it", op->name,
         missing);
    fail_hint(&error, "write %s=\"...\" in the layer's <data>", missing);
    return keep_fault(builder, op, &error);
}

/* Adds the outputs of the op definition that the layer does not list. */
static bool complete_outputs(struct ir_builder *builder, struct op *op)
{
    if (!op->def || op->def->n_outputs == OUTPUTS_LISTED)
        return true;
    uint32_t n_listed = op->n_outputs, n_wanted = op->def->n_outputs;
    if (n_wanted == 0 && op->def->role != ROLE_RESULT)
        n_wanted = 1;
    if (n_listed > n_wanted) {
        fail_at(builder->err, IRRUN_DATA, here(builder),
                "%s \"%.200s\" lists %u output ports, but the operator has %u", op->def->type,
                op->name, n_listed, n_wanted);
        return fail_hint(builder->err, "remove the extra <port> and its edges");
    }
    for (uint32_t i = n_listed; i < n_wanted; i++)
        if (!add_output(builder, NO_ID))
            return false;
    return true;
}

bool end_layer(struct ir_builder *builder)
{
    const struct parsed_layer *layer = current_layer(builder);
    if (!layer->has_data && !read_attrs(builder, NULL))
        return false;
    struct op *op = current_op(builder);
    if (op->attrs && (layer->lacks_type || layer->lacks_shape) && !complete_const(builder, op))
        return false;
    return complete_outputs(builder, op) && sort_ports(builder) && finish_bodies(builder);
}
