/* abs(got - want) <= atol + rtol * abs(want) for every element; NaN equals NaN; integers and
 * booleans are equal or not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/difference.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void note_difference(struct difference *difference, const struct worst *found)
{
    if (difference->n_different++ == 0 || found->ratio > difference->worst.ratio)
        difference->worst = *found;
}

#define N_BLOCK 256

static void compare_floats(struct difference *difference, const struct tolerances *tolerances,
                           const struct irrun_tensor *got, const struct irrun_tensor *want,
                           uint64_t record, size_t n)
{
    double got_block[N_BLOCK], want_block[N_BLOCK];
    for (size_t start = 0; start < n; start += N_BLOCK) {
        size_t n_now = n - start < N_BLOCK ? n - start : N_BLOCK;
        convert_elements(got->dtype, (char *)got->data + start * dtype_size(got->dtype), IRRUN_F64,
                         got_block, n_now);
        convert_elements(want->dtype, (char *)want->data + start * dtype_size(want->dtype),
                         IRRUN_F64, want_block, n_now);
        for (size_t i = 0; i < n_now; i++) {
            double g = got_block[i], w = want_block[i];
            double allowed = tolerances->atol + tolerances->rtol * fabs(w), off = fabs(g - w);
            if (g == w || (isnan(g) && isnan(w)) || (isfinite(w) && off <= allowed))
                continue;
            double ratio = isnan(off) ? INFINITY : off / fmax(allowed, DBL_MIN);
            note_difference(difference, &(struct worst){.ratio = ratio,
                                                        .record = record,
                                                        .element = start + i,
                                                        .dtype = got->dtype,
                                                        .shape = got->shape,
                                                        .got = g,
                                                        .want = w});
        }
    }
}

static void compare_wholes(struct difference *difference, const struct irrun_tensor *got,
                           const struct irrun_tensor *want, uint64_t record, size_t n)
{
    bool is_boolean = got->dtype == IRRUN_BOOLEAN;
    for (size_t i = 0; i < n; i++) {
        int64_t g = element_as_i64(got->dtype, got->data, i);
        int64_t w = element_as_i64(want->dtype, want->data, i);
        if (g == w || (is_boolean && (g != 0) == (w != 0)))
            continue;
        note_difference(difference, &(struct worst){.ratio = fabs((double)g - (double)w),
                                                    .record = record,
                                                    .element = i,
                                                    .dtype = got->dtype,
                                                    .shape = got->shape,
                                                    .got_whole = g,
                                                    .want_whole = w});
    }
}

bool difference_is_exact(const struct tolerances *tolerances, enum irrun_dtype dtype)
{
    return (dtype_is_integer(dtype) || dtype == IRRUN_BOOLEAN) && !tolerances->has_tolerance;
}

void difference_add(struct difference *difference, const struct tolerances *tolerances,
                    const struct irrun_tensor *got, const struct irrun_tensor *want,
                    uint64_t record)
{
    size_t n = (size_t)shape_n_elements(&got->shape);
    difference->n_elements += n;
    if (want->dtype == got->dtype && memcmp(got->data, want->data, n * dtype_size(got->dtype)) == 0)
        return;
    if (difference_is_exact(tolerances, got->dtype))
        compare_wholes(difference, got, want, record, n);
    else
        compare_floats(difference, tolerances, got, want, record, n);
}

/* ---- Telling --------------------------------------------------------------------------------- */

/* Where the worst element lies in its tensor. */
static struct irrun_shape find_place(const struct worst *worst)
{
    struct irrun_shape place = worst->shape;
    size_t rest = worst->element;
    for (uint32_t i = place.rank; i-- > 0;) {
        size_t length = (size_t)place.dims[i];
        place.dims[i] = (int64_t)(rest % length);
        rest /= length;
    }
    return place;
}

static void format_value(enum irrun_dtype dtype, double value, char text[TEXT_NUMBER_BYTES])
{
    if (dtype_is_float(dtype) && dtype != IRRUN_F64)
        text_from_f32((float)value, text);
    else
        text_from_f64(value, text);
}

void difference_describe(const struct difference *difference, const struct tolerances *tolerances,
                         struct irrun_error *err)
{
    const struct worst *worst = &difference->worst;
    struct irrun_shape place = find_place(worst);
    bool is_exact = difference_is_exact(tolerances, worst->dtype);
    char got[TEXT_NUMBER_BYTES], want[TEXT_NUMBER_BYTES], where[SHAPE_TEXT_BYTES];
    format_value(worst->dtype, worst->got, got);
    format_value(worst->dtype, worst->want, want);
    if (is_exact) {
        snprintf(got, sizeof got, "%" PRId64, worst->got_whole);
        snprintf(want, sizeof want, "%" PRId64, worst->want_whole);
    }
    fail_more(err,
              "worst in record %" PRIu64 " at %s: got %s, expected %s; %" PRIu64 " of %" PRIu64
              " elements differ",
              worst->record, shape_format(&place, where), got, want, difference->n_different,
              difference->n_elements);
    if (is_exact)
        return;
    format_value(IRRUN_F64, tolerances->atol, got);
    format_value(IRRUN_F64, tolerances->rtol, want);
    fail_more(err, " by more than atol %s, rtol %s", got, want);
}

void difference_report(const struct difference *difference, struct json *json)
{
    const struct worst *worst = &difference->worst;
    struct irrun_shape place = find_place(worst);
    if (difference->n_different == 0) {
        json_string(json, "worst", NULL);
        return;
    }
    bool is_whole = worst->got == 0 && worst->want == 0;
    json_open(json, "worst", '{');
    json_count(json, "record", worst->record);
    json_open(json, "index", '[');
    for (uint32_t i = 0; i < place.rank; i++)
        json_count(json, NULL, (uint64_t)place.dims[i]);
    json_close(json, ']');
    json_number(json, "got", is_whole ? (double)worst->got_whole : worst->got);
    json_number(json, "want", is_whole ? (double)worst->want_whole : worst->want);
    json_close(json, '}');
}
