/* Computes the coordinates and weights of Interpolate for one axis at a time; every mode is
 * separable. The formulas are those of the specification of Interpolate-4; for the Pillow modes,
 * those of Pillow's resampling.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/interpolation.h"

#include <math.h>

/* Computes the input coordinate of the centre of output x. Mode nearest computes in float, like the
 * reference, since rounding affects which element is copied. */
#define COORDINATE(T, name)                                                                        \
    static T name(enum coordinate_mode mode, T x, T scale, T n_out, T n_in)                        \
    {                                                                                              \
        switch (mode) {                                                                            \
        case COORDINATE_PYTORCH_HALF_PIXEL:                                                        \
            return n_out > 1 ? (x + (T)0.5) / scale - (T)0.5 : 0;                                  \
        case COORDINATE_ASYMMETRIC:                                                                \
            return x / scale;                                                                      \
        case COORDINATE_TF_HALF_PIXEL_FOR_NN:                                                      \
            return (x + (T)0.5) / scale;                                                           \
        case COORDINATE_ALIGN_CORNERS:                                                             \
            return n_out > 1 ? x * (n_in - 1) / (n_out - 1) : 0;                                   \
        default:                                                                                   \
            return (x + (T)0.5) / scale - (T)0.5;                                                  \
        }                                                                                          \
    }

COORDINATE(float, coordinate_f32)
COORDINATE(double, coordinate_f64)

/* Returns whether output i has input coordinate i. */
static bool keeps_coordinates(const struct resized_axis *axis)
{
    return !axis->is_resized || axis->scale == 1.0f || axis->n_out == axis->n_padded;
}

/* Converts to an index. Coordinates are clamped, since they exceed int64 if the scale is close to
 * 0. */
static int64_t to_index(double x)
{
    const double far = 0x1p40;
    return (int64_t)(x < -far ? -far : x < far ? x : far);
}

static int64_t clamp_index(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* ---- nearest ------------------------------------------------------------------------------ */

static float round_to_nearest(enum nearest_mode mode, float x, bool is_downsampling)
{
    switch (mode) {
    case NEAREST_FLOOR:
        return floorf(x);
    case NEAREST_CEIL:
        return ceilf(x);
    case NEAREST_SIMPLE:
        return is_downsampling ? ceilf(x) : truncf(x);
    case NEAREST_ROUND_PREFER_CEIL:
        return roundf(x);
    default:
        return x == truncf(x) + 0.5f ? floorf(x) : roundf(x);
    }
}

int64_t nearest_source(const struct interpolation *method, const struct resized_axis *axis,
                       int64_t i)
{
    int64_t index = i;
    if (!keeps_coordinates(axis)) {
        float x = coordinate_f32(method->coordinate_mode, (float)i, axis->scale, (float)axis->n_out,
                                 (float)axis->n_padded);
        index = to_index((double)round_to_nearest(method->nearest_mode, x, axis->scale < 1));
    }
    index = clamp_index(index, axis->n_padded) - axis->pad_begin;
    return index >= 0 && index < axis->n_in ? index : -1;
}

/* ---- taps --------------------------------------------------------------------------------- */

/* Adds a tap on element i of the padded input, unless its weight is 0. */
static void add_tap(struct taps *taps, size_t *n, const struct resized_axis *axis, int64_t i,
                    double weight)
{
    i -= axis->pad_begin;
    if (weight == 0 || i < 0 || i >= axis->n_in)
        return;
    taps->index[*n] = (size_t)i;
    taps->weight[(*n)++] = weight;
}

/* Adds the two neighbours of x, which is clamped to the input, with linear weights. */
static void add_linear_onnx(struct taps *taps, size_t *n, const struct resized_axis *axis, double x)
{
    double last = (double)(axis->n_padded - 1);
    x = x < 0 ? 0 : x > last ? last : x;
    int64_t i = (int64_t)x;
    add_tap(taps, n, axis, i, 1 - (x - (double)i));
    add_tap(taps, n, axis, i + 1, x - (double)i);
}

/* Adds the four neighbours of x = floor(x) + s with cubic weights (Keys 1981; a is cube_coeff). */
static void add_cubic(struct taps *taps, size_t *n, const struct resized_axis *axis, double x,
                      double a)
{
    int64_t base = to_index(floor(x));
    double s = fabs(x) < 0x1p40 ? x - floor(x) : 0;
    const double weights[4] = {
        a * s * (s - 1) * (s - 1),
        ((a + 2) * s - (a + 3)) * s * s + 1,
        (((-a - 2) * s + (2 * a + 3)) * s - a) * s,
        -a * s * s * (s - 1),
    };
    for (int64_t k = 0; k < 4; k++)
        add_tap(taps, n, axis, clamp_index(base + k - 1, axis->n_padded), weights[k]);
}

/* Returns the value of the linear filter at x, which is 0 for |x| >= 1. */
static double triangle(double x)
{
    return fabs(x) < 1 ? 1 - fabs(x) : 0;
}

/* Returns the value of Pillow's cubic filter at x, which is 0 for |x| >= 2. */
static double cubic(double x, double a)
{
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* The elements first ... last that a filter covers. */
struct filter_span {
    int64_t first, last;
    double centre, filter_scale; /* the filter's argument is (i - centre) * filter_scale */
    bool is_cubic;
    double a;
};

/* Adds the elements of the span, with weights normalized to sum to 1. */
static void add_span(struct taps *taps, size_t *n, const struct resized_axis *axis,
                     const struct filter_span *span)
{
    int64_t first = clamp_index(span->first, axis->n_padded),
            last = clamp_index(span->last, axis->n_padded);
    double sum = 0;
    for (int pass = 0; pass < 2; pass++) { /* first the sum of the weights, then the taps */
        for (int64_t i = first; i <= last; i++) {
            double x = ((double)i - span->centre) * span->filter_scale;
            double weight = span->is_cubic ? cubic(x, span->a) : triangle(x);
            if (pass == 0)
                sum += weight;
            else if (sum != 0)
                add_tap(taps, n, axis, i, weight / sum);
        }
    }
}

/* Returns the elements that the filter of mode linear covers around x. */
static struct filter_span linear_span(const struct interpolation *method,
                                      const struct resized_axis *axis, double x)
{
    double scale = (double)axis->scale, filter_scale = method->is_antialiased ? scale : 1;
    double support = scale > 1 ? 2 : ceil(2 / filter_scale);
    return (struct filter_span){
        to_index(round(x) - support), to_index(round(x) + support), x, filter_scale, false, 0};
}

/* Returns the elements that the filter of a Pillow mode covers for output i. */
static struct filter_span pillow_span(const struct interpolation *method,
                                      const struct resized_axis *axis, int64_t i)
{
    bool is_cubic = method->mode == INTERPOLATION_BICUBIC_PILLOW;
    double scale = (double)axis->n_padded / (double)axis->n_out, stretch = scale < 1 ? 1 : scale;
    double support = (is_cubic ? 2 : 1) * stretch, centre = ((double)i + 0.5) * scale;
    double first = centre - support + 0.5, end = centre + support + 0.5;
    return (struct filter_span){first < 0 ? 0 : (int64_t)first,
                                (int64_t)end - 1,
                                centre - 0.5,
                                1 / stretch,
                                is_cubic,
                                method->cube_coeff};
}

/* Adds all taps of output i. */
static void add_output(const struct interpolation *method, const struct resized_axis *axis,
                       int64_t i, struct taps *taps, size_t *n)
{
    if (keeps_coordinates(axis) &&
        !(method->mode == INTERPOLATION_LINEAR && method->is_antialiased)) {
        add_tap(taps, n, axis, i, 1);
        return;
    }
    double x = keeps_coordinates(axis)
                   ? (double)i
                   : coordinate_f64(method->coordinate_mode, (double)i, (double)axis->scale,
                                    (double)axis->n_out, (double)axis->n_padded);
    if (method->mode == INTERPOLATION_LINEAR_ONNX) {
        add_linear_onnx(taps, n, axis, x);
    } else if (method->mode == INTERPOLATION_CUBIC) {
        add_cubic(taps, n, axis, x, method->cube_coeff);
    } else {
        struct filter_span span = method->mode == INTERPOLATION_LINEAR
                                      ? linear_span(method, axis, x)
                                      : pillow_span(method, axis, i);
        add_span(taps, n, axis, &span);
    }
}

/* Returns an upper bound of the number of taps per output: the width of the widest filter, 4,
 * stretched by the downsampling, and a margin for rounding at both ends. Only CUBIC uses an element
 * more than once. */
static int64_t max_taps(const struct interpolation *method, const struct resized_axis *axis)
{
    if (method->mode == INTERPOLATION_CUBIC)
        return 4;
    double stretch = 1;
    if (method->mode == INTERPOLATION_LINEAR && method->is_antialiased && axis->scale < 1)
        stretch = 1 / (double)axis->scale;
    else if (method->mode >= INTERPOLATION_BILINEAR_PILLOW && axis->n_out < axis->n_padded)
        stretch = (double)axis->n_padded / (double)axis->n_out;
    double n_taps = 4 * stretch + 4;
    return n_taps < (double)axis->n_in ? (int64_t)n_taps : axis->n_in;
}

bool make_taps(const struct interpolation *method, const struct resized_axis *axis,
               struct taps *taps, struct arena *arena, struct irrun_error *err)
{
    size_t n_out = (size_t)axis->n_out, n_max = (size_t)max_taps(method, axis), n = 0;
    taps->n_in = (size_t)axis->n_in;
    taps->n_out = n_out;
    if (n_max != 0 && n_out > SIZE_MAX / n_max)
        return fail_memory(err, SIZE_MAX);
    taps->first = arena_alloc_array(arena, n_out + 1, sizeof *taps->first, err);
    taps->index = arena_alloc_array(arena, n_out * n_max, sizeof *taps->index, err);
    taps->weight = arena_alloc_array(arena, n_out * n_max, sizeof *taps->weight, err);
    if (!taps->first || !taps->index || !taps->weight)
        return false;
    for (size_t i = 0; i < n_out; i++) {
        taps->first[i] = n;
        add_output(method, axis, (int64_t)i, taps, &n);
    }
    taps->first[n_out] = n;
    return true;
}
