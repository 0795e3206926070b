/* Computes the biases of pixels at the borders of the image.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/int8_borders.h"

#include "base/checked.h"

/* Along one dimension, taps first … end - 1 of an output position are inside the image. */
struct span {
    int64_t first, end;
};

static struct span find_span(const struct window *window, int d, int64_t o)
{
    struct span span;
    window_inside(window, d, o, &span.first, &span.end);
    return span;
}

bool int8_exceeds_image(const struct window *window, int d)
{
    for (int64_t o = 0; o < window->out[d]; o++) {
        struct span span = find_span(window, d, o);
        if (span.end - span.first < window->kernel[d])
            return true;
    }
    return false;
}

/* Numbers the classes along dimension d: consecutive positions with the same taps inside the image
 * form a class. */
static bool find_classes(struct prepare *prepare, const struct window *window, int d,
                         struct int8_borders *borders, struct span **spans)
{
    size_t n = (size_t)window->out[d], n_classes = 0;
    uint32_t *classes = arena_alloc_array(prepare->arena, n, sizeof *classes, prepare->err);
    *spans = arena_alloc_array(prepare->arena, n, sizeof **spans, prepare->err);
    if (!classes || !*spans)
        return false;
    for (size_t o = 0; o < n; o++) {
        struct span span = find_span(window, d, (int64_t)o), *last = *spans + n_classes - 1;
        if (n_classes == 0 || last->first != span.first || last->end != span.end)
            (*spans)[n_classes++] = span;
        classes[o] = (uint32_t)n_classes - 1;
    }
    borders->classes[d - 1] = classes;
    borders->n_classes[d - 1] = n_classes;
    return true;
}

/* Computes the biases for one class of rows, with the taps y inside the image, and one class of
 * columns, with the taps x. */
static void compute_biases(const struct window *window, const struct border_terms *terms,
                           struct span y, struct span x, float *biases, size_t n_channels)
{
    size_t width = (size_t)window->kernel[2] + 1;
    const int32_t *above = terms->sums + (size_t)y.first * width * n_channels,
                  *below = terms->sums + (size_t)y.end * width * n_channels;
    size_t left = (size_t)x.first * n_channels, right = (size_t)x.end * n_channels;
    for (size_t c = 0; c < n_channels; c++) {
        int64_t sum = (int64_t)below[right + c] - below[left + c] - above[right + c];
        biases[c] = (float)(terms->scale[c] * (double)(sum + above[left + c]) + terms->shift[c]);
    }
}

bool int8_borders_plan(struct prepare *prepare, const struct window *window,
                       const struct border_terms *terms, size_t n_channels,
                       struct int8_borders *borders)
{
    struct span *rows, *columns;
    size_t n, n_classes;
    *borders = (struct int8_borders){.n_channels = n_channels};
    if (!terms->sums || (!int8_exceeds_image(window, 1) && !int8_exceeds_image(window, 2)))
        return true;
    if (!find_classes(prepare, window, 1, borders, &rows) ||
        !find_classes(prepare, window, 2, borders, &columns))
        return false;
    if (!checked_mul(borders->n_classes[0], borders->n_classes[1], &n_classes) ||
        !checked_mul(n_classes, n_channels, &n))
        return fail_memory(prepare->err, SIZE_MAX);
    float *biases = arena_alloc_array(prepare->arena, n, sizeof *biases, prepare->err);
    for (size_t i = 0; biases && i < n_classes; i++)
        compute_biases(window, terms, rows[i / borders->n_classes[1]],
                       columns[i % borders->n_classes[1]], biases + i * n_channels, n_channels);
    borders->biases = biases;
    return biases != NULL;
}
