/* SearchSorted-15 and Bucketize-3: count the elements of a sorted row that come before each value.
 * Both inputs are compared in a common type (common_type).
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/sort_keys.h"
#include "ops/indexing.h"

struct search_attrs {
    bool counts_equals;   /* SearchSorted: counts elements equal to the value */
    bool excludes_equals; /* Bucketize: does not count elements equal to the value */
    enum irrun_dtype output_type;
};

/* The indices of the inputs. */
struct search_family {
    uint32_t sorted, values;
    bool has_rows; /* each row of values may have its own sorted row */
};

struct search_state {
    enum irrun_dtype dtype;            /* type of the comparison */
    size_t n_rows, n_sorted, n_values; /* n_sorted, n_values: per row */
    bool is_shared;                    /* all rows of values share one sorted row */
    const uint64_t *sorted; /* keys of a constant sorted input; NULL: run computes them */
};

static const struct attr_def search_sorted_attrs[] = {
    ATTR_NAMED(struct search_attrs, counts_equals, "right_mode", "false"),
    ATTR(struct search_attrs, output_type, "i64"),
};
static const struct attr_def bucketize_attrs[] = {
    ATTR_NAMED(struct search_attrs, excludes_equals, "with_right_bound", "true"),
    ATTR(struct search_attrs, output_type, "i64"),
};

static const struct op_input_def search_sorted_inputs[] = {
    {"sorted", .types = TYPES_NUMBER, .same = 1},
    {"values", .types = TYPES_NUMBER, .same = 1},
};
static const struct op_input_def bucketize_inputs[] = {
    {"data", .types = TYPES_NUMBER},
    {"buckets", .types = TYPES_NUMBER},
};

static bool check_rows(struct infer *infer, const struct search_family *family)
{
    const struct irrun_shape *sorted = &infer->in[family->sorted]->shape;
    const struct irrun_shape *values = &infer->in[family->values]->shape;
    if (sorted->rank == 1)
        return true;
    bool fits = family->has_rows && sorted->rank == values->rank && sorted->rank > 0;
    for (uint32_t i = 0; fits && i + 1 < sorted->rank; i++)
        fits = sorted->dims[i] == values->dims[i];
    return fits || infer_fail_input(
                       infer, family->sorted, "one dimension%s",
                       family->has_rows ? ", or the dimensions of the values except the last" : "");
}

/* Returns the type of the comparison. It represents the elements of both types exactly, except that
 * i64 and u64 are rounded if it is f64. */
static enum irrun_dtype common_type(enum irrun_dtype a, enum irrun_dtype b)
{
    if (a == b)
        return a;
    if (!dtype_is_integer(a) || !dtype_is_integer(b))
        return IRRUN_F64;
    if (a == IRRUN_U64 || b == IRRUN_U64)
        return dtype_is_signed(a) || dtype_is_signed(b) ? IRRUN_F64 : IRRUN_U64;
    return IRRUN_I64;
}

static bool infer(struct infer *infer)
{
    const struct search_attrs *attrs = infer->attrs;
    const struct search_family *family = infer->op->def->family;
    struct search_state *state = infer->state;
    const struct irrun_shape *sorted = &infer->in[family->sorted]->shape;
    const struct irrun_shape *values = &infer->in[family->values]->shape;
    if (!infer_index_type(infer, "output_type", attrs->output_type) || !check_rows(infer, family))
        return false;
    state->n_sorted = (size_t)sorted->dims[sorted->rank - 1];
    state->is_shared = sorted->rank == 1;
    state->n_rows = state->is_shared ? 1 : (size_t)shape_product(sorted, 0, sorted->rank - 1);
    state->n_values =
        (size_t)(state->is_shared ? shape_n_elements(values) : values->dims[values->rank - 1]);
    return infer_output(infer, 0, attrs->output_type, values);
}

#define BLOCK 64 /* elements converted at a time */

/* Reads the keys of elements first … first + n - 1 of a tensor, in the common type. */
static void read_keys(const struct search_state *state, const struct irrun_tensor *tensor,
                      size_t first, size_t n, uint64_t *keys)
{
    if (tensor->dtype == state->dtype) {
        sort_keys(state->dtype, tensor_at(tensor, first), 1, n, keys);
        return;
    }
    uint64_t block[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t n_now = n - i < BLOCK ? n - i : BLOCK;
        convert_elements(tensor->dtype, tensor_at(tensor, first + i), state->dtype, block, n_now);
        sort_keys(state->dtype, block, 1, n_now, keys + i);
    }
}

static bool prepare(struct prepare *prepare)
{
    struct search_state *state = prepare->state;
    uint32_t input = ((const struct search_family *)prepare->op->def->family)->sorted;
    size_t n = state->n_rows * state->n_sorted;
    state->dtype = common_type(prepare->in[0]->dtype, prepare->in[1]->dtype);
    if (!prepare_is_constant(prepare, input))
        return prepare_scratch(prepare, state->n_sorted, sizeof(uint64_t));
    uint64_t *keys = arena_alloc_array(prepare->arena, n, sizeof *keys, prepare->err);
    if (keys)
        read_keys(state, prepare->in[input], 0, n, keys);
    state->sorted = keys;
    return keys != NULL;
}

static int64_t count_before(const uint64_t *keys, size_t n, uint64_t key, bool counts_equals)
{
    size_t low = 0;
    while (n > 0) {
        size_t half = n / 2;
        uint64_t middle = keys[low + half];
        bool is_before = middle < key || (counts_equals && middle == key);
        low += is_before ? half + 1 : 0;
        n = is_before ? n - half - 1 : half;
    }
    return (int64_t)low;
}

static void run(const struct step *step)
{
    const struct search_state *state = step->state;
    const struct search_family *family = step->op->def->family;
    const struct search_attrs *attrs = step->op->attrs;
    bool counts_equals = family->has_rows ? attrs->counts_equals : !attrs->excludes_equals;
    struct irrun_tensor *out = step->out[0];
    uint64_t values[BLOCK];
    int64_t counts[BLOCK];
    for (size_t row = 0; state->n_values > 0 && row < state->n_rows; row++) {
        size_t begin = row * state->n_sorted;
        const uint64_t *sorted = state->sorted ? state->sorted + begin : step->scratch;
        if (!state->sorted)
            read_keys(state, step->in[family->sorted], begin, state->n_sorted, step->scratch);
        for (size_t i = 0; i < state->n_values; i += BLOCK) {
            size_t n = state->n_values - i < BLOCK ? state->n_values - i : BLOCK;
            size_t first = row * state->n_values + i;
            read_keys(state, step->in[family->values], first, n, values);
            for (size_t k = 0; k < n; k++)
                counts[k] = count_before(sorted, state->n_sorted, values[k], counts_equals);
            convert_elements(IRRUN_I64, counts, out->dtype, tensor_at(out, first), n);
        }
    }
}

#define SEARCH_OP(object, type_, opset_, inputs_, attrs_, ...)                                     \
    const struct op_def object = {                                                                 \
        .type = type_,                                                                             \
        .opset = opset_,                                                                           \
        OP_INPUTS(inputs_),                                                                        \
        OP_ATTRS(attrs_, struct search_attrs),                                                     \
        .state_size = sizeof(struct search_state),                                                 \
        .family = &(const struct search_family){__VA_ARGS__},                                      \
        .infer = infer,                                                                            \
        .prepare = prepare,                                                                        \
        .compute = run,                                                                            \
    }

SEARCH_OP(op_search_sorted, "SearchSorted", 15, search_sorted_inputs, search_sorted_attrs, 0, 1,
          true);
SEARCH_OP(op_bucketize, "Bucketize", 3, bucketize_inputs, bucketize_attrs, 1, 0, false);
