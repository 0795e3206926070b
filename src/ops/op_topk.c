/* TopK-1, -3 and -11: the k largest or smallest elements of every row along an axis, and their
 * indices. Equal elements keep their order and NaN is the largest, regardless of `stable`. With
 * sort=none, the elements are also sorted by value.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/sort_keys.h"
#include "ops/indexing.h"

enum { DATA, K };
enum { VALUES, INDICES };
enum mode { MODE_MIN, MODE_MAX };
enum sort { SORT_NONE, SORT_VALUE, SORT_INDEX };

struct topk_attrs {
    int64_t axis;
    int mode, sort;
    enum irrun_dtype index_element_type;
};

struct topk_state {
    struct axis_view view;
    size_t k;
    size_t n_rows; /* rows that are read together, at most MAX_ROWS */
};

static const struct attr_def attr_table[] = {
    ATTR(struct topk_attrs, axis, NULL),
    ATTR_CHOICE(struct topk_attrs, mode, NULL, "min|max"),
    ATTR_CHOICE(struct topk_attrs, sort, NULL, "none|value|index"),
    ATTR(struct topk_attrs, index_element_type, "i32"),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_NUMBER},
    {"k", .types = TYPES_INTEGER},
};

static bool infer(struct infer *infer)
{
    const struct topk_attrs *attrs = infer->attrs;
    struct topk_state *state = infer->state;
    struct irrun_shape out = infer->in[DATA]->shape;
    uint32_t axis = 0;
    int64_t k = 0;
    if (!infer_axis(infer, attrs->axis, out.rank, &axis) || !infer_int(infer, K, &k))
        return false;
    state->view = axis_view_of(&out, axis);
    if (k < 0 || k > state->view.n)
        return infer_fail(infer, "k is %lld, outside 0 ... %lld, the size of axis %u", (long long)k,
                          (long long)state->view.n, axis);
    state->k = (size_t)k;
    out.dims[axis] = k;
    return infer_index_type(infer, "index_element_type", attrs->index_element_type) &&
           infer_output(infer, VALUES, infer->in[DATA]->dtype, &out) &&
           infer_output(infer, INDICES, attrs->index_element_type, &out);
}

#define MAX_ROWS 8 /* adjacent rows that are read together */

/* Requests memory for the keys of n_rows rows and a heap of k indices. */
static bool prepare(struct prepare *prepare)
{
    struct topk_state *state = prepare->state;
    state->n_rows = state->view.n_inner < MAX_ROWS ? (size_t)state->view.n_inner : MAX_ROWS;
    return prepare_scratch(prepare, (size_t)state->view.n, state->n_rows * sizeof(uint64_t)) &&
           prepare_scratch(prepare, state->k, sizeof(uint64_t));
}

/* Returns whether element a ranks below element b. */
static bool is_worse(const uint64_t *keys, uint64_t a, uint64_t b)
{
    return keys[a] < keys[b] || (keys[a] == keys[b] && a > b);
}

/* Sifts the root of heap[0 … n-1] down, so that the lowest element becomes the root. */
static void sift_down(const uint64_t *keys, uint64_t *heap, size_t n, size_t root)
{
    uint64_t index = heap[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && is_worse(keys, heap[child + 1], heap[child]))
            child++;
        if (!is_worse(keys, heap[child], index))
            break;
        heap[root] = heap[child];
    }
    heap[root] = index;
}

/* Writes the indices of the top k of n keys, best first. */
static void select_top(const uint64_t *keys, size_t n, uint64_t *top, size_t k)
{
    for (size_t i = 0; i < k; i++)
        top[i] = i;
    for (size_t i = k / 2; i-- > 0;)
        sift_down(keys, top, k, i);
    for (size_t i = k; i < n; i++) {
        if (keys[i] > keys[top[0]]) { /* a later element with an equal key ranks below */
            top[0] = i;
            sift_down(keys, top, k, 0);
        }
    }
    for (size_t i = k; i-- > 1;) { /* move the worst to the end */
        uint64_t worst = top[0];
        top[0] = top[i];
        top[i] = worst;
        sift_down(keys, top, i, 0);
    }
}

/* Writes the same indices as select_top in ascending order: those of all elements that do not rank
 * below the k-th. */
static void select_top_by_index(const uint64_t *keys, size_t n, uint64_t *top, size_t k)
{
    select_top(keys, n, top, k);
    uint64_t last = top[k - 1];
    for (size_t i = 0, n_found = 0; n_found < k; i++)
        if (!is_worse(keys, i, last))
            top[n_found++] = i;
}

static void write_indices(enum irrun_dtype dtype, const uint64_t *top, size_t k, size_t stride,
                          size_t first, void *to)
{
    for (size_t i = 0; i < k; i++) {
        if (dtype == IRRUN_I32)
            ((int32_t *)to)[first + i * stride] = (int32_t)top[i];
        else
            ((int64_t *)to)[first + i * stride] = (int64_t)top[i];
    }
}

static void write_values(const char *row, size_t element_bytes, const uint64_t *top, size_t k,
                         size_t stride, char *to)
{
    for (size_t i = 0; i < k; i++)
        memcpy(to + i * stride * element_bytes, row + top[i] * stride * element_bytes,
               element_bytes);
}

/* Computes the keys of n_rows adjacent rows, row after row. Complements the keys for MODE_MIN. */
static void read_rows(const struct step *step, const char *rows, size_t n_rows, uint64_t *keys)
{
    const struct topk_state *state = step->state;
    const struct topk_attrs *attrs = step->op->attrs;
    enum irrun_dtype dtype = step->in[DATA]->dtype;
    size_t n = (size_t)state->view.n, step_bytes = (size_t)state->view.n_inner * dtype_size(dtype);
    uint64_t block[MAX_ROWS];
    if (state->view.n_inner == 1)
        sort_keys(dtype, rows, 1, n, keys);
    for (size_t i = 0; state->view.n_inner > 1 && i < n; i++) {
        sort_keys(dtype, rows + i * step_bytes, 1, n_rows, block);
        for (size_t row = 0; row < n_rows; row++)
            keys[row * n + i] = block[row];
    }
    for (size_t i = 0; attrs->mode == MODE_MIN && i < n * n_rows; i++)
        keys[i] = ~keys[i];
}

static void run(const struct step *step)
{
    const struct topk_state *state = step->state;
    bool is_by_index = ((const struct topk_attrs *)step->op->attrs)->sort == SORT_INDEX;
    const struct irrun_tensor *data = step->in[DATA];
    struct irrun_tensor *values = step->out[VALUES], *indices = step->out[INDICES];
    size_t n = (size_t)state->view.n, k = state->k, stride = (size_t)state->view.n_inner;
    size_t n_all = (size_t)state->view.n_outer * stride;
    uint64_t *keys = step->scratch, *top = keys + n * state->n_rows;
    if (shape_n_elements(&values->shape) == 0)
        return;
    for (size_t i = 0, n_read = 0, next = 0; i < n_all; i++, next++) {
        size_t outer = i / stride, inner = i % stride, first = outer * k * stride + inner;
        const char *row = tensor_at(data, outer * n * stride + inner);
        if (next == n_read) {
            next = 0;
            n_read = stride - inner < state->n_rows ? stride - inner : state->n_rows;
            read_rows(step, row, n_read, keys);
        }
        (is_by_index ? select_top_by_index : select_top)(keys + next * n, n, top, k);
        write_values(row, dtype_size(data->dtype), top, k, stride, tensor_at(values, first));
        write_indices(indices->dtype, top, k, stride, first, indices->data);
    }
}

const struct op_def op_topk = {
    .type = "TopK",
    .opset = 1,
    .flags = OP_DATA_MOVEMENT,
    OP_INPUTS(inputs),
    .n_outputs = 2,
    OP_ATTRS(attr_table, struct topk_attrs),
    .state_size = sizeof(struct topk_state),
    .infer = infer,
    .prepare = prepare,
    .compute = run,
};
