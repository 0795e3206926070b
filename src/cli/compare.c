/* --expect: shape and type first, then abs(got - want) <= atol + rtol * abs(want) for every element.
 * Prints nothing: what differs is told by the error that compare_finish fills.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/compare.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/bind.h"
#include "cli/feed.h"

#define DEFAULT_ATOL 1e-5
#define DEFAULT_RTOL 1e-4

/* The element that is furthest out, in units of what is allowed. */
struct worst {
    double ratio;
    uint64_t record;
    size_t element;
    double got, want;
    int64_t got_whole, want_whole; /* the same of integers, which a double may not hold */
};

/* One output and the array it should equal. */
struct expectation {
    size_t output;
    const char *path;
    const struct format *format;
    struct reader *reader; /* until the first iteration; then the feed has it */
    struct feed feed;
    bool is_open;
    double atol, rtol;
    bool has_tolerance; /* given for this output: integers are compared with it too */
    uint64_t n_elements, n_different;
    enum irrun_dtype dtype;   /* of the output */
    struct irrun_shape shape; /* of the output, for the place of the worst element */
    struct irrun_tensor last; /* a copy of the output, where only the last iteration counts */
    size_t last_capacity;     /* bytes */
    struct worst worst;
    char problem[sizeof((struct irrun_error *)NULL)->message]; /* "": shape and type fit */
};

struct compare {
    const struct irrun_model *model;
    struct expectation *items;
    size_t n, capacity;
    struct archive_list archives;
    uint64_t n_iterations;
};

/* ---- Opening ---------------------------------------------------------------------------------- */

static const char *output_name(void *context, size_t output)
{
    const struct compare *compare = context;
    return irrun_model_output(compare->model, output)->name;
}

static bool find_output(void *context, const char *name, size_t *output, struct irrun_error *err)
{
    const struct compare *compare = context;
    return irrun_model_find_output(compare->model, name, output, err);
}

static bool take_reader(void *context, size_t output, const struct binding *binding,
                        struct reader *reader, struct irrun_error *err)
{
    struct compare *compare = context;
    for (size_t i = 0; i < compare->n; i++) {
        if (compare->items[i].output == output)
            fail(err, binding->spec.format->has_names ? IRRUN_DATA : IRRUN_USAGE,
                 "output \"%s\" is expected twice, by %s and %s", output_name(compare, output),
                 compare->items[i].path, reader_path(reader));
    }
    if (err->code != IRRUN_OK || !grow_array((void **)&compare->items, compare->n,
                                             &compare->capacity, sizeof *compare->items, err)) {
        reader_close(reader);
        return false;
    }
    compare->items[compare->n++] = (struct expectation){.output = output,
                                                        .path = binding->spec.path,
                                                        .format = binding->spec.format,
                                                        .reader = reader,
                                                        .atol = DEFAULT_ATOL,
                                                        .rtol = DEFAULT_RTOL};
    return true;
}

/* Tolerances without a name come first, so that those with one win. */
static bool set_tolerances(struct compare *compare, const struct tolerance_list *list, bool is_atol,
                           bool has_name, struct irrun_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        size_t output = SIZE_MAX;
        if ((list->items[i].name != NULL) != has_name)
            continue;
        if (has_name && !irrun_model_find_output(compare->model, list->items[i].name, &output, err))
            return false;
        for (size_t j = 0; j < compare->n; j++) {
            struct expectation *item = &compare->items[j];
            if (has_name && item->output != output)
                continue;
            item->has_tolerance = true;
            *(is_atol ? &item->atol : &item->rtol) = list->items[i].value;
        }
    }
    return true;
}

bool compare_new(const struct irrun_model *model, const struct options *options,
                 struct compare **compare, struct irrun_error *err)
{
    *compare = NULL;
    if (options->expected.n == 0)
        return true;
    struct compare *made = calloc(1, sizeof *made);
    *compare = made;
    if (!made)
        return fail_memory(err, sizeof *made);
    made->model = model;
    const struct binder binder = {.option = "--expect=",
                                  .n_ports = irrun_model_n_outputs(model),
                                  .name = output_name,
                                  .find = find_output,
                                  .take = take_reader,
                                  .context = made,
                                  .archives = &made->archives};
    for (size_t i = 0; i < options->expected.n; i++) {
        if (!bind_source(&binder, &options->expected.items[i], err))
            return false;
    }
    return set_tolerances(made, &options->atols, true, false, err) &&
           set_tolerances(made, &options->atols, true, true, err) &&
           set_tolerances(made, &options->rtols, false, false, err) &&
           set_tolerances(made, &options->rtols, false, true, err);
}

void compare_free(struct compare *compare)
{
    if (!compare)
        return;
    for (size_t i = 0; i < compare->n; i++) {
        reader_close(compare->items[i].reader);
        feed_close(&compare->items[i].feed);
        free(compare->items[i].last.data);
    }
    archives_close(&compare->archives);
    free(compare->items);
    free(compare);
}

/* ---- Comparing -------------------------------------------------------------------------------- */

static void note_difference(struct expectation *item, const struct worst *found)
{
    if (item->n_different++ == 0 || found->ratio > item->worst.ratio)
        item->worst = *found;
}

#define N_BLOCK 256

static void compare_floats(struct expectation *item, const struct irrun_tensor *got,
                           const struct irrun_tensor *want, uint64_t record, size_t n)
{
    bool is_whole = !dtype_is_float(got->dtype);
    double atol = is_whole && !item->has_tolerance ? 0 : item->atol;
    double rtol = is_whole && !item->has_tolerance ? 0 : item->rtol;
    double got_block[N_BLOCK], want_block[N_BLOCK];
    for (size_t start = 0; start < n; start += N_BLOCK) {
        size_t n_now = n - start < N_BLOCK ? n - start : N_BLOCK;
        convert_elements(got->dtype, (char *)got->data + start * dtype_size(got->dtype), IRRUN_F64,
                         got_block, n_now);
        convert_elements(want->dtype, (char *)want->data + start * dtype_size(want->dtype),
                         IRRUN_F64, want_block, n_now);
        for (size_t i = 0; i < n_now; i++) {
            double g = got_block[i], w = want_block[i];
            double allowed = atol + rtol * fabs(w), off = fabs(g - w);
            if (g == w || (isnan(g) && isnan(w)) || (isfinite(w) && off <= allowed))
                continue;
            double ratio = isnan(off) ? INFINITY : off / fmax(allowed, DBL_MIN);
            note_difference(
                item,
                &(struct worst){
                    .ratio = ratio, .record = record, .element = start + i, .got = g, .want = w});
        }
    }
}

static void compare_wholes(struct expectation *item, const struct irrun_tensor *got,
                           const struct irrun_tensor *want, uint64_t record, size_t n)
{
    bool is_boolean = got->dtype == IRRUN_BOOLEAN;
    for (size_t i = 0; i < n; i++) {
        int64_t g = element_as_i64(got->dtype, got->data, i);
        int64_t w = element_as_i64(want->dtype, want->data, i);
        if (g == w || (is_boolean && (g != 0) == (w != 0)))
            continue;
        note_difference(item, &(struct worst){.ratio = fabs((double)g - (double)w),
                                              .record = record,
                                              .element = i,
                                              .got_whole = g,
                                              .want_whole = w});
    }
}

static bool compares_exactly(const struct expectation *item, enum irrun_dtype dtype)
{
    return (dtype_is_integer(dtype) || dtype == IRRUN_BOOLEAN) && !item->has_tolerance;
}

/* Type and shape of the record at hand, then its elements. */
static void compare_record(struct expectation *item, const struct irrun_tensor *got,
                           uint64_t record)
{
    const struct irrun_tensor *want = &item->feed.record;
    char got_shape[SHAPE_TEXT_BYTES], want_shape[SHAPE_TEXT_BYTES];
    enum irrun_dtype stored = format_stored_dtype(got->dtype);
    if (want->dtype != stored || !shape_equals(&got->shape, &want->shape)) {
        snprintf(item->problem, sizeof item->problem, "record %" PRIu64 " is %s %s, expected %s %s",
                 record, irrun_dtype_name(stored), shape_format(&got->shape, got_shape),
                 irrun_dtype_name(want->dtype), shape_format(&want->shape, want_shape));
        return;
    }
    size_t n = (size_t)shape_n_elements(&got->shape);
    item->shape = got->shape;
    item->n_elements += n;
    if (stored == got->dtype && memcmp(got->data, want->data, n * dtype_size(stored)) == 0)
        return;
    if (compares_exactly(item, got->dtype))
        compare_wholes(item, got, want, record, n);
    else
        compare_floats(item, got, want, record, n);
}

/* An array of another shape is a difference; a file that is broken is a failure. */
static bool open_feed(struct compare *compare, struct expectation *item,
                      const struct irrun_tensor *got, struct irrun_error *err)
{
    struct feed_port port = {.what = "output",
                             .name = irrun_model_output(compare->model, item->output)->name,
                             .dtype = format_stored_dtype(got->dtype),
                             .shape = partial_shape_of(&got->shape),
                             .keeps_dtype = true,
                             .form_code = IRRUN_MISMATCH};
    for (uint32_t i = 0; i < got->shape.rank && item->format->has_shape; i++) {
        port.shape.min[i] = 0;
        port.shape.max[i] = INT64_MAX;
    }
    struct reader *reader = item->reader;
    item->reader = NULL;
    item->is_open = true;
    if (feed_open(&item->feed, &port, reader, NULL, NULL, err) && feed_settle(&item->feed, err))
        return true;
    if (err->code != IRRUN_MISMATCH)
        return false;
    memcpy(item->problem, err->message, sizeof item->problem);
    error_clear(err);
    return true;
}

/* What is compared with the last iteration is copied: the next run, or a lane's next record, takes its place. */
static bool keep_last(struct expectation *item, const struct irrun_tensor *got,
                      struct irrun_error *err)
{
    size_t size_bytes = tensor_n_bytes(got);
    if (size_bytes > item->last_capacity || !item->last.data) {
        void *grown = realloc(item->last.data, size_bytes ? size_bytes : 1);
        if (!grown)
            return fail_memory(err, size_bytes);
        item->last.data = grown;
        item->last_capacity = size_bytes;
    }
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
        item->dtype = got->dtype;
        if (!item->is_open && !open_feed(compare, item, got, err))
            return false;
        if (item->problem[0])
            continue;
        if (item->feed.state == FEED_REPEATED) {
            if (!keep_last(item, got, err))
                return false;
            continue;
        }
        if (!feed_next(&item->feed, &has_record, err))
            return false;
        if (has_record)
            compare_record(item, got, record);
        else
            snprintf(item->problem, sizeof item->problem,
                     "more iterations ran than the %" PRIu64 " records expected", record);
    }
    return true;
}

/* ---- The end ---------------------------------------------------------------------------------- */

static bool finish_one(struct compare *compare, struct expectation *item, struct irrun_error *err)
{
    bool has_record;
    if (item->problem[0])
        return true;
    if (!item->is_open) {
        snprintf(item->problem, sizeof item->problem, "no iteration ran");
        return true;
    }
    bool is_single = item->feed.state == FEED_REPEATED;
    if (!feed_next(&item->feed, &has_record, err))
        return false;
    if (is_single)
        compare_record(item, &item->last, compare->n_iterations - 1);
    else if (has_record)
        snprintf(item->problem, sizeof item->problem,
                 "%" PRIu64 " iterations ran, and more records are expected",
                 compare->n_iterations);
    return true;
}

static void describe_worst(const struct expectation *item, enum irrun_dtype dtype,
                           struct irrun_error *err)
{
    const struct worst *worst = &item->worst;
    struct irrun_shape place = item->shape;
    size_t rest = worst->element;
    char got[TEXT_NUMBER_BYTES], want[TEXT_NUMBER_BYTES], where[SHAPE_TEXT_BYTES];
    for (uint32_t i = place.rank; i-- > 0;) {
        size_t length = (size_t)place.dims[i];
        place.dims[i] = (int64_t)(rest % length);
        rest /= length;
    }
    if (compares_exactly(item, dtype)) {
        snprintf(got, sizeof got, "%" PRId64, worst->got_whole);
        snprintf(want, sizeof want, "%" PRId64, worst->want_whole);
    } else if (dtype == IRRUN_F64 || !dtype_is_float(dtype)) {
        text_from_f64(worst->got, got);
        text_from_f64(worst->want, want);
    } else {
        text_from_f32((float)worst->got, got);
        text_from_f32((float)worst->want, want);
    }
    fail_more(err, "worst in record %" PRIu64 " at %s: got %s, expected %s", worst->record,
              shape_format(&place, where), got, want);
}

static void describe_item(const struct compare *compare, const struct expectation *item,
                          struct irrun_error *err)
{
    const char *name = irrun_model_output(compare->model, item->output)->name;
    fail_more(err, "\n  output \"%s\" (%s): ", name, item->path);
    if (item->problem[0]) {
        fail_more(err, "%s", item->problem);
        return;
    }
    describe_worst(item, item->dtype, err);
    fail_more(err, "; %" PRIu64 " of %" PRIu64 " elements differ", item->n_different,
              item->n_elements);
    if (compares_exactly(item, item->dtype))
        return;
    char atol[TEXT_NUMBER_BYTES], rtol[TEXT_NUMBER_BYTES];
    text_from_f64(item->atol, atol);
    text_from_f64(item->rtol, rtol);
    fail_more(err, " by more than atol %s, rtol %s", atol, rtol);
}

bool compare_finish(struct compare *compare, struct irrun_error *err)
{
    size_t n_different = 0;
    for (size_t i = 0; i < compare->n; i++) {
        struct expectation *item = &compare->items[i];
        if (!finish_one(compare, item, err))
            return false;
        n_different += item->problem[0] || item->n_different > 0;
    }
    if (n_different == 0)
        return true;
    fail(err, IRRUN_MISMATCH, "%zu of %zu outputs differ from what is expected", n_different,
         compare->n);
    for (size_t i = 0; i < compare->n; i++) {
        const struct expectation *item = &compare->items[i];
        if (item->problem[0] || item->n_different > 0)
            describe_item(compare, item, err);
    }
    return false;
}
