/* TopK-1, -3 and -11: the k largest or smallest elements of every line along an axis, and their places.
 * Equal elements keep their order and NaN counts as the largest, whatever `stable` says; without an
 * order asked for (sort none) they come by value.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
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
};

static const struct attr_def attr_table[] = {
    ATTR(struct topk_attrs, axis, NULL),
    ATTR_CHOICE(struct topk_attrs, mode, NULL, "min|max"),
    ATTR_CHOICE(struct topk_attrs, sort, NULL, "none|value|index"),
    ATTR(struct topk_attrs, index_element_type, "i32"),
    ATTR_END,
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_NUMBER},
    {"k", .types = TYPES_INTEGER},
    {.name = NULL},
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
    if (k < 0 || k > state->view.n) {
        infer_fail(infer, "k is %lld, outside 0 ... %lld, the size of axis %u", (long long)k,
                   (long long)state->view.n, axis);
        infer_hint_input(infer, K);
        return infer_hint_input(infer, DATA);
    }
    state->k = (size_t)k;
    out.dims[axis] = k;
    return infer_index_type(infer, "index_element_type", attrs->index_element_type) &&
           infer_output(infer, VALUES, infer->in[DATA]->dtype, &out) &&
           infer_output(infer, INDICES, attrs->index_element_type, &out);
}

/* The keys of a line, and a heap of k places. */
static bool prepare(struct prepare *prepare)
{
    const struct topk_state *state = prepare->state;
    int64_t n;
    if (!checked_add_i64(state->view.n, (int64_t)state->k, &n))
        return fail_memory(prepare->err, SIZE_MAX);
    return scratch_array(prepare, n, sizeof(uint64_t));
}

/* Whether place a is further from the top than place b. Keys of MODE_MIN are complemented, so that the top is
 * always the largest. */
static bool is_worse(const uint64_t *keys, uint64_t a, uint64_t b)
{
    return keys[a] < keys[b] || (keys[a] == keys[b] && a > b);
}

/* Lets the place at the root of heap[0 … n-1] sink: the worst one rises. */
static void sift_down(const uint64_t *keys, uint64_t *heap, size_t n, size_t root)
{
    uint64_t place = heap[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && is_worse(keys, heap[child + 1], heap[child]))
            child++;
        if (!is_worse(keys, heap[child], place))
            break;
        heap[root] = heap[child];
    }
    heap[root] = place;
}

/* The places of the k best of n keys, best first. */
static void select_top(const uint64_t *keys, size_t n, uint64_t *top, size_t k)
{
    for (size_t i = 0; i < k; i++)
        top[i] = i;
    for (size_t i = k / 2; i-- > 0;)
        sift_down(keys, top, k, i);
    for (size_t i = k; i < n; i++) {
        if (keys[i] > keys[top[0]]) { /* equal ones come later: not better */
            top[0] = i;
            sift_down(keys, top, k, 0);
        }
    }
    for (size_t i = k; i-- > 1;) { /* the worst goes to the end */
        uint64_t worst = top[0];
        top[0] = top[i];
        top[i] = worst;
        sift_down(keys, top, i, 0);
    }
}

/* The same in the order of their places. All that are not worse than the k-th are among them. */
static void select_top_by_place(const uint64_t *keys, size_t n, uint64_t *top, size_t k)
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

static void write_values(const char *line, size_t element_bytes, const uint64_t *top, size_t k,
                         size_t stride, char *to)
{
    for (size_t i = 0; i < k; i++)
        memcpy(to + i * stride * element_bytes, line + top[i] * stride * element_bytes,
               element_bytes);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct topk_state *state = step->state;
    const struct topk_attrs *attrs = step->op->attrs;
    const struct irrun_tensor *data = step->in[DATA];
    size_t n = (size_t)state->view.n, k = state->k, stride = (size_t)state->view.n_inner;
    size_t size = dtype_size(data->dtype);
    uint64_t *keys = step->scratch, *top = keys + n;
    if (shape_n_elements(&step->out[VALUES]->shape) == 0)
        return true;
    for (size_t outer = 0; outer < (size_t)state->view.n_outer; outer++) {
        for (size_t inner = 0; inner < stride; inner++) {
            const char *line = (const char *)data->data + (outer * n * stride + inner) * size;
            size_t first = outer * k * stride + inner;
            sort_keys(data->dtype, line, stride, n, keys);
            for (size_t i = 0; attrs->mode == MODE_MIN && i < n; i++)
                keys[i] = ~keys[i];
            if (attrs->sort == SORT_INDEX)
                select_top_by_place(keys, n, top, k);
            else
                select_top(keys, n, top, k);
            write_values(line, size, top, k, stride,
                         (char *)step->out[VALUES]->data + first * size);
            write_indices(step->out[INDICES]->dtype, top, k, stride, first,
                          step->out[INDICES]->data);
        }
    }
    return true;
}

const struct op_def op_topk = {
    .type = "TopK",
    .opset = 1,
    .flags = OP_MOVES,
    .inputs = inputs,
    .n_outputs = 2,
    .attrs = attr_table,
    .attrs_size = sizeof(struct topk_attrs),
    .state_size = sizeof(struct topk_state),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
