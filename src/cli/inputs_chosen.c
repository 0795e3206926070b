/* Chooses the indices that become the next value of an input, for --feed=OUT=IN:argmax and :sample.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fast_hash.h"
#include "cli/inputs_internal.h"

#define N_BLOCK 512

/* Returns the index of the largest of n elements; of equal elements, the first. NaN is less than
 * any number. */
static size_t argmax_of_floats(const struct irrun_tensor *values, size_t start, size_t n)
{
    double block[N_BLOCK], maximum = NAN;
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        if (i % N_BLOCK == 0)
            convert_elements(values->dtype, tensor_at(values, start + i), IRRUN_F64, block,
                             n - i < N_BLOCK ? n - i : N_BLOCK);
        double value = block[i % N_BLOCK];
        if (i > 0 && !(value > maximum) && (maximum == maximum || value != value))
            continue;
        best = i;
        maximum = value;
    }
    return best;
}

/* Does the same for i64 and u64, whose values double cannot always represent. */
static size_t argmax_of_integers(const struct irrun_tensor *values, size_t start, size_t n)
{
    const uint64_t *numbers = tensor_at(values, start);
    uint64_t sign = values->dtype == IRRUN_I64 ? (uint64_t)1 << 63 : 0;
    size_t best = 0;
    for (size_t i = 1; i < n; i++) {
        if ((numbers[i] ^ sign) > (numbers[best] ^ sign))
            best = i;
    }
    return best;
}

static int64_t argmax(const struct irrun_tensor *values, size_t start, size_t n)
{
    bool is_integer = values->dtype == IRRUN_I64 || values->dtype == IRRUN_U64;
    return (int64_t)(is_integer ? argmax_of_integers : argmax_of_floats)(values, start, n);
}

/* Returns the shape of an input of n elements. The first dynamic dimension of the port is n divided
 * by the product of the static ones; further dynamic dimensions are 1. */
static struct irrun_shape shape_for(const struct irrun_partial_shape *wanted, int64_t n)
{
    struct irrun_shape shape = {.rank = 1, .dims = {n}};
    bool are_known = true; /* the dimensions before i */
    if (wanted->is_rank_dynamic)
        return shape;
    shape.rank = wanted->rank;
    for (uint32_t i = 0; i < wanted->rank; i++) {
        bool is_known = wanted->min[i] == wanted->max[i];
        shape.dims[i] = is_known ? wanted->min[i] : 1;
    }
    int64_t n_others = shape_n_elements(&shape);
    for (uint32_t i = 0; i < wanted->rank && are_known; i++) {
        are_known = wanted->min[i] == wanted->max[i];
        if (!are_known && n_others > 0)
            shape.dims[i] = n / n_others;
    }
    return shape;
}

/* The rows of an output from which indices are chosen: n rows of n_row elements. In an output of
 * shape [..., n_positions, n_row], these are the rows of the last position. */
struct output_rows {
    int64_t n, n_row, n_positions;
};

static struct output_rows find_rows(const struct irrun_shape *shape)
{
    uint32_t rank = shape->rank;
    struct output_rows rows = {.n_row = rank > 0 ? shape->dims[rank - 1] : 1,
                               .n_positions = rank > 2 ? shape->dims[rank - 2] : 1};
    int64_t n = rows.n_row * rows.n_positions;
    rows.n = n > 0 ? shape_n_elements(shape) / n : 0;
    return rows;
}

bool inputs_check_choice(const struct inputs *inputs, const struct feed *feed,
                         const struct irrun_tensor *output, struct irrun_shape *shape,
                         struct irrun_error *err)
{
    const struct records_port read = inputs_port(inputs, feed->input);
    const struct records_port port = inputs_fed_port(inputs, feed->input);
    char found[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
    int64_t n = find_rows(&output->shape).n;
    *shape = shape_for(&read.shape, n);
    if (shape_n_elements(shape) != n)
        *shape = shape_for(&port.shape, n);
    return (n > 0 && shape_n_elements(shape) == n) ||
           fail(err, IRRUN_DATA,
                "--feed: output \"%s\" %s has %" PRId64
                " row%s, and each gives one index, but input "
                "\"%s\" is %s",
                irrun_model_output(inputs->model, feed->output)->name,
                shape_format(&output->shape, found), n, n == 1 ? "" : "s", port.name,
                partial_shape_format(&port.shape, wanted));
}

static bool allocate_indices(struct inputs *inputs, struct feed *feed,
                             const struct irrun_tensor *output, struct irrun_error *err)
{
    const struct records_port port = inputs_port(inputs, feed->input);
    enum irrun_dtype dtype = port.dtype == IRRUN_DYNAMIC ? IRRUN_I64 : port.dtype;
    struct irrun_shape shape;
    if (!inputs_check_choice(inputs, feed, output, &shape, err))
        return false;
    if (feed->chosen.data && shape_equals(&feed->chosen.shape, &shape))
        return true;
    size_t size_bytes = (size_t)shape_n_elements(&shape) * dtype_size(dtype);
    free(feed->chosen.data);
    feed->chosen = (struct irrun_tensor){dtype, shape, malloc(size_bytes)};
    return feed->chosen.data || fail_memory(err, size_bytes);
}

/* Returns the random number for the next draw. The number depends only on the seed, the sequence,
 * the key, the input, the row and the number of earlier draws, so a run can be resumed at any
 * iteration. */
static double random_number(const struct inputs *inputs, const struct feed *feed, int64_t key,
                            int64_t row)
{
    char text[128];
    int length = snprintf(text, sizeof text, "%" PRIu64 " %" PRId64 " %zu %" PRId64 " %" PRId64,
                          inputs->sequence_hash, key, feed->input, row, feed->draws.n);
    return random_unit(inputs->options->seed, fast_hash(0, text, (size_t)length));
}

bool inputs_choose(struct inputs *inputs, struct feed *feed, const struct irrun_tensor *output,
                   int64_t key, struct irrun_error *err)
{
    struct output_rows rows = find_rows(&output->shape);
    size_t n_row = (size_t)rows.n_row;
    if (!allocate_indices(inputs, feed, output, err))
        return false;
    for (int64_t i = 0; i < rows.n; i++) {
        size_t start = (size_t)((i + 1) * rows.n_positions - 1) * n_row;
        int64_t index;
        if (feed->spec->choice == FEED_ARGMAX)
            index = argmax(output, start, n_row);
        else if (!sampler_draw(&feed->sampler, &feed->spec->sampling, output, start, n_row,
                               random_number(inputs, feed, key, i), &index, err))
            return fail_append(err, ": output \"%s\" of --feed",
                               irrun_model_output(inputs->model, feed->output)->name);
        convert_elements(IRRUN_I64, &index, feed->chosen.dtype, tensor_at(&feed->chosen, (size_t)i),
                         1);
    }
    feed->draws.n++;
    return true;
}
