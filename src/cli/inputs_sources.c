/* Opens the sources of a sequence, and matches them with inputs. inputs_open.c fills the other
 * inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/inputs_internal.h"

/* ---- Names ----------------------------------------------------------------------------------- */

const char *inputs_control_name(const struct inputs *inputs, size_t control)
{
    return control == CONTROL_KEY ? inputs->options->key : inputs->options->reset.name;
}

/* Finds the control with this name. If both controls have this name, finds CONTROL_KEY, whose type
 * is known. */
static bool find_control(const struct inputs *inputs, const char *name, size_t *index)
{
    for (size_t control = N_CONTROLS; control-- > 0;) {
        const char *control_name = inputs_control_name(inputs, control);
        *index = inputs->n + control;
        if (control_name && strcmp(control_name, name) == 0)
            return true;
    }
    return false;
}

/* Finds the --axis of an input. An --axis without NAME applies to the only input that is read from
 * a source. */
static bool find_axis(const struct inputs *inputs, size_t index, const struct axis_spec **axis,
                      struct irrun_error *err)
{
    *axis = inputs->slots[index].axis;
    if (*axis || !inputs->common_axis || index >= inputs->n)
        return true;
    *axis = inputs->common_axis;
    for (size_t i = 0; i < inputs->n; i++) {
        if (!inputs->slots[i].is_filled || inputs->records[i].axis != *axis)
            continue;
        fail(err, IRRUN_USAGE, "--axis must name the input to cut, \"%s\" or \"%s\"",
             inputs->records[i].port.name, irrun_model_input(inputs->model, index)->name);
        return fail_hint(err, "write --axis=NAME=%" PRId64, inputs->common_axis->axis);
    }
    return true;
}

static bool are_all_filled(const struct inputs *inputs)
{
    size_t i = 0;
    while (i < inputs->n && (inputs->slots[i].is_filled || inputs->slots[i].is_fed))
        i++;
    return i == inputs->n;
}

/* Adds a hint for an unknown name that is probably meant for --key or --reset=if:, because it is
 * similar to the name that they give, or because every input has a source. Returns false. */
static bool hint_control(const struct inputs *inputs, const char *name, struct irrun_error *err)
{
    const struct reset_policy *reset = &inputs->options->reset;
    const unsigned limit = 2;
    for (size_t control = 0; control < N_CONTROLS; control++) {
        const char *control_name = inputs_control_name(inputs, control);
        if (!control_name || text_distance(name, control_name, limit) > limit)
            continue;
        return replace_hint(err, "did you mean --%s%s?",
                            control == CONTROL_KEY ? "key=" : "reset=if:", name);
    }
    return reset->when != RESET_IF && irrun_model_n_variables(inputs->model) > 0 &&
           are_all_filled(inputs) &&
           fail_hint(err, "to reset before each record whose \"%s\" is not 0, add --reset=if:%s",
                     name, name);
}

bool inputs_find_source_input(void *context, const char *name, size_t *index,
                              struct irrun_error *err)
{
    const struct inputs *inputs = context;
    if (irrun_model_find_input(inputs->model, name, index, err))
        return true;
    if (!find_control(inputs, name, index))
        return hint_control(inputs, name, err);
    error_clear(err);
    return true;
}

/* Marks the input as filled by `path`, and finds its --axis. Fails if the input already has a
 * source. */
static bool claim_input(struct inputs *inputs, size_t index, const struct format *format,
                        const char *path, const struct axis_spec **axis, struct irrun_error *err)
{
    struct records_port port = inputs_port(inputs, index);
    if (inputs->slots[index].is_filled) {
        char quoted[TEXT_QUOTED_BYTES], quoted_other[TEXT_QUOTED_BYTES];
        fail(err, format->has_names ? IRRUN_DATA : IRRUN_USAGE,
             "input \"%s\" has two sources, %s and %s", port.name,
             records_path(&inputs->records[index]), path);
        if (inputs->options->manifest_path)
            return fail_hint(err, "in a manifest, a field for an output begins with '>': >%s",
                             path);
        return inputs->n == 1 &&
               fail_hint(err,
                         "printf '%%s\\n' %s %s | irrun MODEL.xml --manifest=- runs them as two "
                         "sequences",
                         text_shell_quote(records_path(&inputs->records[index]), quoted_other),
                         text_shell_quote(path, quoted));
    }
    if (index >= inputs->n && !format->has_shape && format->is_binary) {
        fail(err, IRRUN_USAGE,
             "--%s%s cannot be read from %s: %s does not hold one number per record",
             index - inputs->n == CONTROL_KEY ? "key=" : "reset=if:", port.name, path,
             format->name);
        return fail_hint(err, "csv, npy and the members of an npz hold one");
    }
    inputs->slots[index].is_filled = find_axis(inputs, index, axis, err);
    return inputs->slots[index].is_filled;
}

/* Returns whether the array is a record of the port, or a stack of records. */
static bool array_fits(const struct records_port *port, const struct array_header *header)
{
    const struct irrun_shape *shape = &header->shape;
    const struct irrun_shape inner =
        shape->rank > 0 ? shape_of(shape->rank - 1, shape->dims + 1) : *shape;
    return header->has_shape && port->dtype == header->dtype &&
           (partial_shape_admits(&port->shape, shape) ||
            partial_shape_admits(&port->shape, &inner));
}

/* Replaces the hint if the array does not fit its input but fits a different one. Returns false. */
static bool hint_other_input(const struct inputs *inputs, size_t index, struct irrun_error *err)
{
    const struct array_header *header = &inputs->records[index].pending;
    struct records_port port = inputs_port(inputs, index);
    if (err->code != IRRUN_DATA || array_fits(&port, header))
        return false;
    for (size_t i = 0; i < inputs->n; i++) {
        port = inputs_port(inputs, i);
        if (array_fits(&port, header))
            return replace_hint(err, "it fits input \"%s\": are two inputs swapped?", port.name);
    }
    return false;
}

static bool add_reader(void *context, size_t index, const struct binding *binding,
                       struct reader *reader, struct irrun_error *err)
{
    struct inputs *inputs = context;
    struct records_port port = inputs_port(inputs, index);
    const struct axis_spec *axis = NULL;
    if (!claim_input(inputs, index, binding->spec.format, reader_path(reader), &axis, err)) {
        reader_close(reader);
        return false;
    }
    reader_on_wait(reader, inputs->wait);
    return records_open(&inputs->records[index], &port, reader, NULL, axis, inputs->options, err) ||
           (!axis && hint_other_input(inputs, index, err));
}

/* Fills an input with an array that the sequence already holds. */
static bool fill_from_array(struct inputs *inputs, const struct binder *binder,
                            struct sequence_input *source, struct irrun_error *err)
{
    const struct binding *binding = &source->binding;
    const struct axis_spec *axis = NULL;
    size_t index;
    if (!bind_find_port(binder, binding, &index, err) ||
        !claim_input(inputs, index, binding->spec.format, binding->spec.path, &axis, err))
        return false;
    struct records_port port = inputs_port(inputs, index);
    struct irrun_tensor array = source->array;
    source->array.data = NULL;
    return records_open_array(&inputs->records[index], &port, &array, binding->spec.path, axis,
                              inputs->options, err);
}

/* Returns whether the sequence, --feed or --random has a source for the input. */
static bool has_named_source(const struct inputs *inputs, const struct sequence *sequence,
                             size_t index)
{
    const struct random_spec *random = named_find(NAMED_LIST(inputs->options->randoms),
                                                  inputs->model, irrun_model_find_input, index);
    bool is_named = inputs->slots[index].is_fed || (random && random->name);
    for (size_t i = 0; i < sequence->n_inputs && !is_named; i++) {
        const char *name = sequence->inputs[i].binding.name;
        is_named = name && port_has_name(inputs->model, irrun_model_find_input, index, name);
    }
    return is_named;
}

/* Returns the binding. If it is from a manifest and has no name, and only one input has no source,
 * adds the name of that input. */
static struct binding name_source(const struct inputs *inputs, const struct sequence *sequence,
                                  const struct binding *binding)
{
    struct binding named = *binding;
    size_t n = 0;
    for (size_t i = 0; i < inputs->n && !binding->name && !binding->spec.format->has_names; i++)
        if (!has_named_source(inputs, sequence, i) && n++ == 0)
            named.name = irrun_model_input(inputs->model, i)->name;
    return n == 1 && inputs->n > 1 && sequence->place.file ? named : *binding;
}

/* Fills an input without a file. value: gives one record for all iterations; the records of count:
 * and ones: are computed later, after the other inputs have their records. */
static bool fill_generated(struct inputs *inputs, const struct binder *binder,
                           const struct binding *binding, struct irrun_error *err)
{
    const struct format *format = binding->spec.format;
    const char *path = binding->spec.path, *text = binding->spec.text;
    const struct axis_spec *axis = NULL;
    struct irrun_tensor record;
    size_t index;
    if (!bind_find_port(binder, binding, &index, err) ||
        !claim_input(inputs, index, format, text, &axis, err))
        return false;
    struct records_port port = inputs_port(inputs, index);
    bool is_input = index < inputs->n;
    if (is_input && inputs->slots[index].axis)
        return fail(err, IRRUN_USAGE, "--axis: input \"%s\" is filled by %s", port.name, text);
    if (format->is_counted)
        return (is_input && inputs_counter_of(inputs, index)) ||
               fail(err, IRRUN_USAGE, "%s: is for -i only, not for a manifest", format->name);
    if (!is_input)
        return fail(err, IRRUN_USAGE, "value: fills an input of the model, and \"%s\" is not one",
                    port.name);
    if (!value_record(path, &port, &record, err))
        return false;
    records_open_record(&inputs->records[index], &port, &record);
    inputs->records[index].path = text;
    return true;
}

/* Opens a csv with the --columns of its input. Sets *is_open to false if --columns is not given for
 * the input. */
static bool open_columns(struct inputs *inputs, const struct binder *binder,
                         const struct binding *binding, bool *is_open, struct irrun_error *err)
{
    struct irrun_error ignored = {.code = IRRUN_OK};
    struct reader *reader;
    size_t index;
    *is_open = false;
    if (inputs->options->columns.n == 0 || binding->spec.format->has_names ||
        !bind_find_port(binder, binding, &index, &ignored))
        return true;
    const struct columns_spec *spec = named_find(NAMED_LIST(inputs->options->columns),
                                                 inputs->model, irrun_model_find_input, index);
    bool is_csv = strcmp(binding->spec.format->name, "csv") == 0;
    if (!spec || (!is_csv && !spec->name))
        return true;
    if (!is_csv)
        return fail(err, IRRUN_USAGE, "--columns: input \"%s\" is read from %s, which is not csv",
                    spec->name, binding->spec.path);
    *is_open = inputs->has_table = true;
    struct kept_columns *kept = inputs->options->kept;
    if (kept && kept->path && strcmp(kept->path, binding->spec.path) != 0)
        return fail(err, IRRUN_USAGE, "--keep-columns takes one table, and %s is not %s",
                    binding->spec.path, kept->path);
    if (kept && kept->path)
        kept = NULL; /* an earlier input reads the same table */
    if (kept)
        kept->path = binding->spec.path;
    return reader_open_columns(binding->spec.path, spec->text, kept, &reader, err) &&
           add_reader(inputs, index, binding, reader, err);
}

static bool read_source(struct inputs *inputs, const struct sequence *sequence,
                        const struct binder *binder, struct sequence_input *source,
                        struct irrun_error *err)
{
    if (source->array.data)
        return fill_from_array(inputs, binder, source, err);
    const struct binding binding = name_source(inputs, sequence, &source->binding);
    bool is_open;
    if (!open_columns(inputs, binder, &binding, &is_open, err) || is_open)
        return err->code == IRRUN_OK;
    return binding.spec.format->is_generated ? fill_generated(inputs, binder, &binding, err)
                                             : bind_source(binder, &binding, err);
}

bool inputs_read_sources(struct inputs *inputs, const struct sequence *sequence,
                         struct irrun_error *err)
{
    const struct binder binder = {.option = "-i ",
                                  .model = inputs->model,
                                  .port = irrun_model_input,
                                  .n_ports = inputs->n,
                                  .find = inputs_find_source_input,
                                  .add_reader = add_reader,
                                  .context = inputs,
                                  .archives = &inputs->archives};
    for (size_t i = 0; i < sequence->n_inputs; i++)
        if (!read_source(inputs, sequence, &binder, &sequence->inputs[i], err))
            return false;
    const struct kept_columns *kept = inputs->options->kept;
    if (kept && !kept->path)
        fail(err, IRRUN_USAGE, "--keep-columns: no csv is read with --columns");
    else if (inputs->options->columns.n > 0 && !inputs->has_table &&
             !inputs->options->manifest_path)
        fail(err, IRRUN_USAGE, "--columns: no csv is read with it");
    return err->code == IRRUN_OK ||
           fail_hint(err, "-i FILE.csv --columns=A,B selects the columns that the model gets");
}
