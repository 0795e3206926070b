/* -i count:REF gives the positions of the elements along the last axis of input REF, counted over
 * all records; ones:REF gives a mask of ones for all elements so far. The number of earlier
 * elements is stored as a variable.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "cli/inputs_internal.h"
#include "cli/snapshot.h"

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *input_name(const struct inputs *inputs, size_t index)
{
    return irrun_model_input(inputs->model, index)->name;
}

const struct counter *inputs_counter_of(const struct inputs *inputs, size_t input)
{
    for (size_t i = 0; i < inputs->n_counters; i++)
        if (inputs->counters[i].input == input)
            return &inputs->counters[i];
    return NULL;
}

static bool fail_counter(const struct binding *binding, struct irrun_error *err, const char *why)
{
    const char *path = binding->spec.path;
    return fail(err, IRRUN_USAGE, "-i %s%s%s:%s%s %s", binding->name ? binding->name : "",
                binding->name ? "=" : "", binding->spec.format->name, path, path[0] ? ":" : "",
                why);
}

/* Checks that the input has no other source, and that no variable of the model has the name of the
 * input, because states and checkpoints store both by name. */
static bool check_counter(const struct inputs *inputs, const struct binding *binding, size_t input,
                          struct irrun_error *err)
{
    if (inputs->slots[input].is_fed)
        return fail_counter(binding, err, "--feed fills this input");
    if (inputs_counter_of(inputs, input))
        return fail_counter(binding, err, "the input has two sources");
    for (size_t i = 0; i < irrun_model_n_variables(inputs->model); i++)
        if (strcmp(irrun_model_variable(inputs->model, i)->id, input_name(inputs, input)) == 0)
            return fail_counter(binding, err, "a variable of the model also has this name");
    return true;
}

static bool add_counter(struct inputs *inputs, const struct binding *binding,
                        struct irrun_error *err)
{
    size_t input;
    if (!binding->name)
        return fail_counter(binding, err, "name the input, as in NAME=count:");
    if (!irrun_model_find_input(inputs->model, binding->name, &input, err) ||
        !check_counter(inputs, binding, input, err))
        return false;
    inputs->counters[inputs->n_counters++] = (struct counter){
        .input = input,
        .binding = binding,
        .before.port = {.name = input_name(inputs, input), .dtype = IRRUN_I64},
    };
    return inputs_add_count(inputs, &inputs->counters[inputs->n_counters - 1].before, err);
}

/* Returns whether an option generates the input, which is neither read nor fed. */
static bool is_generated(const struct inputs *inputs, size_t input)
{
    const struct binding_list *list = &inputs->options->inputs;
    for (size_t i = 0; i < list->n && !inputs->slots[input].is_fed; i++)
        if (list->items[i].spec.format->is_generated && list->items[i].name &&
            port_has_name(inputs->model, irrun_model_find_input, input, list->items[i].name))
            return true;
    return false;
}

/* Finds the input that is counted: the input after the colon, or the only one that is not
 * generated. */
static bool find_reference(const struct inputs *inputs, struct counter *counter,
                           struct irrun_error *err)
{
    const struct binding *binding = counter->binding;
    size_t n = 0, first = 0;
    if (binding->spec.path[0] != '\0') {
        if (!irrun_model_find_input(inputs->model, binding->spec.path, &counter->reference, err))
            return false;
        return !is_generated(inputs, counter->reference) ||
               fail_counter(binding, err, "the input after the colon is also generated");
    }
    for (size_t i = 0; i < inputs->n; i++) {
        if (is_generated(inputs, i))
            continue;
        counter->reference = i;
        first = n++ == 0 ? i : first;
    }
    if (n == 1)
        return true;
    if (n == 0)
        return fail_counter(binding, err, "no input is read or fed, so none can be counted");
    fail_counter(binding, err, "name the input to count after the colon");
    return fail_hint(err, "write %s=%s:%s or %s=%s:%s", binding->name, binding->spec.format->name,
                     input_name(inputs, first), binding->name, binding->spec.format->name,
                     input_name(inputs, counter->reference));
}

bool inputs_find_counters(struct inputs *inputs, struct irrun_error *err)
{
    const struct binding_list *list = &inputs->options->inputs;
    inputs->counters = new_array(list->n, sizeof *inputs->counters, err);
    if (!inputs->counters)
        return false;
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].spec.format->is_counted && !add_counter(inputs, &list->items[i], err))
            return false;
    for (size_t i = 0; i < inputs->n_counters; i++)
        if (!find_reference(inputs, &inputs->counters[i], err))
            return false;
    return true;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Sets *shape to the shape of the counted record, without the leading dimensions of 1 that exceed
 * the rank of the input. */
static bool find_record_shape(const struct inputs *inputs, const struct counter *counter,
                              struct irrun_shape *shape, struct irrun_error *err)
{
    const struct irrun_shape *counted = &inputs->records[counter->reference].record.shape;
    const struct irrun_partial_shape *wanted =
        &irrun_model_input(inputs->model, counter->input)->shape;
    uint32_t rank =
        wanted->is_rank_dynamic || wanted->rank > counted->rank ? counted->rank : wanted->rank;
    uint32_t dropped = counted->rank - rank;
    if (rank == 0 || shape_product(counted, 0, dropped) != 1) {
        char text[SHAPE_TEXT_BYTES];
        return fail(err, IRRUN_DATA, "input \"%s\" cannot count input \"%s\", which is %s",
                    counter->before.port.name, input_name(inputs, counter->reference),
                    shape_format(counted, text));
    }
    *shape = shape_of(rank, counted->dims + dropped);
    return true;
}

/* Computes counter->made for the current record of the input that is counted. */
static bool make_record(const struct inputs *inputs, struct counter *counter,
                        struct irrun_error *err)
{
    struct records_port port = inputs_port(inputs, counter->input);
    struct irrun_tensor *made = &counter->made;
    size_t size_bytes;
    if (!find_record_shape(inputs, counter, &made->shape, err))
        return false;
    bool is_mask = strcmp(counter->binding->spec.format->name, "ones") == 0;
    int64_t *last = &made->shape.dims[made->shape.rank - 1], end;
    counter->n_now = *last;
    if (!checked_add_i64(counter->before.n, counter->n_now, &end))
        return fail(err, IRRUN_DATA, "the count \"%s\" is too large", counter->before.port.name);
    *last = is_mask ? end : counter->n_now;
    made->dtype = port.dtype == IRRUN_DYNAMIC ? IRRUN_I64 : port.dtype;
    if (!tensor_size(made->dtype, &made->shape, &size_bytes))
        return fail_memory(err, SIZE_MAX);
    if (!reserve_array(&made->data, size_bytes + sizeof(int64_t), &counter->capacity_bytes, 1, err))
        return false;
    size_t n = (size_t)shape_n_elements(&made->shape);
    for (size_t i = 0; i < n; i++) {
        int64_t number = is_mask ? 1 : counter->before.n + (int64_t)i % *last;
        if (is_mask && i > 0)
            memcpy(tensor_at(made, i), made->data, dtype_size(made->dtype));
        else
            convert_elements(IRRUN_I64, &number, made->dtype, tensor_at(made, i), 1);
    }
    return true;
}

bool inputs_open_counters(struct inputs *inputs, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->n_counters; i++) {
        struct counter *counter = &inputs->counters[i];
        struct records_port port = inputs_port(inputs, counter->input);
        struct irrun_tensor first;
        counter->before.n = 0;
        if (!make_record(inputs, counter, err) || !snapshot_copy(&first, &counter->made, err))
            return false;
        records_open_record(&inputs->records[counter->input], &port, &first);
    }
    return true;
}

bool inputs_count(struct inputs *inputs, struct irrun_error *err)
{
    for (size_t i = 0; i < inputs->n_counters; i++) {
        struct counter *counter = &inputs->counters[i];
        if (!make_record(inputs, counter, err) ||
            !inputs_set_record(inputs, counter->input, &counter->made, err))
            return false;
    }
    return true;
}

void inputs_free_counters(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n_counters; i++)
        free(inputs->counters[i].made.data);
    free(inputs->counters);
}
