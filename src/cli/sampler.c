/* Draws an index from a row of logits. The exponential function is its own: the bytes do not depend
 * on libm.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/sampler.h"

#include <math.h>
#include <stdlib.h>

void sampler_free(struct sampler *sampler)
{
    free(sampler->weights);
    free(sampler->heap);
    *sampler = (struct sampler){.weights = NULL};
}

/* Returns e^x for x <= 0. x = k ln 2 + r with |r| <= ln(2) / 2; the first term of the series that
 * is left out, r^15 / 15!, is below 2^-63. */
static double natural_exp(double x)
{
    static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
    if (x < -745)
        return 0;
    double k = floor(x * 0x1.71547652b82fep+0 + 0.5), r = x - k * ln2_high - k * ln2_low, sum = 1;
    for (int i = 14; i >= 1; i--)
        sum = 1 + sum * r / i;
    return ldexp(sum, (int)k);
}

/* Computes the weights: the exponentials of (x - largest) / T. NaN has none. */
static bool find_weights(double *weights, const struct sampling *sampling,
                         const struct irrun_tensor *logits, size_t start, size_t n)
{
    double largest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        weights[i] = element_as_f64(logits->dtype, logits->data, start + i);
        if (weights[i] > largest)
            largest = weights[i];
    }
    for (size_t i = 0; i < n; i++) {
        if (weights[i] == largest)
            weights[i] = 1; /* also where both are infinite */
        else
            weights[i] = weights[i] < largest
                             ? natural_exp((weights[i] - largest) / sampling->temperature)
                             : 0;
    }
    return largest > -INFINITY;
}

/* ---- The largest weights --------------------------------------------------------------------- */

static bool comes_first(const double *weights, size_t a, size_t b)
{
    return weights[a] > weights[b] || (weights[a] == weights[b] && a < b);
}

/* Moves item i of a heap of n indices down to its place. */
static void sift_down(size_t *heap, size_t n, size_t i, const double *weights)
{
    size_t moved = heap[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && comes_first(weights, heap[child + 1], heap[child]))
            child++;
        if (!comes_first(weights, heap[child], moved))
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

static void make_heap(size_t *heap, size_t n, const double *weights)
{
    for (size_t i = 0; i < n; i++)
        heap[i] = i;
    for (size_t i = n / 2; i-- > 0;)
        sift_down(heap, n, i, weights);
}

/* Takes the first item off the heap and puts it behind the others. */
static size_t pop(size_t *heap, size_t n, const double *weights)
{
    size_t first = heap[0];
    heap[0] = heap[n - 1];
    heap[n - 1] = first;
    sift_down(heap, n - 1, 0, weights);
    return first;
}

/* Finds the indices that top-k and top-p keep. They are at the end of the heap, the largest weight
 * last. Returns their number. */
static size_t keep_largest(size_t *heap, size_t n, const struct sampling *sampling,
                           const double *weights)
{
    bool is_limited = sampling->top_k > 0 && sampling->top_k < n;
    size_t n_most = is_limited ? (size_t)sampling->top_k : n, n_popped = 0, n_kept = 0;
    double total = 0, sum = 0;
    make_heap(heap, n, weights);
    for (; is_limited && n_popped < n_most; n_popped++)
        total += weights[pop(heap, n - n_popped, weights)];
    for (size_t i = 0; i < n && !is_limited; i++)
        total += weights[i];
    while (n_kept < n_most && sum < sampling->top_p * total) {
        if (n_kept == n_popped)
            pop(heap, n - n_popped++, weights);
        sum += weights[heap[n - ++n_kept]];
    }
    return n_kept;
}

/* ---- The draw -------------------------------------------------------------------------------- */

bool sampler_draw(struct sampler *sampler, const struct sampling *sampling,
                  const struct irrun_tensor *logits, size_t start, size_t n, double unit,
                  int64_t *index, struct irrun_error *err)
{
    bool keeps_all = sampling->top_k == 0 && sampling->top_p == 1;
    if (!reserve_array((void **)&sampler->weights, n, &sampler->capacity, sizeof(double), err) ||
        !reserve_array((void **)&sampler->heap, n, &sampler->heap_capacity, sizeof(size_t), err))
        return false;
    double *weights = sampler->weights, sum = 0, rest;
    size_t *heap = sampler->heap;
    if (!find_weights(weights, sampling, logits, start, n))
        return fail(err, IRRUN_DATA, "all logits are nan or -inf");
    size_t n_kept = keeps_all ? n : keep_largest(heap, n, sampling, weights);
    for (size_t i = 0; i < n_kept; i++)
        sum += weights[keeps_all ? i : heap[n - 1 - i]];
    rest = unit * sum;
    for (size_t i = 0; i < n_kept && rest >= 0; i++) {
        size_t candidate = keeps_all ? i : heap[n - 1 - i];
        rest -= weights[candidate];
        if (weights[candidate] > 0)
            *index = (int64_t)candidate;
    }
    return true;
}
