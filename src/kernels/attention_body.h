/* The loops of attention for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h instead"
#endif

static void NAME(mask_row)(const struct attention_rows *r, size_t row, T *scores)
{
    T scale = (T)r->scale;
    const T *added = r->mask;
    const unsigned char *allowed = r->mask;
    size_t first = row * r->mask_row_stride, step = r->mask_stride;
    for (size_t i = 0; i < r->n; i++)
        scores[i] *= scale;
    if (r->kind == ATTENTION_ADDITIVE)
        for (size_t i = 0; i < r->n; i++)
            scores[i] += added[first + i * step];
    if (r->kind == ATTENTION_BOOLEAN)
        for (size_t i = 0; i < r->n; i++)
            scores[i] = allowed[first + i * step] ? scores[i] : -(T)INFINITY;
    if (r->kind == ATTENTION_CAUSAL)
        for (size_t i = r->first_row + row + 1; i < r->n; i++)
            scores[i] = -(T)INFINITY;
}

/* Returns whether the mask hides all columns of a row. */
static bool NAME(is_hidden)(const struct attention_rows *r, size_t row)
{
    const T *added = r->mask;
    const unsigned char *allowed = r->mask;
    size_t at = row * r->mask_row_stride;
    for (size_t i = 0; i < r->n; i++, at += r->mask_stride)
        if (r->kind == ATTENTION_ADDITIVE ? added[at] != -(T)INFINITY
                                          : r->kind != ATTENTION_BOOLEAN || allowed[at])
            return false;
    return true;
}

/* Sets hidden rows, which the softmax made NaN, to zeros. */
static void NAME(zero_hidden)(const struct attention_rows *r, T *weights)
{
    for (size_t row = 0; row < r->n_rows; row++, weights += r->n)
        if (r->n > 0 && isnan(weights[0]) && NAME(is_hidden)(r, row))
            memset(weights, 0, r->n * sizeof *weights);
}

static void NAME(attention)(const struct attention_rows *r, void *all_scores)
{
    for (size_t row = 0; row < r->n_rows; row++) {
        T *scores = (T *)all_scores + row * r->n, highest = -(T)INFINITY;
        double sum = 0;
        NAME(mask_row)(r, row, scores);
        if (r->sink)
            highest = ((const T *)r->sink)[row * r->sink_row_stride];
        T sink = highest;
        for (size_t i = 0; i < r->n; i++)
            highest = scores[i] > highest ? scores[i] : highest;
        if (r->sink)
            sum = exp(sink - highest);
        for (size_t i = 0; i < r->n; i++) {
            scores[i] = exp(scores[i] - highest);
            sum += scores[i];
        }
        for (size_t i = 0; i < r->n; i++)
            scores[i] = (T)(scores[i] / sum);
    }
    NAME(zero_hidden)(r, all_scores);
}
