/* Tile-1: repeats the data along every dimension. The shorter of the shape and the list of repeats
 * is padded with leading ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ops/movement.h"

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"repeats", .types = TYPES_INTEGER},
};

static bool infer(struct infer *infer)
{
    const struct irrun_shape *in = &infer->in[0]->shape;
    struct i64_list repeats = {0};
    if (!infer_ints(infer, 1, &repeats))
        return false;
    if (repeats.n > IRRUN_MAX_RANK)
        return infer_fail_input(infer, 1, "at most %d numbers", IRRUN_MAX_RANK);
    uint32_t rank = in->rank > repeats.n ? in->rank : repeats.n;
    int64_t in_strides[IRRUN_MAX_RANK];
    move_strides(in, in_strides);
    /* Each dimension has two loops: over the repetitions (stride 0 in the data) and over the
     * data. */
    int64_t dims[STRIDED_COPY_MAX_RANK], strides[STRIDED_COPY_MAX_RANK];
    struct irrun_shape out = {.rank = rank};
    for (uint32_t i = 0; i < rank; i++) {
        bool is_missing = i < rank - in->rank;
        int64_t dim = is_missing ? 1 : in->dims[i - (rank - in->rank)];
        int64_t n = i < rank - repeats.n ? 1 : repeats.items[i - (rank - repeats.n)];
        n = n < 0 ? 0 : n;
        if (!checked_mul_i64(dim, n, &out.dims[i]))
            return infer_fail_input(infer, 1, "smaller numbers");
        dims[2 * i] = n;
        strides[2 * i] = 0;
        dims[2 * i + 1] = dim;
        strides[2 * i + 1] = is_missing ? 0 : in_strides[i - (rank - in->rank)];
    }
    if (!infer_output(infer, 0, infer->in[0]->dtype, &out))
        return false;
    move_plan(infer->state, 2 * rank, dims, strides, 0);
    return true;
}

MOVE_OP(op_tile, "Tile", 1, OP_INPUTS(inputs), infer, );
