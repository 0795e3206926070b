/* The reductions, one row each. Input 1 holds the axes: a list or one number. An empty list reduces
 * nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/normalization.h"
#include "ops/op_state.h"

/* How an accumulator becomes a result. */
enum finish { FINISH_NOTHING, FINISH_MEAN, FINISH_ROOT };

struct reduce_family {
    enum reduce_operation operation;
    enum finish finish;
};

struct reduce_state {
    struct broadcast loops; /* around `inner`. Operands: data, accumulators */
    struct reduction inner;
    size_t n_out;
    int64_t n_terms;       /* elements that are reduced to one */
    enum irrun_dtype wide; /* the type that the loops read */
    size_t element_bytes;  /* bytes per element of the data */
    reduce_fn *reduce;
};

static const struct attr_def attr_table[] = {ATTR(struct reduce_attrs, keep_dims, "false")};

static const struct op_input_def numbers[] = {
    {"data", .types = TYPES_NUMBER},
    {"axes", .types = TYPES_INTEGER},
};
static const struct op_input_def booleans[] = {
    {"data", .types = TYPES_BOOLEAN},
    {"axes", .types = TYPES_INTEGER},
};

static bool infer(struct infer *infer)
{
    struct reduce_state *state = infer->state;
    const struct irrun_shape *in = &infer->in[0]->shape;
    const struct reduce_attrs *attrs = infer->attrs;
    bool keeps_dims = attrs->keep_dims;
    struct i64_list axes = {0};
    bool is_reduced[IRRUN_MAX_RANK];
    if (!infer_ints(infer, 1, &axes) || !infer_axes(infer, &axes, in->rank, is_reduced))
        return false;
    if (attrs->channels_last) {
        bool are_channels = is_reduced[1];
        memmove(is_reduced + 1, is_reduced + 2, (in->rank - 2) * sizeof *is_reduced);
        is_reduced[in->rank - 1] = are_channels;
    }
    struct irrun_shape out = {0}, kept = *in;
    state->n_terms = 1;
    for (uint32_t i = 0; i < in->rank; i++) {
        if (is_reduced[i]) {
            state->n_terms *= in->dims[i];
            kept.dims[i] = 1;
        }
        if (!is_reduced[i] || keeps_dims)
            out.dims[out.rank++] = kept.dims[i];
    }
    if (!infer_output(infer, 0, infer->in[0]->dtype, &out))
        return false;
    const struct irrun_shape *shapes[] = {in, &kept};
    if (!broadcast_plan(&state->loops, 2, shapes, infer->arena, infer->err))
        return false;
    state->inner = reduction_split_off(&state->loops);
    return true;
}

static enum irrun_dtype wide_type(enum irrun_dtype dtype)
{
    if (dtype == IRRUN_F32 || dtype == IRRUN_F64 || dtype == IRRUN_BOOLEAN)
        return dtype;
    return dtype_is_signed(dtype) ? IRRUN_I64 : IRRUN_U64;
}

/* Reduces one row of the data, converted to state->wide in blocks. */
static void reduce_narrow(const struct step *step, const char *from, union accumulator *to)
{
    const struct reduce_state *state = step->state;
    enum irrun_dtype dtype = step->in[0]->dtype;
    uint64_t block[256];
    size_t size = sizeof block / sizeof *block, n = state->inner.n;
    for (size_t i = 0; i < n; i += size) {
        size_t n_now = n - i < size ? n - i : size;
        convert_elements(dtype, from + i * state->element_bytes, state->wide, block, n_now);
        struct reduction part = {.n_rows = 1, .n = n_now, .to_columns = state->inner.to_columns};
        state->reduce(&part, block, part.to_columns ? to + i : to);
    }
}

static void reduce_inner(const struct step *step, const struct reduction *inner,
                         const int64_t *offsets)
{
    const struct reduce_state *state = step->state;
    union accumulator *to = (union accumulator *)step->scratch + offsets[1];
    const char *from = tensor_at(step->in[0], (size_t)offsets[0]);
    if (step->in[0]->dtype == state->wide)
        state->reduce(inner, from, to);
    for (size_t row = 0; step->in[0]->dtype != state->wide && row < inner->n_rows; row++)
        reduce_narrow(step, from + row * inner->row_step * state->element_bytes,
                      inner->to_columns ? to : to + row);
}

static bool visit(void *context, const int64_t *offsets, size_t n)
{
    (void)n; /* always inner.n */
    const struct step *step = context;
    reduce_inner(step, &((const struct reduce_state *)step->state)->inner, offsets);
    return true;
}

/* Fills the output with the lowest or highest number of its type, as OpenVINO does for an empty
 * maximum or minimum. */
static void fill_extreme(struct irrun_tensor *out, size_t n, bool is_lowest)
{
    double number = out->dtype == IRRUN_F64 ? DBL_MAX : (double)FLT_MAX;
    size_t n_spare_bits = 64 - dtype_size(out->dtype) * 8 + dtype_is_signed(out->dtype);
    uint64_t highest = UINT64_MAX >> n_spare_bits;
    uint64_t lowest = dtype_is_signed(out->dtype) ? ~highest : 0;
    uint64_t bits = is_lowest ? lowest : highest;
    number = is_lowest ? -number : number;
    bool is_float = dtype_is_float(out->dtype);
    for (size_t i = 0; i < n; i++)
        convert_elements(is_float ? IRRUN_F64 : IRRUN_U64,
                         is_float ? (void *)&number : (void *)&bits, out->dtype, tensor_at(out, i),
                         1);
}

static void finish_floats(double *sums, size_t n, int64_t n_terms, enum finish finish)
{
    for (size_t i = 0; finish == FINISH_MEAN && i < n; i++)
        sums[i] = n_terms ? sums[i] / (double)n_terms : 0;
    for (size_t i = 0; finish == FINISH_ROOT && i < n; i++)
        sums[i] = sqrt(sums[i]);
}

/* Finishes integers. Means are rounded toward zero. */
static void finish_integers(union accumulator *sums, size_t n, int64_t n_terms, bool is_signed,
                            enum finish finish)
{
    for (size_t i = 0; i < n; i++) {
        if (finish == FINISH_ROOT)
            sums[i].u64 = (uint64_t)sqrt((double)sums[i].u64);
        else if (finish == FINISH_MEAN && n_terms && is_signed)
            sums[i].i64 /= n_terms;
        else if (finish == FINISH_MEAN && n_terms)
            sums[i].u64 /= (uint64_t)n_terms;
    }
}

/* Writes n elements of the output from their accumulators. */
static void finish(const struct step *step, size_t first, size_t n)
{
    const struct reduce_state *state = step->state;
    const struct reduce_family *family = step->op->def->family;
    union accumulator *accumulators = (union accumulator *)step->scratch + first;
    bool is_float = state->wide == IRRUN_F32 || state->wide == IRRUN_F64;
    if (is_float)
        finish_floats(&accumulators->f64, n, state->n_terms, family->finish);
    else
        finish_integers(accumulators, n, state->n_terms, state->wide == IRRUN_I64, family->finish);
    convert_elements(is_float                       ? IRRUN_F64
                     : state->wide == IRRUN_BOOLEAN ? IRRUN_U64
                                                    : state->wide,
                     accumulators, step->out[0]->dtype, tensor_at(step->out[0], first), n);
}

/* Returns whether each element of the output is the result of one row of the input. */
static bool has_rows(const struct reduce_state *state)
{
    return state->loops.rank == 0 && !state->inner.to_columns && state->loops.n_inner > 0;
}

/* Reduces units begin … end - 1. A unit is one row, or the whole input if has_rows is false. */
static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct reduce_state *state = step->state;
    const struct reduce_family *family = step->op->def->family;
    bool is_extreme = family->operation == REDUCE_MAX || family->operation == REDUCE_MIN;
    if (is_extreme && state->n_terms == 0) {
        fill_extreme(step->out[0], state->n_out, family->operation == REDUCE_MAX);
        return;
    }
    size_t first = has_rows(state) ? begin : 0, n = has_rows(state) ? end - begin : state->n_out;
    union accumulator *accumulators = step->scratch;
    const union accumulator start = reduce_start(family->operation, state->wide);
    for (size_t i = first; i < first + n; i++)
        accumulators[i] = start;
    if (has_rows(state)) {
        struct reduction rows = state->inner;
        rows.n_rows = n;
        reduce_inner(step, &rows, (int64_t[]){(int64_t)(first * rows.row_step), (int64_t)first});
    } else {
        broadcast_walk(&state->loops, visit, (void *)step);
    }
    finish(step, first, n);
}

static bool prepare(struct prepare *prepare)
{
    struct reduce_state *state = prepare->state;
    const struct reduce_family *family = prepare->op->def->family;
    state->wide = wide_type(prepare->in[0]->dtype);
    state->element_bytes = dtype_size(prepare->in[0]->dtype);
    state->reduce = reduce_choose(prepare->kernels->reduce, family->operation, state->wide);
    state->n_out = (size_t)shape_n_elements(&prepare->out[0]->shape);
    prepare->made.scratch_bytes = state->n_out * sizeof(union accumulator);
    double work = SHARE_ELEMENT_WORK * (double)shape_n_elements(&prepare->in[0]->shape);
    return prepare_sharing(prepare, run_units, has_rows(state) ? state->inner.n_rows : 1, work);
}

#define REDUCE_OP(object, type_, opset_, inputs_, operation, finish)                               \
    const struct op_def object = {                                                                 \
        .type = type_,                                                                             \
        .opset = opset_,                                                                           \
        OP_INPUTS(inputs_),                                                                        \
        OP_ATTRS(attr_table, struct reduce_attrs),                                                 \
        .state_size = sizeof(struct reduce_state),                                                 \
        .family = &(const struct reduce_family){operation, finish},                                \
        .infer = infer,                                                                            \
        .prepare = prepare,                                                                        \
    }

REDUCE_OP(op_reduce_sum, "ReduceSum", 1, numbers, REDUCE_SUM, FINISH_NOTHING);
REDUCE_OP(op_reduce_mean, "ReduceMean", 1, numbers, REDUCE_SUM, FINISH_MEAN);
REDUCE_OP(op_reduce_prod, "ReduceProd", 1, numbers, REDUCE_PROD, FINISH_NOTHING);
REDUCE_OP(op_reduce_max, "ReduceMax", 1, numbers, REDUCE_MAX, FINISH_NOTHING);
REDUCE_OP(op_reduce_min, "ReduceMin", 1, numbers, REDUCE_MIN, FINISH_NOTHING);
REDUCE_OP(op_reduce_l1, "ReduceL1", 4, numbers, REDUCE_SUM_OF_MAGNITUDES, FINISH_NOTHING);
REDUCE_OP(op_reduce_l2, "ReduceL2", 4, numbers, REDUCE_SUM_OF_SQUARES, FINISH_ROOT);
REDUCE_OP(op_reduce_logical_and, "ReduceLogicalAnd", 1, booleans, REDUCE_AND, FINISH_NOTHING);
REDUCE_OP(op_reduce_logical_or, "ReduceLogicalOr", 1, booleans, REDUCE_OR, FINISH_NOTHING);
