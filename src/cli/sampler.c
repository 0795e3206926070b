/* Draws an index from a row of logits. Uses its own exponential function, so that results do not
 * depend on libm.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/sampler.h"

#include <math.h>
#include <stdlib.h>

void sampler_free(struct sampler *sampler)
{
    free(sampler->row);
    free(sampler->heap);
    *sampler = (struct sampler){.row = NULL};
}

#define INVERSE(factorial) (1.0 / (factorial))

/* Returns e^x for x <= 0, as 2^k e^r with |r| <= ln(2) / 2. The first omitted term of the series,
 * r^15 / 15!, is below 2^-63. */
static double natural_exp(double x)
{
    static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
    static const double coefficients[] = {
        INVERSE(1),         INVERSE(1),          INVERSE(2),          INVERSE(6),
        INVERSE(24),        INVERSE(120),        INVERSE(720),        INVERSE(5040),
        INVERSE(40320),     INVERSE(362880),     INVERSE(3628800),    INVERSE(39916800),
        INVERSE(479001600), INVERSE(6227020800), INVERSE(87178291200)};
    if (x < -745)
        return 0;
    double k = floor(x * 0x1.71547652b82fep+0 + 0.5), r = x - k * ln2_high - k * ln2_low;
    double sum = 0;
    for (int i = 14; i >= 0; i--)
        sum = sum * r + coefficients[i];
    return ldexp(sum, (int)k);
}

/* Returns the weight of a logit, e^((x - largest) / temperature). */
static double weight_of(double x, double largest, double temperature)
{
    return x == largest ? 1 : natural_exp((x - largest) / temperature); /* or both are infinite */
}

/* Reads the row, replaces NaN with -inf, and returns the largest logit. */
static double read_logits(double *row, const struct irrun_tensor *logits, size_t start, size_t n)
{
    double largest = -INFINITY;
    convert_elements(logits->dtype, tensor_at(logits, start), IRRUN_F64, row, n);
    for (size_t i = 0; i < n; i++) {
        row[i] = row[i] >= -INFINITY ? row[i] : -INFINITY;
        largest = row[i] > largest ? row[i] : largest;
    }
    return largest;
}

/* ---- Top-k and top-p ------------------------------------------------------------------------- */

/* The order of the heap: larger logits first; of equal logits, the lower index first. */
static bool comes_first(const double *row, size_t a, size_t b)
{
    return row[a] > row[b] || (row[a] == row[b] && a < b);
}

/* Moves item i of a heap of n indices down to its place. */
static void sift_down(size_t *heap, size_t n, size_t i, const double *row)
{
    size_t moved = heap[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && comes_first(row, heap[child + 1], heap[child]))
            child++;
        if (!comes_first(row, heap[child], moved))
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

static void make_heap(size_t *heap, size_t n, const double *row)
{
    for (size_t i = 0; i < n; i++)
        heap[i] = i;
    for (size_t i = n / 2; i-- > 0;)
        sift_down(heap, n, i, row);
}

/* Removes the first item of the heap: moves it to index n - 1, which then no longer belongs to the
 * heap. */
static size_t pop(size_t *heap, size_t n, const double *row)
{
    size_t first = heap[0];
    heap[0] = heap[n - 1];
    heap[n - 1] = first;
    sift_down(heap, n - 1, 0, row);
    return first;
}

/* Finds the indices that top-k and top-p keep, and returns their number. They are at the end of
 * `heap`, the index of the largest logit last. Their weights replace their logits in `row`. */
static size_t keep_largest(size_t *heap, double *row, size_t n, const struct sampling *sampling,
                           double largest)
{
    bool is_limited = sampling->top_k > 0 && sampling->top_k < n;
    size_t n_most = is_limited ? (size_t)sampling->top_k : n, n_popped = 0, n_kept = 0;
    double total = 0, sum = 0;
    for (size_t i = 0; i < n && !is_limited; i++)
        total += row[i] = weight_of(row[i], largest, sampling->temperature);
    make_heap(heap, n, row);
    for (; is_limited && n_popped < n_most; n_popped++) {
        size_t i = pop(heap, n - n_popped, row);
        total += row[i] = weight_of(row[i], largest, sampling->temperature);
    }
    while (n_kept < n_most && sum < sampling->top_p * total) {
        if (n_kept == n_popped)
            pop(heap, n - n_popped++, row);
        sum += row[heap[n - ++n_kept]];
    }
    return n_kept;
}

/* ---- Drawing --------------------------------------------------------------------------------- */

/* Returns the first index at which the running sum of weights exceeds `unit` times their total. The
 * indices are the last n_kept items of `order`, from the end; if `order` is NULL, all n indices. */
static int64_t draw(const double *row, const size_t *order, size_t n, size_t n_kept, double unit)
{
    double sum = 0;
    int64_t index = 0;
    for (size_t i = 0; i < n_kept; i++)
        sum += row[order ? order[n - 1 - i] : i];
    double rest = unit * sum;
    for (size_t i = 0; i < n_kept && rest >= 0; i++) {
        size_t candidate = order ? order[n - 1 - i] : i;
        rest -= row[candidate];
        if (row[candidate] > 0)
            index = (int64_t)candidate;
    }
    return index;
}

bool sampler_draw(struct sampler *sampler, const struct sampling *sampling,
                  const struct irrun_tensor *logits, size_t start, size_t n, double unit,
                  int64_t *index, struct irrun_error *err)
{
    bool keeps_all = sampling->top_k == 0 && sampling->top_p == 1;
    if (!reserve_array((void **)&sampler->row, n, &sampler->capacity, sizeof(double), err) ||
        !reserve_array((void **)&sampler->heap, n, &sampler->heap_capacity, sizeof(size_t), err))
        return false;
    double *row = sampler->row, largest = read_logits(row, logits, start, n);
    if (largest == -INFINITY)
        return fail(err, IRRUN_DATA, "all logits are nan or -inf");
    for (size_t i = 0; i < n && keeps_all; i++)
        row[i] = weight_of(row[i], largest, sampling->temperature);
    size_t n_kept = keeps_all ? n : keep_largest(sampler->heap, row, n, sampling, largest);
    *index = draw(row, keeps_all ? NULL : sampler->heap, n, n_kept, unit);
    return true;
}
