/* Resolves the names in options such as --axis and --shape, and fills inputs that have no source.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/inputs_internal.h"
#include "cli/usual_inputs.h"

/* ---- Names ----------------------------------------------------------------------------------- */

static bool find_axes(struct inputs *inputs, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->options->axes.n; i++) {
        const struct axis_spec *axis = &inputs->options->axes.items[i];
        size_t index;
        if (!axis->name) {
            inputs->common_axis = axis;
            continue;
        }
        if (!irrun_model_find_input(inputs->model, axis->name, &index, err))
            return false;
        if (inputs->slots[index].axis)
            return fail(err, IRRUN_USAGE, "--axis is given twice for input \"%s\"", axis->name);
        inputs->slots[index].axis = axis;
    }
    return true;
}

/* Fails because --shape does not match the input. */
static bool fail_shape(const struct irrun_port *port, const struct shape_spec *spec,
                       struct irrun_error *err)
{
    char given[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
    const struct records_port named = {.name = spec->name, .shape = port->shape};
    fail(err, IRRUN_USAGE, "--shape: input \"%s\" is %s, which does not match %s", port->name,
         partial_shape_format(&port->shape, wanted), shape_format(&spec->shape, given));
    return partial_shape_is_static(&port->shape)
               ? fail_hint(err, "it has no open dimension: omit --shape")
               : records_hint_shape(&named, err);
}

static bool find_shapes(struct inputs *inputs, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->options->shapes.n; i++) {
        const struct shape_spec *spec = &inputs->options->shapes.items[i];
        size_t index;
        if (!spec->name) {
            fail(err, IRRUN_USAGE, "--shape: '%s' is not NAME=D,D,...", spec->text);
            return fail_hint(err, "name the input: --shape=%s=%s",
                             inputs->n > 0 ? irrun_model_input(inputs->model, 0)->name : "NAME",
                             spec->text);
        }
        if (!irrun_model_find_input(inputs->model, spec->name, &index, err))
            return false;
        const struct irrun_port *port = irrun_model_input(inputs->model, index);
        if (inputs->slots[index].shape)
            return fail(err, IRRUN_USAGE, "--shape is given twice for input \"%s\"", port->name);
        if (!partial_shape_admits(&port->shape, &spec->shape))
            return fail_shape(port, spec, err);
        inputs->slots[index].shape = spec;
    }
    return true;
}

struct records_port inputs_port(const struct inputs *inputs, size_t index)
{
    if (index >= inputs->n)
        return (struct records_port){.what = "control",
                                     .name = inputs_control_name(inputs, index - inputs->n),
                                     .dtype = index - inputs->n == CONTROL_KEY ? IRRUN_I64
                                                                               : IRRUN_DYNAMIC,
                                     .shape = partial_shape_any(),
                                     .is_scalar = true};
    const struct irrun_port *port = irrun_model_input(inputs->model, index);
    const struct shape_spec *given = inputs->slots[index].shape;
    return (struct records_port){.what = "input",
                                 .name = port->name,
                                 .dtype = port->dtype,
                                 .shape = given ? partial_shape_of(&given->shape) : port->shape};
}

struct records_port inputs_fed_port(const struct inputs *inputs, size_t index)
{
    struct records_port port = inputs_port(inputs, index);
    port.shape = irrun_model_input(inputs->model, index)->shape;
    return port;
}

/* Checks that the inputs have every axis that --axis gives, even if no input is cut. At least one
 * input must have the axis of an --axis without a name. */
static bool check_axes(const struct inputs *inputs, struct irrun_error *err)
{
    struct records_port widest = {.shape = {.rank = 0}};
    for (size_t i = 0; i < inputs->n; i++) {
        struct records_port port = inputs_port(inputs, i);
        if (inputs->slots[i].axis && !records_check_axis(&port, inputs->slots[i].axis, err))
            return false;
        bool is_wider = port.shape.is_rank_dynamic || port.shape.rank > widest.shape.rank;
        if (i == 0 || (is_wider && !widest.shape.is_rank_dynamic))
            widest = port;
    }
    if (!inputs->common_axis)
        return true;
    return inputs->n > 0 ? records_check_axis(&widest, inputs->common_axis, err)
                         : fail(err, IRRUN_USAGE, "--axis=%" PRId64 ": the model has no input",
                                inputs->common_axis->axis);
}

bool inputs_resolve_names(struct inputs *inputs, struct irrun_error *err)
{
    return find_axes(inputs, err) && find_shapes(inputs, err) && check_axes(inputs, err) &&
           inputs_find_feeds(inputs, err) && inputs_find_counters(inputs, err) &&
           named_check(NAMED_LIST(inputs->options->columns), inputs->model, irrun_model_find_input,
                       err) &&
           named_check(NAMED_LIST(inputs->options->randoms), inputs->model, irrun_model_find_input,
                       err);
}

/* ---- Inputs without a source ----------------------------------------------------------------- */

/* Adds a hint that gives a source to each input that has none, if one of them is a usual input of a
 * text-generation model. */
static void hint_usual_inputs(const struct inputs *inputs, struct irrun_error *err)
{
    struct text text = {0};
    bool is_usual = false;
    for (size_t i = 0; i < inputs->n; i++) {
        const char *usual = usual_input_options(inputs->model, i);
        if (inputs->slots[i].is_filled)
            continue;
        is_usual = is_usual || usual;
        if (usual)
            text_add(&text, " %s", usual);
        else
            text_add(&text, " -i %s=FILE", irrun_model_input(inputs->model, i)->name);
    }
    if (is_usual && !text.is_failed)
        fail_hint(err, "add%s", text.data);
    text_free(&text);
}

/* Fails because an input has no source: with IRRUN_DATA if it should be in an archive, otherwise
 * with IRRUN_USAGE. */
static bool fail_unfilled(const struct inputs *inputs, const struct sequence *sequence,
                          struct irrun_error *err)
{
    const char *archive = NULL, *first = NULL;
    for (size_t i = 0; i < sequence->n_inputs && !archive; i++)
        if (sequence->inputs[i].binding.spec.format->has_names && !sequence->inputs[i].binding.name)
            archive = sequence->inputs[i].binding.spec.path;
    if (archive)
        fail_at(err, IRRUN_DATA, whole_file(archive), "has no member for");
    else
        fail(err, IRRUN_USAGE, "no data for");
    for (size_t i = 0; i < inputs->n; i++) {
        const struct irrun_port *port = irrun_model_input(inputs->model, i);
        char text[SHAPE_TEXT_BYTES];
        if (inputs->slots[i].is_filled)
            continue;
        fail_append(err, "%s \"%s\" (%s %s)", first ? "," : " input", port->name,
                    irrun_dtype_name(port->dtype), partial_shape_format(&port->shape, text));
        first = first ? first : port->name;
    }
    if (sequence->place.file && sequence->n_inputs == 0 && access(sequence->key, F_OK) == 0)
        return fail_hint(err, "its format is not known: write FORMAT:%s", sequence->key);
    if (sequence->place.file && sequence->n_inputs == 0 && *sequence->key == '#')
        return fail_hint(err,
                         "a manifest has no comments: grep -v '^#' FILE | irrun ... --manifest=-");
    hint_usual_inputs(inputs, err);
    if (sequence->place.file && !archive)
        return fail_hint(err, "a line of the manifest names the file: KEY<tab>%s=FILE", first);
    return fail_hint(err, "-i %s%sFILE reads an input, --random generates one",
                     inputs->n > 1 ? first : "", inputs->n > 1 ? "=" : "");
}

/* Replaces each open dimension with 1, or with a larger minimum. */
static void close_dimensions(struct irrun_partial_shape *shape)
{
    for (uint32_t i = 0; i < shape->rank; i++)
        if (shape->min[i] != shape->max[i])
            shape->min[i] = shape->max[i] = shape->min[i] > 1 ? shape->min[i] : 1;
}

static const struct random_spec zeros = {.kind = RANDOM_ZEROS};

/* Returns what fills an input without a source: --random, or zeros if --feed names it; otherwise
 * NULL. */
static const struct random_spec *find_generator(const struct inputs *inputs, size_t index,
                                                const char **option)
{
    const struct random_spec *spec = named_find(NAMED_LIST(inputs->options->randoms), inputs->model,
                                                irrun_model_find_input, index);
    *option = spec ? "random" : "feed";
    return !spec && inputs->slots[index].is_fed ? &zeros : spec;
}

/* Returns whether --state-in gives the lengths of open dimensions of an input without a source. */
static bool awaits_state(const struct inputs *inputs, size_t index)
{
    const struct options *options = inputs->options;
    const struct records_port port = inputs_port(inputs, index);
    const char *option;
    return options->state_in && !options->key && !port.shape.is_rank_dynamic &&
           !partial_shape_is_static(&port.shape) &&
           find_generator(inputs, index, &option) == &zeros;
}

/* Fails if inputs that --random or --feed fills have open dimensions. Names all of them. */
static bool check_dimensions(const struct inputs *inputs, struct irrun_error *err)
{
    struct text shapes = {.data = NULL};
    for (size_t i = 0; i < inputs->n; i++) {
        struct records_port port = inputs_port(inputs, i);
        char text[SHAPE_TEXT_BYTES];
        const char *option;
        if (inputs->slots[i].is_filled || partial_shape_is_static(&port.shape) ||
            !find_generator(inputs, i, &option) || awaits_state(inputs, i))
            continue;
        if (err->code == IRRUN_OK)
            fail(err, IRRUN_USAGE, "--%s: no lengths for the open dimensions of input", option);
        fail_append(err, "%s \"%s\" %s", shapes.length > 0 ? "," : "", port.name,
                    partial_shape_format(&port.shape, text));
        records_add_shape_option(&port, &shapes);
    }
    if (err->code != IRRUN_OK)
        fail_hint(err, "write %s with a number for D", shapes.data ? shapes.data : "--shape");
    text_free(&shapes);
    return err->code == IRRUN_OK;
}

static bool fill_other_inputs(struct inputs *inputs, const struct sequence *sequence,
                              struct irrun_error *err)
{
    const struct options *options = inputs->options;
    if (!check_dimensions(inputs, err))
        return false;
    for (size_t i = 0; i < inputs->n; i++) {
        struct records_port port = inputs_port(inputs, i);
        const char *option;
        struct irrun_tensor record;
        if (inputs->slots[i].is_filled)
            continue;
        const struct random_spec *spec = find_generator(inputs, i, &option);
        if (!spec)
            return fail_unfilled(inputs, sequence, err);
        if (inputs->slots[i].axis)
            return fail(err, IRRUN_USAGE, "--axis: input \"%s\" is filled by --%s", port.name,
                        option);
        inputs->slots[i].awaits_state = awaits_state(inputs, i);
        if (inputs->slots[i].awaits_state)
            close_dimensions(&port.shape);
        if (!random_record(spec, options->seed, i, &port, &record, err))
            return false;
        records_open_record(&inputs->records[i], &port, &record);
        inputs->slots[i].is_filled = true;
    }
    return true;
}

/* Finds the records of a control: those of the input with the same name, or its own. */
static bool find_control(struct inputs *inputs, enum control control,
                         const struct records **records, struct irrun_error *err)
{
    const char *name = inputs_control_name(inputs, control);
    size_t index;
    if (!name)
        return true;
    if (!inputs_find_source_input(inputs, name, &index, err))
        return false;
    if (!inputs->slots[index].is_filled) {
        fail(err, IRRUN_USAGE, "--%s%s: no -i and no npz member has that name",
             control == CONTROL_KEY ? "key=" : "reset=if:", name);
        return fail_hint(err, "-i %s=FILE gives one number per record", name);
    }
    *records = &inputs->records[index];
    return true;
}

/* Keys are compared for equality, so they must be integers. */
static bool check_key(const struct inputs *inputs, struct irrun_error *err)
{
    const struct records *records = inputs->key_records;
    size_t index = records ? (size_t)(records - inputs->records) : 0;
    if (!records)
        return true;
    if (inputs->slots[index].is_fed)
        return fail(err, IRRUN_USAGE, "--key=%s: --feed fills this input", inputs->options->key);
    enum irrun_dtype dtype = records->record.dtype;
    return (dtype_is_integer(dtype) && dtype != IRRUN_U64) ||
           fail(err, IRRUN_USAGE, "--key=%s is %s, but must be an integer that i64 can hold",
                inputs->options->key, irrun_dtype_name(dtype));
}

bool inputs_fill(struct inputs *inputs, const struct sequence *sequence, struct irrun_error *err)
{
    return inputs_read_sources(inputs, sequence, err) && inputs_open_prompts(inputs, err) &&
           fill_other_inputs(inputs, sequence, err) && inputs_begin_feeds(inputs, err) &&
           inputs_open_counters(inputs, err) &&
           find_control(inputs, CONTROL_RESET, &inputs->reset_records, err) &&
           find_control(inputs, CONTROL_KEY, &inputs->key_records, err) && check_key(inputs, err);
}
