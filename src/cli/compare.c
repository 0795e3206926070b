/* --expect: compares outputs with arrays, record by record. difference.c compares elements.
 * compare_finish reports differences as an error.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bind.h"
#include "cli/difference.h"
#include "cli/outputs.h"
#include "cli/records.h"

/* An output and the array that it is compared with. */
struct expectation {
    size_t output;
    const char *path;
    const struct format *format;
    struct reader *reader;      /* NULL after it has moved to `records` */
    bool has_begun;             /* the first iteration was compared */
    struct array_header header; /* header of the first array */
    bool compares_last;         /* the array is one record, which the last iteration must match */
    struct records records;
    struct tolerances tolerances;
    struct difference difference;
    struct irrun_tensor last; /* a copy of the output, if only the last iteration is compared */
    size_t last_capacity;     /* bytes */
    bool count_differs;       /* the array does not have one record per iteration */
    uint64_t n_records;       /* records in the array, if iterations exceed them */
    /* A difference that is not in the elements, for example in the shape; "": none. */
    char problem[sizeof((struct irrun_error *)NULL)->message];
};

struct compare {
    const struct irrun_model *model;
    const struct options *options;
    struct expectation *items;
    size_t n, capacity;
    struct archive_list archives;
    uint64_t n_iterations;
};

/* ---- Opening --------------------------------------------------------------------------------- */

static bool find_output(void *context, const char *name, size_t *output, struct irrun_error *err)
{
    const struct compare *compare = context;
    return irrun_model_find_output(compare->model, name, output, err);
}

static bool add_reader(void *context, size_t output, const struct binding *binding,
                       struct reader *reader, struct irrun_error *err)
{
    struct compare *compare = context;
    for (size_t i = 0; i < compare->n; i++)
        if (compare->items[i].output == output)
            fail(err, binding->spec.format->has_names ? IRRUN_DATA : IRRUN_USAGE,
                 "output \"%s\" has two expected values, %s and %s",
                 irrun_model_output(compare->model, output)->name, compare->items[i].path,
                 reader_path(reader));
    if (err->code != IRRUN_OK || !GROW_ARRAY(compare->items, compare->n, compare->capacity, err)) {
        reader_close(reader);
        return false;
    }
    compare->items[compare->n++] =
        (struct expectation){.output = output,
                             .path = binding->spec.path,
                             .format = binding->spec.format,
                             .reader = reader,
                             .tolerances = tolerances_of(compare->model, compare->options, output)};
    return true;
}

bool compare_new(const struct irrun_model *model, const struct options *options,
                 struct compare **compare, struct irrun_error *err)
{
    *compare = NULL;
    if (!named_check(NAMED_LIST(options->atols), model, irrun_model_find_output, err) ||
        !named_check(NAMED_LIST(options->rtols), model, irrun_model_find_output, err))
        return false;
    if (options->expected.n == 0)
        return true;
    struct compare *made = *compare = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    made->model = model;
    made->options = options;
    const struct binder binder = {.option = "--expect=",
                                  .model = model,
                                  .port = irrun_model_output,
                                  .n_ports = n_default_outputs(model),
                                  .find = find_output,
                                  .add_reader = add_reader,
                                  .context = made,
                                  .archives = &made->archives};
    for (size_t i = 0; i < options->expected.n; i++) {
        const struct binding *binding = &options->expected.items[i];
        size_t n_before = made->n;
        if (!bind_source(&binder, binding, err))
            return false;
        if (made->n == n_before && binder.n_ports > 0)
            return fail_at(err, IRRUN_DATA, whole_file(binding->spec.path), "contains no array");
    }
    return true;
}

void compare_free(struct compare *compare)
{
    if (!compare)
        return;
    for (size_t i = 0; i < compare->n; i++) {
        reader_close(compare->items[i].reader);
        records_close(&compare->items[i].records);
        free(compare->items[i].last.data);
    }
    archives_close(&compare->archives);
    free(compare->items);
    free(compare);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static bool has_same_type_and_shape(const struct irrun_tensor *got, enum irrun_dtype dtype,
                                    const struct irrun_shape *shape)
{
    return dtype == format_stored_dtype(got->dtype) && shape_equals(&got->shape, shape);
}

static void note_type_and_shape(struct expectation *item, const struct irrun_tensor *got,
                                uint64_t record, enum irrun_dtype dtype,
                                const struct irrun_shape *shape)
{
    char got_shape[SHAPE_TEXT_BYTES], want_shape[SHAPE_TEXT_BYTES];
    snprintf(item->problem, sizeof item->problem, "record %" PRIu64 " is %s %s, expected %s %s",
             record, irrun_dtype_name(format_stored_dtype(got->dtype)),
             shape_format(&got->shape, got_shape), irrun_dtype_name(dtype),
             shape_format(shape, want_shape));
}

/* Compares type and shape of the current record, and then its elements. */
static void compare_record(struct expectation *item, const struct irrun_tensor *got,
                           uint64_t record)
{
    const struct irrun_tensor *want = &item->records.record;
    if (has_same_type_and_shape(got, want->dtype, &want->shape))
        difference_add(&item->difference, &item->tolerances, got, want, record);
    else
        note_type_and_shape(item, got, record, want->dtype, &want->shape);
}

static void note_count(struct expectation *item, uint64_t n_run, const char *more,
                       uint64_t n_records)
{
    snprintf(item->problem, sizeof item->problem,
             "%" PRIu64 " iteration%s ran, but %s%" PRIu64 " record%s expected", n_run,
             n_run == 1 ? "" : "s", more, n_records, n_records == 1 ? " is" : "s are");
}

/* Notes that there are more records than iterations. The message gives the number of records,
 * unless they come from a pipe, which may never end, or a record has a different shape. */
static void note_excess(struct expectation *item, uint64_t n_run)
{
    struct records *rest = &item->records;
    struct irrun_error err = {.code = IRRUN_OK};
    uint64_t n_further = 0;
    bool has_end = !item->problem[0] && (!rest->reader || reader_can_rewind(rest->reader));
    bool is_counted = has_end && records_skip(rest, UINT64_MAX, &n_further, &err);
    note_count(item, n_run, is_counted ? "" : "more than ",
               n_run + (is_counted ? 1 + n_further : 0));
}

/* If the error reports a record of a different shape, notes the difference, clears the error and
 * returns true. */
static bool note_mismatch(struct expectation *item, uint64_t record, struct irrun_error *err)
{
    if (err->code != IRRUN_MISMATCH)
        return false;
    snprintf(item->problem, sizeof item->problem, "record %" PRIu64 ": %.200s", record,
             err->message);
    error_clear(err);
    return true;
}

/* Opens the records with the shape of `got`. */
static bool open_records(struct compare *compare, struct expectation *item,
                         const struct irrun_tensor *got, struct irrun_error *err)
{
    const struct records_port port = {.what = "output",
                                      .name =
                                          irrun_model_output(compare->model, item->output)->name,
                                      .dtype = format_stored_dtype(got->dtype),
                                      .shape = partial_shape_of(&got->shape),
                                      .keeps_dtype = true,
                                      .type_code = IRRUN_MISMATCH};
    struct reader *reader = item->reader;
    item->reader = NULL;
    return records_open(&item->records, &port, reader,
                        item->format->has_shape ? &item->header : NULL, NULL, NULL, err) &&
           records_look_ahead(&item->records, err);
}

/* Begins the comparison in the first iteration. A single record of a different type or shape may
 * still match the last iteration. */
static bool begin_comparison(struct compare *compare, struct expectation *item,
                             const struct irrun_tensor *got, struct irrun_error *err)
{
    const struct irrun_shape *shape = &item->header.shape;
    uint32_t rank = got->shape.rank;
    bool is_end;
    item->has_begun = true;
    if (!item->format->has_shape)
        return open_records(compare, item, got, err);
    if (!reader_next(item->reader, &item->header, &is_end, err))
        return false;
    if (is_end)
        return fail_at(err, IRRUN_DATA, whole_file(item->path), "contains no array");
    bool is_stacked = shape->rank == rank + 1, is_single = shape->rank == rank;
    struct irrun_shape record = is_stacked ? shape_of(rank, shape->dims + 1) : *shape;
    if (has_same_type_and_shape(got, item->header.dtype, &record))
        return open_records(compare, item, got, err);
    item->compares_last = is_single;
    if (!is_single)
        note_type_and_shape(item, got, 0, item->header.dtype, &record);
    return true;
}

static bool keep_last(struct expectation *item, const struct irrun_tensor *got,
                      struct irrun_error *err)
{
    size_t size_bytes = tensor_n_bytes(got);
    if (!reserve_array(&item->last.data, size_bytes ? size_bytes : 1, &item->last_capacity, 1, err))
        return false;
    if (size_bytes > 0)
        memcpy(item->last.data, got->data, size_bytes);
    item->last.dtype = got->dtype;
    item->last.shape = got->shape;
    return true;
}

bool compare_iteration(struct compare *compare, const struct irrun_tensor *const *values,
                       struct irrun_error *err)
{
    uint64_t record = compare->n_iterations++;
    for (size_t i = 0; i < compare->n; i++) {
        struct expectation *item = &compare->items[i];
        const struct irrun_tensor *got = values[item->output];
        bool has_record;
        if (!item->has_begun && !begin_comparison(compare, item, got, err))
            return false;
        if (item->problem[0] || item->count_differs)
            continue;
        if (item->compares_last || item->records.state == RECORDS_REPEATED) {
            if (!keep_last(item, got, err))
                return false;
            continue;
        }
        if (item->format->has_shape)
            item->records.port.shape = partial_shape_of(&got->shape);
        if (!records_next(&item->records, &has_record, err)) {
            if (!note_mismatch(item, record, err))
                return false;
            continue;
        }
        item->count_differs = !has_record;
        if (has_record)
            compare_record(item, got, record);
        else
            item->n_records = record; /* finish_one reports it with the number of iterations */
    }
    return true;
}

/* ---- Finishing ------------------------------------------------------------------------------- */

static bool finish_one(struct compare *compare, struct expectation *item, struct irrun_error *err)
{
    bool has_record;
    uint64_t last = compare->n_iterations - 1;
    if (item->count_differs)
        note_count(item, compare->n_iterations, "", item->n_records);
    if (!item->has_begun)
        snprintf(item->problem, sizeof item->problem, "no iteration ran");
    if (item->problem[0])
        return true;
    if (item->compares_last &&
        !has_same_type_and_shape(&item->last, item->header.dtype, &item->header.shape)) {
        note_type_and_shape(item, &item->last, last, item->header.dtype, &item->header.shape);
        return true;
    }
    if (item->compares_last && !open_records(compare, item, &item->last, err))
        return false;
    bool is_single = item->records.state == RECORDS_REPEATED;
    if (!records_next(&item->records, &has_record, err)) {
        if (!note_mismatch(item, last, err))
            return false;
        has_record = true;
    }
    if (is_single)
        compare_record(item, &item->last, last);
    else if (item->compares_last)
        snprintf(
            item->problem, sizeof item->problem,
            "several records are expected, but the first iteration has a different type or shape");
    item->count_differs = has_record && !is_single && !item->compares_last;
    if (item->count_differs)
        note_excess(item, compare->n_iterations);
    return true;
}

static void describe_item(const struct compare *compare, const struct expectation *item,
                          struct irrun_error *err)
{
    const char *name = irrun_model_output(compare->model, item->output)->name;
    fail_append(err, "\n  output \"%s\" (%s): ", name, item->path);
    if (item->problem[0])
        fail_append(err, "%s", item->problem);
    else
        difference_describe(&item->difference, &item->tolerances, err);
}

static bool is_different(const struct compare *compare, const struct expectation *item)
{
    return item->problem[0] || difference_fails(&item->difference, compare->options);
}

bool compare_finish(struct compare *compare, struct irrun_error *err)
{
    size_t n_different = 0;
    bool count_differs = false, has_problem = false, has_tolerance = false;
    for (size_t i = 0; i < compare->n; i++) {
        struct expectation *item = &compare->items[i];
        if (!finish_one(compare, item, err))
            return false;
        n_different += is_different(compare, item);
    }
    if (n_different == 0)
        return true;
    fail(err, IRRUN_MISMATCH, "%zu of %zu outputs differ from what is expected", n_different,
         compare->n);
    for (size_t i = 0; i < compare->n; i++) {
        const struct expectation *item = &compare->items[i];
        if (is_different(compare, item))
            describe_item(compare, item, err);
        count_differs |= item->count_differs;
        has_problem |= item->problem[0] != '\0';
        has_tolerance |= item->tolerances.has_atol || item->tolerances.has_rtol;
    }
    const struct options *options = compare->options;
    bool is_count_chosen = options->n_iterations != NO_LIMIT || options->randoms.n > 0;
    if (count_differs)
        return fail_hint(
            err, "--expect needs a record for each iteration, or one for the last; %s",
            is_count_chosen
                ? "-n sets the number of iterations"
                : "was it saved with another input or --partial, or with several outputs?");
    return !has_problem && difference_hint(options, has_tolerance, "", err);
}

void compare_report(const struct compare *compare, struct json *json)
{
    for (size_t i = 0; i < compare->n; i++) {
        const struct expectation *item = &compare->items[i];
        json_open(json, NULL, '{');
        json_string(json, "output", irrun_model_output(compare->model, item->output)->name);
        json_string(json, "source", item->path);
        json_bool(json, "is_equal", !is_different(compare, item));
        json_string(json, "problem", item->problem[0] ? item->problem : NULL);
        json_number(json, "atol", item->tolerances.atol);
        json_number(json, "rtol", item->tolerances.rtol);
        json_count(json, "elements", item->difference.n_elements);
        json_count(json, "different", item->difference.n_different);
        difference_report(&item->difference, json);
        json_close(json, '}');
    }
}
