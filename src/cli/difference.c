/* Compares tensors. An element is correct if abs(got - want) <= atol + rtol * abs(want). NaN equals
 * NaN. Integers and booleans are never converted to double: without a tolerance they must be equal;
 * with a tolerance, their difference is computed exactly.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/difference.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/bind.h"

struct tolerances tolerances_of(const struct irrun_model *model, const struct options *options,
                                size_t output)
{
    const struct tolerance *atol =
        named_find(NAMED_LIST(options->atols), model, irrun_model_find_output, output);
    const struct tolerance *rtol =
        named_find(NAMED_LIST(options->rtols), model, irrun_model_find_output, output);
    return (struct tolerances){.atol = atol ? atol->value : DEFAULT_ATOL,
                               .rtol = rtol ? rtol->value : DEFAULT_RTOL,
                               .has_atol = atol != NULL,
                               .has_rtol = rtol != NULL};
}

static void note_difference(struct difference *difference, const struct worst_element *found)
{
    const struct worst_element *worst = &difference->worst;
    if (difference->n_different++ == 0 || found->ratio > worst->ratio ||
        (found->ratio == worst->ratio && found->distance > worst->distance))
        difference->worst = *found;
}

/* A range of elements in two tensors of the same shape. */
struct piece {
    const struct irrun_tensor *got, *want;
    uint64_t record;
    size_t start, n; /* elements */
};

#define N_BLOCK 256

/* Converts the elements of both tensors to a 64-bit type. */
static void load_piece(const struct piece *piece, enum irrun_dtype wide, void *got, void *want)
{
    convert_elements(piece->got->dtype, tensor_at(piece->got, piece->start), wide, got, piece->n);
    convert_elements(piece->want->dtype, tensor_at(piece->want, piece->start), wide, want,
                     piece->n);
}

static struct worst_element worst_element_at(const struct piece *piece, size_t i, double distance,
                                             double allowed)
{
    double ratio = isfinite(distance) ? distance / fmax(allowed, DBL_MIN) : INFINITY;
    return (struct worst_element){.ratio = ratio,
                                  .distance = isnan(distance) ? INFINITY : distance,
                                  .record = piece->record,
                                  .element = piece->start + i,
                                  .dtype = piece->want->dtype,
                                  .shape = piece->got->shape};
}

static void compare_floats(struct difference *difference, const struct tolerances *tolerances,
                           const struct piece *piece)
{
    double got[N_BLOCK], want[N_BLOCK];
    load_piece(piece, IRRUN_F64, got, want);
    for (size_t i = 0; i < piece->n; i++) {
        double g = got[i], w = want[i];
        double allowed = tolerances->atol + tolerances->rtol * fabs(w), distance = fabs(g - w);
        if (g == w || (isnan(g) && isnan(w)) || (isfinite(w) && distance <= allowed))
            continue;
        struct worst_element found = worst_element_at(piece, i, distance, allowed);
        found.got.real = g;
        found.want.real = w;
        note_difference(difference, &found);
    }
}

static bool is_below(uint64_t a, uint64_t b, bool is_signed)
{
    return is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* Returns whether an integer may differ by `distance`. A long double of 80 bits or more represents
 * every 64-bit integer. */
static bool is_allowed(uint64_t distance, long double allowed)
{
    return distance == 0 || allowed >= 0x1p64L || (allowed >= 0 && distance <= (uint64_t)allowed);
}

/* Compares integers as i64 if their type is signed, otherwise as u64. Their difference always fits
 * in u64. */
static void compare_integers(struct difference *difference, const struct tolerances *tolerances,
                             const struct piece *piece)
{
    uint64_t got[N_BLOCK], want[N_BLOCK];
    long double atol = tolerances->has_atol ? tolerances->atol : 0;
    long double rtol = tolerances->has_rtol ? tolerances->rtol : 0;
    bool is_signed = dtype_is_signed(piece->want->dtype);
    load_piece(piece, is_signed ? IRRUN_I64 : IRRUN_U64, got, want);
    for (size_t i = 0; i < piece->n; i++) {
        uint64_t g = got[i], w = want[i];
        uint64_t distance = is_below(g, w, is_signed) ? w - g : g - w;
        uint64_t magnitude = is_below(w, 0, is_signed) ? 0 - w : w;
        long double allowed = atol + rtol * (long double)magnitude;
        if (is_allowed(distance, allowed))
            continue;
        struct worst_element found = worst_element_at(piece, i, (double)distance, (double)allowed);
        found.got.integer = g;
        found.want.integer = w;
        note_difference(difference, &found);
    }
}

static bool is_integral(enum irrun_dtype stored)
{
    return dtype_is_integer(stored) || stored == IRRUN_BOOLEAN;
}

void difference_add(struct difference *difference, const struct tolerances *tolerances,
                    const struct irrun_tensor *got, const struct irrun_tensor *want,
                    uint64_t record)
{
    size_t n = (size_t)shape_n_elements(&got->shape);
    difference->n_elements += n;
    if (want->dtype == got->dtype && memcmp(got->data, want->data, n * dtype_size(got->dtype)) == 0)
        return;
    for (size_t start = 0; start < n; start += N_BLOCK) {
        size_t n_now = n - start < N_BLOCK ? n - start : N_BLOCK;
        const struct piece piece = {got, want, record, start, n_now};
        if (is_integral(want->dtype))
            compare_integers(difference, tolerances, &piece);
        else
            compare_floats(difference, tolerances, &piece);
    }
}

bool difference_fails(const struct difference *difference, const struct options *options)
{
    return (double)difference->n_different > options->outliers * (double)difference->n_elements;
}

/* ---- Report ---------------------------------------------------------------------------------- */

static void format_value(enum irrun_dtype dtype, union element_value value,
                         char text[TEXT_NUMBER_BYTES])
{
    if (dtype_is_signed(dtype))
        snprintf(text, TEXT_NUMBER_BYTES, "%" PRId64, (int64_t)value.integer);
    else if (is_integral(dtype))
        snprintf(text, TEXT_NUMBER_BYTES, "%" PRIu64, value.integer);
    else if (dtype != IRRUN_F64)
        text_from_f32((float)value.real, text);
    else
        text_from_f64(value.real, text);
}

void difference_describe(const struct difference *difference, const struct tolerances *tolerances,
                         struct irrun_error *err)
{
    const struct worst_element *worst = &difference->worst;
    struct irrun_shape place = shape_unravel(&worst->shape, worst->element);
    char got[TEXT_NUMBER_BYTES], want[TEXT_NUMBER_BYTES], where[SHAPE_TEXT_BYTES];
    format_value(worst->dtype, worst->got, got);
    format_value(worst->dtype, worst->want, want);
    fail_append(err,
                "worst in record %" PRIu64 " at %s: got %s, expected %s; %" PRIu64 " of %" PRIu64
                " elements differ",
                worst->record, shape_format(&place, where), got, want, difference->n_different,
                difference->n_elements);
    bool uses_defaults = !is_integral(worst->dtype);
    if (!uses_defaults && !tolerances->has_atol && !tolerances->has_rtol)
        return;
    text_from_f64(uses_defaults || tolerances->has_atol ? tolerances->atol : 0, got);
    text_from_f64(uses_defaults || tolerances->has_rtol ? tolerances->rtol : 0, want);
    fail_append(err, " by more than atol %s, rtol %s", got, want);
}

bool difference_hint(const struct options *options, bool has_tolerance, const char *more,
                     struct irrun_error *err)
{
    if (options->dynamic_quantization)
        return fail_hint(
            err, "--dynamic-quantization rounds inputs of MatMul: if the run passes without "
                 "it, --atol and --rtol can allow for the rounding");
    if (options->precision == IRRUN_PRECISION_F32)
        return !has_tolerance &&
               fail_hint(err, "--atol=NUMBER and --rtol=NUMBER allow larger differences%s", more);
    return fail_hint(err,
                     "--precision=%s rounds weights: if --precision=f32 passes, --atol and --rtol "
                     "can allow for the rounding",
                     options->precision == IRRUN_PRECISION_F16 ? "f16" : "bf16");
}

static void report_value(struct json *json, const char *key, enum irrun_dtype dtype,
                         union element_value value)
{
    if (dtype_is_signed(dtype))
        json_integer(json, key, (int64_t)value.integer);
    else if (is_integral(dtype))
        json_count(json, key, value.integer);
    else
        json_number(json, key, value.real);
}

void difference_report(const struct difference *difference, struct json *json)
{
    const struct worst_element *worst = &difference->worst;
    struct irrun_shape place = shape_unravel(&worst->shape, worst->element);
    if (difference->n_different == 0) {
        json_string(json, "worst", NULL);
        return;
    }
    json_open(json, "worst", '{');
    json_count(json, "record", worst->record);
    json_open(json, "index", '[');
    for (uint32_t i = 0; i < place.rank; i++)
        json_count(json, NULL, (uint64_t)place.dims[i]);
    json_close(json, ']');
    report_value(json, "got", worst->dtype, worst->got);
    report_value(json, "want", worst->dtype, worst->want);
    json_close(json, '}');
}
