/* Prints a model as text or JSON, and its layers as a table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/json.h"
#include "tensor/shape.h"

/* ---- --inspect=text -------------------------------------------------------------------------- */

/* Prints '?' for each control character, except the last character of `format`. */
PRINTF_LIKE(1, 2)
static void print(const char *format, ...)
{
    static char line[1 << 16]; /* longer text is truncated */
    char out[TEXT_CHARACTER_BYTES], last = format[strlen(format) - 1];
    va_list args;
    va_start(args, format);
    bool is_truncated = vsnprintf(line, sizeof line, format, args) >= (int)sizeof line;
    va_end(args);
    for (const char *at = line, *next; *at; at = next)
        next = text_printable(at, out), fputs(!at[1] && *at == last ? at : out, stdout);
    fputs(is_truncated && last == '\n' ? "\n" : "", stdout);
}

static void print_port(const struct irrun_port *port)
{
    char shape[SHAPE_TEXT_BYTES];
    print("  %s  %s %s", port->name, irrun_dtype_name(port->dtype),
          partial_shape_format(&port->shape, shape));
    for (size_t i = 0; i < port->n_names; i++)
        print("%s%s", i == 0 ? "  also: " : ", ", port->names[i]);
    putchar('\n');
}

static void print_variable(const struct irrun_variable *variable)
{
    char shape[SHAPE_TEXT_BYTES];
    print("  %s  %s %s  init: ", variable->id, irrun_dtype_name(variable->dtype),
          partial_shape_format(&variable->shape, shape));
    if (variable->init_value)
        print("%s (%s)\n", variable->init_value, variable->init);
    else
        print("%s\n", variable->init);
}

/* Finds the input and the output of --feed. */
static bool find_feed_ports(const struct irrun_model *model, const struct feed_spec *feed,
                            const struct irrun_port **in, const struct irrun_port **out,
                            struct irrun_error *err)
{
    size_t input, output;
    if (!irrun_model_find_output(model, feed->out, &output, err) ||
        !irrun_model_find_input(model, feed->in, &input, err))
        return false;
    *in = irrun_model_input(model, input);
    *out = irrun_model_output(model, output);
    return true;
}

static bool print_feed(const struct irrun_model *model, const struct feed_spec *feed,
                       struct irrun_error *err)
{
    const struct irrun_port *in, *out;
    char shape[SHAPE_TEXT_BYTES];
    if (!find_feed_ports(model, feed, &in, &out, err))
        return false;
    print("  %s  %s %s  from: %s%s\n", in->name, irrun_dtype_name(in->dtype),
          partial_shape_format(&in->shape, shape), out->name, feed->choice_text);
    return true;
}

static void print_analysis(const struct irrun_analysis *analysis,
                           const struct irrun_model_info *info)
{
    const char *least = analysis->n_open_ops > 0 ? "at least " : "";
    print("weights: %" PRIu64 " bytes\n", info->weights_bytes);
    print("parameters: %" PRIu64 "\n", analysis->n_parameters);
    print("unused weights: %" PRIu64 " bytes\n", analysis->unused_bytes);
    for (size_t i = 0; i < analysis->n_unused; i++)
        print("  %s (line %" PRIu32 ")\n", analysis->unused[i].name, analysis->unused[i].line);
    print("operations per iteration: %s%.0f\n", least, analysis->flops);
    print("bytes per iteration: %s%.0f\n", least, analysis->bytes);
    if (analysis->n_open_ops > 0)
        print("  not counted: %zu op%s of dynamic shape\n", analysis->n_open_ops,
              analysis->n_open_ops == 1 ? "" : "s");
    print("memory: %s%" PRIu64 " bytes of values, %" PRIu64 " of state\n", least,
          analysis->values_bytes, analysis->state_bytes);
}

static void print_op_counts(const struct irrun_model_info *info)
{
    size_t n_unsupported = 0;
    print("ops: %zu\n", info->n_ops);
    for (size_t i = 0; i < info->n_op_counts; i++) {
        const struct irrun_op_count *count = &info->op_counts[i];
        print("  %6zu  %s  %s\n", count->n, count->type, count->version);
        n_unsupported += count->problem != NULL;
    }
    if (n_unsupported > 0)
        print("unsupported: %zu\n", n_unsupported);
    for (size_t i = 0; i < info->n_op_counts; i++) {
        const struct irrun_op_count *count = &info->op_counts[i];
        if (count->problem)
            print("  %6zu  %s  %s: %s\n", count->n, count->type, count->version, count->problem);
    }
}

static bool print_hints(const struct irrun_model *model, const struct irrun_analysis *analysis,
                        const struct options *options, struct irrun_error *err)
{
    struct text hints = {0};
    size_t n = inspect_add_hints(model, analysis, options, &hints);
    bool is_complete = text_check(&hints, err);
    const char *hint = hints.data;
    if (n > 0 && is_complete)
        print("hints: %zu\n", n);
    for (size_t i = 0; i < n && is_complete; i++, hint += strlen(hint) + 1)
        print("  %s\n", hint);
    text_free(&hints);
    return is_complete;
}

bool inspect_as_text(struct irrun_model *model, const struct options *options,
                     struct irrun_error *err)
{
    struct irrun_model_info info;
    struct irrun_analysis analysis;
    if (!irrun_model_analyse(model, &analysis, err))
        return false;
    irrun_model_describe(model, &info);
    print("model: %s (IR version %" PRIu32 ")\n", info.name[0] ? info.name : options->model_path,
          info.ir_version);
    print("inputs: %zu\n", irrun_model_n_inputs(model));
    for (size_t i = 0; i < irrun_model_n_inputs(model); i++)
        print_port(irrun_model_input(model, i));
    print("outputs: %zu\n", irrun_model_n_outputs(model));
    for (size_t i = 0; i < irrun_model_n_outputs(model); i++)
        print_port(irrun_model_output(model, i));
    print("variables: %zu\n", irrun_model_n_variables(model) + options->feeds.n);
    for (size_t i = 0; i < irrun_model_n_variables(model); i++)
        print_variable(irrun_model_variable(model, i));
    for (size_t i = 0; i < options->feeds.n; i++)
        if (!print_feed(model, &options->feeds.items[i], err))
            return false;
    print_analysis(&analysis, &info);
    print_op_counts(&info);
    if (analysis.n_suspicions > 0)
        print("suspicious: %zu\n", analysis.n_suspicions);
    for (size_t i = 0; i < analysis.n_suspicions; i++)
        print("  %s\n", analysis.suspicions[i]);
    return print_hints(model, &analysis, options, err);
}

/* ---- --inspect=json -------------------------------------------------------------------------- */

/* Adds a shape. A dimension is a number, null if it is dynamic, or [min, max]; a shape of dynamic
 * rank is null. */
static void add_shape(struct json *json, const struct irrun_partial_shape *shape)
{
    if (shape->is_rank_dynamic) {
        json_string(json, "shape", NULL);
        return;
    }
    json_open(json, "shape", '[');
    for (uint32_t i = 0; i < shape->rank; i++) {
        int64_t min = shape->min[i], max = shape->max[i];
        if (min == max) {
            json_integer(json, NULL, min);
        } else if (min == 0 && max == INT64_MAX) {
            json_string(json, NULL, NULL);
        } else {
            json_open(json, NULL, '[');
            json_integer(json, NULL, min);
            if (max == INT64_MAX)
                json_string(json, NULL, NULL);
            else
                json_integer(json, NULL, max);
            json_close(json, ']');
        }
    }
    json_close(json, ']');
}

static void add_names(struct json *json, const char *key, const char *const *names, size_t n)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < n; i++)
        json_string(json, NULL, names[i]);
    json_close(json, ']');
}

static void add_port(struct json *json, const struct irrun_port *port)
{
    json_open(json, NULL, '{');
    json_string(json, "name", port->name);
    json_string(json, "type", irrun_dtype_name(port->dtype));
    add_shape(json, &port->shape);
    add_names(json, "also", port->names, port->n_names);
    json_count(json, "line", port->line);
    json_close(json, '}');
}

static void add_ports(struct json *json, const struct irrun_model *model)
{
    json_open(json, "inputs", '[');
    for (size_t i = 0; i < irrun_model_n_inputs(model); i++)
        add_port(json, irrun_model_input(model, i));
    json_close(json, ']');
    json_open(json, "outputs", '[');
    for (size_t i = 0; i < irrun_model_n_outputs(model); i++)
        add_port(json, irrun_model_output(model, i));
    json_close(json, ']');
}

static void add_sampling(struct json *json, const struct feed_spec *feed)
{
    if (feed->choice != FEED_SAMPLE) {
        json_string(json, "sample", NULL);
        return;
    }
    json_open(json, "sample", '{');
    json_number(json, "temperature", feed->sampling.temperature);
    json_count(json, "top_k", feed->sampling.top_k);
    json_number(json, "top_p", feed->sampling.top_p);
    json_close(json, '}');
}

static bool add_feeds(struct json *json, const struct irrun_model *model,
                      const struct feed_list *feeds, struct irrun_error *err)
{
    json_open(json, "feeds", '[');
    for (size_t i = 0; i < feeds->n; i++) {
        const struct irrun_port *in, *out;
        if (!find_feed_ports(model, &feeds->items[i], &in, &out, err))
            return false;
        json_open(json, NULL, '{');
        json_string(json, "id", in->name);
        json_string(json, "type", irrun_dtype_name(in->dtype));
        add_shape(json, &in->shape);
        json_string(json, "from", out->name);
        json_bool(json, "argmax", feeds->items[i].choice == FEED_ARGMAX);
        add_sampling(json, &feeds->items[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
    return true;
}

static void add_variables(struct json *json, const struct irrun_model *model)
{
    json_open(json, "variables", '[');
    for (size_t i = 0; i < irrun_model_n_variables(model); i++) {
        const struct irrun_variable *variable = irrun_model_variable(model, i);
        json_open(json, NULL, '{');
        json_string(json, "id", variable->id);
        json_string(json, "type", irrun_dtype_name(variable->dtype));
        add_shape(json, &variable->shape);
        json_string(json, "init", variable->init);
        json_string(json, "init_value", variable->init_value);
        json_count(json, "line", variable->line);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Adds "ops", the number of layers of each type in all versions, and "unsupported". */
static void add_ops(struct json *json, const struct irrun_model_info *info)
{
    size_t n = 0;
    json_open(json, "ops", '{');
    for (size_t i = 0; i < info->n_op_counts; i++) {
        const struct irrun_op_count *count = &info->op_counts[i];
        bool is_last = i + 1 == info->n_op_counts || strcmp(count->type, count[1].type) != 0;
        n += count->n;
        if (is_last) {
            json_count(json, count->type, n);
            n = 0;
        }
    }
    json_close(json, '}');
    json_open(json, "unsupported", '[');
    for (size_t i = 0; i < info->n_op_counts; i++) {
        const struct irrun_op_count *count = &info->op_counts[i];
        if (!count->problem)
            continue;
        json_open(json, NULL, '{');
        json_string(json, "type", count->type);
        json_string(json, "version", count->version);
        json_count(json, "n", count->n);
        json_string(json, "problem", count->problem);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void add_analysis(struct json *json, const struct irrun_analysis *analysis)
{
    json_count(json, "parameters", analysis->n_parameters);
    json_open(json, "unused_weights", '[');
    for (size_t i = 0; i < analysis->n_unused; i++) {
        json_open(json, NULL, '{');
        json_string(json, "name", analysis->unused[i].name);
        json_count(json, "line", analysis->unused[i].line);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_count(json, "unused_weights_bytes", analysis->unused_bytes);
    json_open(json, "iteration", '{');
    json_number(json, "flops", analysis->flops);
    json_number(json, "bytes", analysis->bytes);
    json_count(json, "open_ops", analysis->n_open_ops);
    json_close(json, '}');
    json_open(json, "memory_bytes", '{');
    json_count(json, "values", analysis->values_bytes);
    json_count(json, "state", analysis->state_bytes);
    json_close(json, '}');
    add_names(json, "suspicious", analysis->suspicions, analysis->n_suspicions);
}

static bool add_hints(struct json *json, const struct irrun_model *model,
                      const struct irrun_analysis *analysis, const struct options *options,
                      struct irrun_error *err)
{
    struct text hints = {0};
    size_t n = inspect_add_hints(model, analysis, options, &hints);
    bool is_complete = text_check(&hints, err);
    const char *hint = hints.data;
    json_open(json, "hints", '[');
    for (size_t i = 0; i < n && is_complete; i++, hint += strlen(hint) + 1)
        json_string(json, NULL, hint);
    json_close(json, ']');
    text_free(&hints);
    return is_complete;
}

bool inspect_as_json(struct irrun_model *model, const struct options *options,
                     struct irrun_error *err)
{
    struct text text = {0};
    struct json json = {.text = &text};
    struct irrun_model_info info;
    struct irrun_analysis analysis;
    if (!irrun_model_analyse(model, &analysis, err))
        return false;
    irrun_model_describe(model, &info);
    json_open(&json, NULL, '{');
    json_string(&json, "schema", "irrun.inspect/1");
    json_string(&json, "name", info.name);
    json_string(&json, "xml", options->model_path);
    json_count(&json, "ir_version", info.ir_version);
    add_ports(&json, model);
    add_variables(&json, model);
    bool is_complete = add_feeds(&json, model, &options->feeds, err);
    add_ops(&json, &info);
    json_count(&json, "weights_bytes", info.weights_bytes);
    add_analysis(&json, &analysis);
    is_complete = is_complete && add_hints(&json, model, &analysis, options, err);
    json_close(&json, '}');
    if (is_complete)
        return json_print(&json, err);
    text_free(&text);
    return false;
}

/* ---- --list-ops ------------------------------------------------------------------------------ */

/* Prints name, type, opset, line, the outputs and their names for --tap, separated by tabs. */
static void print_layer(const struct irrun_layer *layer)
{
    char shape[SHAPE_TEXT_BYTES];
    print("%s%s\t", layer->path, layer->name);
    print("%s\t", layer->type);
    print("%s\t", layer->version);
    printf("%" PRIu32 "\t", layer->line);
    for (size_t i = 0; i < layer->n_outputs; i++)
        printf("%s%s%s", i > 0 ? " " : "", irrun_dtype_name(layer->outputs[i].dtype),
               partial_shape_format(&layer->outputs[i].shape, shape));
    bool is_in_body = layer->path[0] != '\0';
    for (size_t i = 0; i < layer->n_outputs && !is_in_body; i++) {
        const struct irrun_port *port = &layer->outputs[i];
        for (size_t k = 0; k <= port->n_names; k++)
            print("\t"), print("%s", k == 0 ? port->name : port->names[k - 1]);
    }
    putchar('\n');
}

bool inspect_list_ops(struct irrun_model *model, struct irrun_error *err)
{
    const struct irrun_layer *layers;
    size_t n;
    if (!irrun_model_list_layers(model, &layers, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        print_layer(&layers[i]);
    return true;
}
