/* Checks where each XML element is allowed, and passes it to its parser. Skips unknown elements
 * with their content, as the IR requires.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "ir/ir_builder_internal.h"

#define OLDEST_VERSION 10
#define NEWEST_VERSION 11
#define NET_EXAMPLE "<net name=\"...\" version=\"11\">"

/* The places where an element can be. */
enum state {
    IN_DOCUMENT = 1 << 0,
    IN_GRAPH = 1 << 1,
    IN_LAYERS = 1 << 2,
    IN_EDGES = 1 << 3,
    IN_LAYER = 1 << 4,
    IN_LOOP_LAYER = 1 << 5, /* TensorIterator, Loop */
    IN_IF_LAYER = 1 << 6,
    IN_INPUT = 1 << 7,
    IN_OUTPUT = 1 << 8,
    IN_PORT = 1 << 9,
    IN_PORT_MAP = 1 << 10, /* port map of the only body, or of the then body of If */
    IN_ELSE_PORT_MAP = 1 << 11,
    IN_BACK_EDGES = 1 << 12,
    IN_PRE_PROCESS = 1 << 13,
    IN_LEAF = 1 << 14,
};

#define IN_ANY_LAYER (IN_LAYER | IN_LOOP_LAYER | IN_IF_LAYER)

bool read_id(struct ir_builder *builder, xml_attrs attrs, const char *name, uint32_t *id)
{
    const char *element = builder->element->name;
    const char *text = attrs_find(attrs, name);
    int64_t number;
    if (!text) {
        fail_at(builder->err, IRRUN_DATA, here(builder), "<%s> has no %s", element, name);
        return fail_hint(builder->err, "write <%s %s=\"...\">", element, name);
    }
    if (!text_to_i64(text, strlen(text), &number) || number < 0 || number >= NO_ID) {
        fail_at(builder->err, IRRUN_DATA, here(builder),
                "<%s>: %s is \"%.100s\", expected a whole number below 4294967295", element, name,
                text);
        return fail_hint(builder->err, "the ids of layers and ports are numbers: 0, 1, 2 ...");
    }
    *id = (uint32_t)number;
    return true;
}

struct scope *scope_new(struct ir_builder *builder, const char *path)
{
    struct scope *scope = new_array(1, sizeof *scope, builder->err);
    if (!scope)
        return NULL;
    scope->parent = builder->scope;
    scope->depth = scope->parent ? scope->parent->depth + 1 : 0;
    scope->path = path;
    builder->scope = scope;
    return scope;
}

void scope_pop(struct ir_builder *builder)
{
    struct scope *scope = builder->scope;
    builder->scope = scope->parent;
    parsed_body_free(&scope->layer.bodies[0]);
    parsed_body_free(&scope->layer.bodies[1]);
    free(scope->ops);
    free(scope->layer_ids);
    free(scope->inputs);
    free(scope->outputs);
    free(scope->values);
    free(scope->edges);
    free(scope);
}

static bool check_version(struct ir_builder *builder, const char *text)
{
    int64_t version;
    if (!text || !text_to_i64(text, strlen(text), &version)) {
        fail_at(builder->err, IRRUN_DATA, here(builder),
                text ? "<net>: version is \"%.100s\", expected 10 or 11"
                     : "<net> has no version, expected 10 or 11",
                text);
        return fail_hint(builder->err, "an OpenVINO IR begins with " NET_EXAMPLE);
    }
    if (version < OLDEST_VERSION) {
        fail_at(builder->err, IRRUN_UNSUPPORTED, here(builder),
                "IR version %lld is that of OpenVINO 2019 or older; irrun reads versions 10 and 11",
                (long long)version);
        return fail_hint(builder->err, "convert the original model again with a newer OpenVINO");
    }
    if (version > NEWEST_VERSION) {
        fail_at(builder->err, IRRUN_UNSUPPORTED, here(builder),
                "IR version %lld is newer than irrun, which reads versions 10 and 11",
                (long long)version);
        return fail_hint(builder->err, "save the model with OpenVINO 2026 or older");
    }
    builder->ir_version = (uint32_t)version;
    return true;
}

static bool start_net(struct ir_builder *builder, xml_attrs attrs)
{
    const char *name = attrs_find(attrs, "name");
    builder->net_name = name ? arena_strdup(&builder->model->arena, name, builder->err) : "";
    return builder->net_name && check_version(builder, attrs_find(attrs, "version")) &&
           scope_new(builder, "");
}

static bool end_net(struct ir_builder *builder)
{
    struct layer_index layers = {NULL, 0};
    bool is_finished = finish_graph(builder, &builder->model->graph, &layers);
    free(layers.refs);
    return is_finished;
}

static bool start_mean(struct ir_builder *builder, xml_attrs attrs)
{
    (void)attrs;
    fail_at(builder->err, IRRUN_UNSUPPORTED, here(builder),
            "<pre-process> subtracts a mean from an input, which irrun does not support");
    return fail_hint(builder->err,
                     "convert the model without mean values, or read it with OpenVINO and save it");
}

static const struct element elements[] = {
    {IN_PORT, "dim", IN_LEAF, start_dim, end_dim, 0},
    {IN_INPUT, "port", IN_PORT, start_input_port, NULL, 0},
    {IN_OUTPUT, "port", IN_PORT, start_output_port, NULL, 0},
    {IN_ANY_LAYER, "data", IN_LEAF, start_data, NULL, 0},
    {IN_ANY_LAYER, "input", IN_INPUT, NULL, NULL, 0},
    {IN_ANY_LAYER, "output", IN_OUTPUT, NULL, NULL, 0},
    {IN_LAYERS, "layer", IN_LAYER, start_layer, end_layer, 0},
    {IN_EDGES, "edge", IN_LEAF, start_edge, NULL, 0},
    {IN_GRAPH, "layers", IN_LAYERS, NULL, NULL, 0},
    {IN_GRAPH, "edges", IN_EDGES, NULL, NULL, 0},
    {IN_LOOP_LAYER, "port_map", IN_PORT_MAP, NULL, NULL, 0},
    {IN_LOOP_LAYER, "back_edges", IN_BACK_EDGES, NULL, NULL, 0},
    {IN_LOOP_LAYER, "body", IN_GRAPH, start_body, end_body, 0},
    {IN_IF_LAYER, "then_port_map", IN_PORT_MAP, NULL, NULL, 0},
    {IN_IF_LAYER, "else_port_map", IN_ELSE_PORT_MAP, NULL, NULL, 0},
    {IN_IF_LAYER, "then_body", IN_GRAPH, start_body, end_body, 0},
    {IN_IF_LAYER, "else_body", IN_GRAPH, start_body, end_body, 1},
    {IN_PORT_MAP, "input", IN_LEAF, start_port_map, NULL, 0},
    {IN_PORT_MAP, "output", IN_LEAF, start_port_map, NULL, 0},
    {IN_ELSE_PORT_MAP, "input", IN_LEAF, start_port_map, NULL, 1},
    {IN_ELSE_PORT_MAP, "output", IN_LEAF, start_port_map, NULL, 1},
    {IN_BACK_EDGES, "edge", IN_LEAF, start_back_edge, NULL, 0},
    {IN_GRAPH, "pre-process", IN_PRE_PROCESS, NULL, NULL, 0},
    {IN_PRE_PROCESS, "channel", IN_PRE_PROCESS, NULL, NULL, 0},
    {IN_PRE_PROCESS, "mean", IN_LEAF, start_mean, NULL, 0},
};

static const struct element net_element = {IN_DOCUMENT, "net", IN_GRAPH, start_net, end_net, 0};

static const struct element *find_element(uint32_t state, const char *name)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if ((elements[i].places & state) && strcmp(elements[i].name, name) == 0)
            return &elements[i];
    return NULL;
}

static bool fail_root(struct ir_builder *builder, const char *name)
{
    fail_at(builder->err, IRRUN_DATA, here(builder), "the root element is <%.100s>, expected <net>",
            name);
    if (text_equals_ignore_case(name, "html"))
        return fail_hint(builder->err, "this is a web page: download the file itself");
    return fail_hint(builder->err, "an OpenVINO IR begins with " NET_EXAMPLE);
}

static bool on_start(void *context, struct xml_reader *xml, const char *name,
                     const char *const *attrs)
{
    struct ir_builder *builder = context;
    builder->xml = xml;
    if (builder->n_skipped != 0) {
        builder->n_skipped++;
        return true;
    }
    const struct element *element = &net_element;
    if (builder->n_open == 0 && !text_equals_ignore_case(name, "net"))
        return fail_root(builder, name);
    if (builder->n_open != 0)
        element = find_element(builder->states[builder->n_open - 1], name);
    if (!element || builder->n_open == MAX_ELEMENTS) {
        builder->n_skipped = 1;
        return true;
    }
    builder->element = element;
    if (element->start && !element->start(builder, attrs))
        return false;
    uint32_t state = element->inside;
    if (state == IN_LAYER && current_layer(builder)->body_form == BODY_FORM_LOOP)
        state = IN_LOOP_LAYER;
    if (state == IN_LAYER && current_layer(builder)->body_form == BODY_FORM_IF)
        state = IN_IF_LAYER;
    builder->open[builder->n_open] = element;
    builder->states[builder->n_open++] = state;
    return true;
}

static bool on_end(void *context, struct xml_reader *xml)
{
    struct ir_builder *builder = context;
    builder->xml = xml;
    if (builder->n_skipped != 0) {
        builder->n_skipped--;
        return true;
    }
    const struct element *element = builder->element = builder->open[--builder->n_open];
    return !element->end || element->end(builder);
}

/* Sets the path of the weights to the path of the XML with the extension .bin. */
static bool guess_weights_path(struct ir_model *model, const char *xml_path,
                               struct irrun_error *err)
{
    if (strcmp(xml_path, "-") == 0)
        return true;
    char *path = file_with_extension(xml_path, ".bin");
    if (!path)
        return fail_memory(err, strlen(xml_path) + sizeof ".bin");
    model->weights_path = arena_strdup(&model->arena, path, err);
    free(path);
    return model->weights_path != NULL;
}

static bool prepare_model(struct ir_builder *builder, const char *xml_path,
                          const char *weights_path)
{
    struct ir_model *model = builder->model;
    builder->file = arena_strdup(&model->arena, xml_file_name(xml_path), builder->err);
    if (!builder->file)
        return false;
    model->has_weights_path = weights_path != NULL;
    if (!weights_path)
        return guess_weights_path(model, xml_path, builder->err);
    model->weights_path = arena_strdup(&model->arena, weights_path, builder->err);
    return model->weights_path != NULL;
}

bool ir_load(const char *xml_path, const char *weights_path, bool needs_weights, size_t piece_bytes,
             struct ir_model *model, struct irrun_error *err)
{
    static const struct xml_handlers handlers = {on_start, on_end, add_dim_text};
    *model = (struct ir_model){.needs_weights = needs_weights};
    struct ir_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return fail_memory(err, sizeof *builder);
    builder->model = model;
    builder->err = err;
    bool is_read = prepare_model(builder, xml_path, weights_path) &&
                   xml_read(xml_path, piece_bytes, &handlers, builder, &model->xml_digest, err);
    while (builder->scope)
        scope_pop(builder);
    free(builder);
    if (!is_read)
        ir_free(model);
    return is_read;
}

void ir_free(struct ir_model *model)
{
    file_map_close(&model->weights);
    arena_free(&model->arena);
    model->graph = NULL;
}
