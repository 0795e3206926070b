/* --batch: joins records of different keys, and their variables, along axis 0 for one run of the
 * session. Then stores each row of the variables in the state of its key.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/row_batch.h"
#include "cli/worker_internal.h"

struct batch_record {
    uint32_t id;    /* of the key */
    uint64_t index; /* of the record */
};

struct worker_batch {
    struct batch_record *rows; /* [n_rows] of [capacity] */
    size_t n_rows, capacity;
    struct row_batch *inputs, *variables; /* one per input and variable of the model */
    size_t n_inputs, n_variables;
    struct irrun_tensor *slices; /* views of one row of the outputs, then of the variables */
    int64_t
        *new_sizes; /* axis 0 of the outputs, then of the variables, after one key's first record */
    bool has_new_sizes;
    bool runs_alone[2]; /* [has_unset_variable]: records are run one by one, not in batches */
};

/* ---- Opening and closing --------------------------------------------------------------------- */

/* Adds a port or variable to the list if its axis 0 cannot be n. */
static void list_if_static(struct text *list, const char *what, const char *name,
                           const struct irrun_partial_shape *shape, uint64_t n)
{
    char text[SHAPE_TEXT_BYTES];
    if (shape->is_rank_dynamic || shape->rank == 0 || shape->min[0] == shape->max[0] ||
        (uint64_t)shape->max[0] < n)
        text_add(list, "%s%s \"%s\" %s", list->length > 0 ? ", " : "", what, name,
                 partial_shape_format(shape, text));
}

static bool check_is_dynamic(const struct irrun_model *model, uint64_t n, struct irrun_error *err)
{
    struct text list = {0};
    for (size_t i = 0; i < irrun_model_n_inputs(model); i++)
        list_if_static(&list, "input", irrun_model_input(model, i)->name,
                       &irrun_model_input(model, i)->shape, n);
    for (size_t i = 0; i < irrun_model_n_outputs(model); i++)
        list_if_static(&list, "output", irrun_model_output(model, i)->name,
                       &irrun_model_output(model, i)->shape, n);
    for (size_t i = 0; i < irrun_model_n_variables(model); i++)
        list_if_static(&list, "variable", irrun_model_variable(model, i)->id,
                       &irrun_model_variable(model, i)->shape, n);
    bool is_dynamic = list.length == 0;
    if (!is_dynamic) {
        fail(err, IRRUN_UNSUPPORTED, "--batch=%" PRIu64 ": axis 0 must be dynamic: %.1500s", n,
             list.data ? list.data : "");
        fail_hint(err, "convert the model with a dynamic batch dimension, or omit --batch");
    }
    text_free(&list);
    return is_dynamic;
}

bool worker_batch_open(struct worker *worker, struct irrun_error *err)
{
    const struct irrun_model *model = worker->model;
    uint64_t n = worker->options->batch;
    if (n <= 1)
        return true;
    for (size_t i = 0; i < worker->options->inputs.n; i++)
        if (worker->options->inputs.items[i].spec.format->is_counted)
            return fail(err, IRRUN_USAGE, "--batch and -i %s: cannot be used together",
                        worker->options->inputs.items[i].spec.format->name);
    struct worker_batch *batch = worker->batch = new_array(1, sizeof *batch, err);
    if (!batch || !check_is_dynamic(model, n, err))
        return false;
    batch->capacity = (size_t)n;
    batch->n_inputs = irrun_model_n_inputs(model);
    batch->n_variables = irrun_model_n_variables(model);
    batch->rows = new_array(batch->capacity, sizeof *batch->rows, err);
    batch->inputs = new_array(batch->n_inputs, sizeof *batch->inputs, err);
    batch->variables = new_array(batch->n_variables, sizeof *batch->variables, err);
    batch->slices = new_array(worker->n_values + batch->n_variables, sizeof *batch->slices, err);
    batch->new_sizes =
        new_array(worker->n_values + batch->n_variables, sizeof *batch->new_sizes, err);
    return batch->rows && batch->inputs && batch->variables && batch->slices && batch->new_sizes;
}

static void free_batches(struct row_batch *all, size_t n)
{
    for (size_t i = 0; i < n && all; i++)
        row_batch_free(&all[i]);
    free(all);
}

void worker_batch_close(struct worker *worker)
{
    struct worker_batch *batch = worker->batch;
    if (!batch)
        return;
    free_batches(batch->inputs, batch->n_inputs);
    free_batches(batch->variables, batch->n_variables);
    free(batch->slices);
    free(batch->new_sizes);
    free(batch->rows);
    free(batch);
    worker->batch = NULL;
}

/* ---- Running a batch ------------------------------------------------------------------------- */

/* Loads the variables of the inputs from the state of a key. */
static bool load_inputs(struct worker *worker, uint32_t id, struct irrun_error *err)
{
    size_t n = inputs_n_variables(worker->inputs), n_before = worker->batch->n_variables;
    const struct irrun_tensor *values =
        n > 0 ? key_states_get(worker->keys->states, id, err) : NULL;
    for (size_t i = 0; i < n; i++)
        if (!values || !inputs_set_variable(worker->inputs, i, &values[n_before + i], err))
            return false;
    return true;
}

/* Sets the session's variables and inputs to the joined rows of n records. */
static bool gather(struct worker *worker, size_t first, size_t n, struct irrun_error *err)
{
    struct worker_batch *batch = worker->batch;
    for (size_t r = 0; r < n; r++) {
        const struct irrun_tensor *values =
            key_states_get(worker->keys->states, batch->rows[first + r].id, err);
        if (!values)
            return false;
        for (size_t v = 0; v < batch->n_variables; v++)
            if (!row_batch_add(&batch->variables[v], r, &values[v], err))
                return false;
    }
    irrun_session_reset(worker->session);
    for (size_t v = 0; v < batch->n_variables; v++) {
        const struct irrun_tensor all = row_batch_view(&batch->variables[v], 0, n);
        if (batch->variables[v].row.data &&
            !irrun_session_set_variable(worker->session, v, &all, err))
            return false;
    }
    for (size_t i = 0; i < batch->n_inputs; i++) {
        const struct irrun_tensor all = row_batch_view(&batch->inputs[i], first, n);
        if (!irrun_session_set_input(worker->session, i, &all, err))
            return false;
    }
    return true;
}

/* Writes the outputs of a row, and stores its variables for its key. */
static bool scatter_row(struct worker *worker, size_t first, size_t row, size_t n,
                        struct irrun_error *err)
{
    struct worker_batch *batch = worker->batch;
    const struct batch_record *record = &batch->rows[first + row];
    const struct irrun_tensor **values = worker->keys->values;
    struct irrun_tensor *slices = batch->slices;
    for (size_t i = 0; i < worker->n_values; i++, slices++) {
        worker->values[i] = slices;
        if (!row_batch_slice(irrun_session_output(worker->session, i), row, n,
                             irrun_model_output(worker->model, i)->name, slices, err))
            return false;
    }
    for (size_t v = 0; v < batch->n_variables; v++, slices++) {
        const struct irrun_tensor *value = irrun_session_variable(worker->session, v);
        values[v] = value ? slices : NULL;
        if (value && !row_batch_slice(value, row, n, irrun_model_variable(worker->model, v)->id,
                                      slices, err))
            return false;
    }
    if (!load_inputs(worker, record->id, err) ||
        !inputs_choose_next(worker->inputs, worker->values, worker->n_values,
                            key_states_key(worker->keys->states, record->id), err) ||
        !inputs_feed_back(worker->inputs, err))
        return false;
    for (size_t i = 0; i < inputs_n_variables(worker->inputs); i++)
        values[batch->n_variables + i] = inputs_variable(worker->inputs, i);
    return key_states_put(worker->keys->states, record->id, values, err) &&
           (!collector_wants_all(worker->collector) ||
            collector_add(worker->collector, &worker->backlog, worker->sequence, worker->values,
                          record->index, false, err));
}

/* Returns whether a variable of the rows is unset, so that the model computes its initial value. */
static bool has_unset_variable(const struct worker_batch *batch)
{
    bool is_unset = false;
    for (size_t v = 0; v < batch->n_variables; v++)
        is_unset |= !batch->variables[v].row.data;
    return is_unset;
}

/* Returns axis 0 of output i, or of variable i - n_values; 0 if it has none. */
static int64_t new_size(const struct worker *worker, size_t i)
{
    const struct irrun_tensor *value =
        i < worker->n_values ? irrun_session_output(worker->session, i)
                             : irrun_session_variable(worker->session, i - worker->n_values);
    return value && value->shape.rank > 0 ? value->shape.dims[0] : 0;
}

/* Returns whether axis 0 of all outputs and variables is n times that after the first record of one
 * key. If not, an initial value has a static axis 0, and its rows do not belong to the keys. The
 * first call, for one key, sets batch->new_sizes. */
static bool check_new_sizes(struct worker *worker, size_t n)
{
    struct worker_batch *batch = worker->batch;
    bool has_rows = true;
    for (size_t i = 0; i < worker->n_values + batch->n_variables; i++) {
        if (!batch->has_new_sizes)
            batch->new_sizes[i] = new_size(worker, i);
        has_rows &= new_size(worker, i) == batch->new_sizes[i] * (int64_t)n;
    }
    batch->has_new_sizes = true;
    return has_rows;
}

static bool run_rows(struct worker *worker, size_t first, size_t n, struct irrun_error *err);

static bool run_one_by_one(struct worker *worker, size_t first, size_t n, struct irrun_error *err)
{
    for (size_t r = 0; r < n; r++)
        if (!run_rows(worker, first + r, 1, err))
            return false;
    return true;
}

static bool scatter(struct worker *worker, size_t first, size_t n, struct irrun_error *err)
{
    uint64_t index = worker->batch->rows[first].index, begin = event_start(worker->track);
    for (size_t r = 0; r < n; r++)
        if (!scatter_row(worker, first, r, n, err))
            return false;
    event_add(worker->track, "write", index, begin);
    worker->stats.n_batches++;
    return true;
}

/* Runs n records. The very first record is run alone, to get the sizes of one row. If n records
 * cannot be planned, or do not give n times these sizes, they and all later records are run one by
 * one. */
static bool run_rows(struct worker *worker, size_t first, size_t n, struct irrun_error *err)
{
    struct worker_batch *batch = worker->batch;
    const struct batch_record *rows = batch->rows + first;
    struct irrun_error ignored = {0};
    if (!gather(worker, first, n, err))
        return false;
    bool are_new = has_unset_variable(batch);
    if (are_new && n > 1 && !batch->has_new_sizes)
        return run_rows(worker, first, 1, err) && run_rows(worker, first + 1, n - 1, err);
    bool *runs_alone = &batch->runs_alone[are_new];
    if (n > 1 && !*runs_alone)
        *runs_alone = !irrun_session_plan(worker->session, &ignored);
    if (n > 1 && *runs_alone)
        return run_one_by_one(worker, first, n, err);
    if (!worker_warm_up(worker, err))
        return false;
    if (!worker_run_once(worker, rows[0].index, err))
        return fail_append(err,
                           n == 1 ? " (in iteration %" PRIu64 ")"
                                  : " (in iterations %" PRIu64 " to %" PRIu64 ")",
                           rows[0].index, rows[n - 1].index);
    if (are_new && (n > 1 || !batch->has_new_sizes) && !check_new_sizes(worker, n)) {
        *runs_alone = true;
        return run_one_by_one(worker, first, n, err);
    }
    return scatter(worker, first, n, err);
}

bool worker_batch_run(struct worker *worker, struct irrun_error *err)
{
    size_t n = worker->batch->n_rows;
    if (n == 0)
        return true;
    worker->batch->n_rows = 0;
    if (!run_rows(worker, 0, n, err))
        return false;
    atomic_store_explicit(&worker->counter.n_iterations,
                          worker->stats.n_iterations + worker->batch->rows[n - 1].index + 1,
                          memory_order_relaxed);
    return true;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Finds the key of the current record, and sets its variables if it is new or must be reset. */
static bool open_key(struct worker *worker, int64_t key, uint64_t index, uint32_t *id,
                     struct irrun_error *err)
{
    struct worker_keys *keys = worker->keys;
    bool is_new;
    if (!key_states_find(keys->states, key, id, &is_new, err))
        return false;
    uint64_t n_before = key_states_count_iteration(keys->states, *id);
    keys->current = *id;
    bool is_reset = worker_wants_reset(worker, n_before);
    if (!is_new && !is_reset)
        return true;
    if ((is_new && !worker_keys_begin(worker, key, err)) ||
        (is_reset && !worker_state_reset(worker, index, err)))
        return false;
    all_variables_values(&worker->variables, keys->values);
    return key_states_put(keys->states, *id, keys->values, err);
}

/* Sets *does_fit to whether the current record fits the batch. id: the id of its key. */
static bool fits_batch(struct worker *worker, uint32_t id, bool *does_fit, struct irrun_error *err)
{
    const struct worker_batch *batch = worker->batch;
    const struct irrun_tensor *values = key_states_get(worker->keys->states, id, err);
    if (!values)
        return false;
    *does_fit = true;
    for (size_t v = 0; v < batch->n_variables; v++)
        *does_fit &= row_batch_matches(&batch->variables[v], &values[v]);
    for (size_t i = 0; i < batch->n_inputs; i++)
        *does_fit &= row_batch_matches(&batch->inputs[i], inputs_record(worker->inputs, i));
    return true;
}

static bool begin_batch(struct worker *worker, uint32_t id, struct irrun_error *err)
{
    struct worker_batch *batch = worker->batch;
    const struct irrun_tensor *values = key_states_get(worker->keys->states, id, err);
    if (!values)
        return false;
    for (size_t v = 0; v < batch->n_variables; v++)
        row_batch_begin(&batch->variables[v], &values[v]);
    for (size_t i = 0; i < batch->n_inputs; i++)
        row_batch_begin(&batch->inputs[i], inputs_record(worker->inputs, i));
    return true;
}

/* Returns whether the batch contains a record of the key. */
static bool has_key(const struct worker *worker, int64_t key)
{
    const struct worker_batch *batch = worker->batch;
    size_t i = 0;
    while (i < batch->n_rows && key_states_key(worker->keys->states, batch->rows[i].id) != key)
        i++;
    return i < batch->n_rows;
}

/* Adds the current record to the batch. Runs the batch first if the record does not fit. */
static bool add_record(struct worker *worker, uint64_t index, struct irrun_error *err)
{
    struct worker_batch *batch = worker->batch;
    int64_t key = inputs_key(worker->inputs);
    bool does_fit;
    uint32_t id;
    if ((batch->n_rows == batch->capacity || has_key(worker, key)) &&
        !worker_batch_run(worker, err))
        return false;
    if (!open_key(worker, key, index, &id, err) || !load_inputs(worker, id, err) ||
        !fits_batch(worker, id, &does_fit, err))
        return false;
    if (!does_fit && batch->n_rows > 0 &&
        (!worker_batch_run(worker, err) || !load_inputs(worker, id, err)))
        return false;
    if (batch->n_rows == 0 && !begin_batch(worker, id, err))
        return false;
    for (size_t i = 0; i < batch->n_inputs; i++)
        if (!row_batch_add(&batch->inputs[i], batch->n_rows, inputs_record(worker->inputs, i), err))
            return false;
    batch->rows[batch->n_rows++] = (struct batch_record){id, index};
    return true;
}

bool worker_batch_iterate(struct worker *worker, uint64_t *n_done, struct irrun_error *err)
{
    bool has_record = true;
    while (*n_done < worker->options->n_iterations && !worker_time_is_over(worker)) {
        uint64_t begin = event_start(worker->track);
        if (!worker_read_record(worker, *n_done, &has_record, err))
            return false;
        event_add(worker->track, "read", *n_done, begin);
        if (!has_record) {
            inputs_warn_doubtful(worker->inputs);
            break;
        }
        if (!add_record(worker, (*n_done)++, err))
            return false;
    }
    return worker_batch_run(worker, err);
}
