/* DepthToSpace-1 and SpaceToDepth-1: move channels to blocks of the spatial dimensions, and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ops/movement.h"

enum mode { MODE_BLOCKS_FIRST, MODE_DEPTH_FIRST };

struct depth_attrs {
    int64_t block_size;
    int mode;
};

static const struct attr_def attr_table[] = {
    ATTR(struct depth_attrs, block_size, "1"),
    ATTR_CHOICE(struct depth_attrs, mode, NULL, "blocks_first|depth_first"),
};

/* Computes the strides of the tensor with more channels, [N][block …, C in the order of mode][D …],
 * for the dimensions of the copy: [N][C], then [D][block] for each spatial dimension. */
static void deep_strides(uint32_t n_spatial, int mode, const int64_t *dims, int64_t *strides)
{
    uint32_t order[STRIDED_COPY_MAX_RANK] = {0}, n = 1;
    int64_t stride = 1;
    if (mode == MODE_DEPTH_FIRST)
        order[n++] = 1;
    for (uint32_t i = 0; i < n_spatial; i++)
        order[n++] = 3 + 2 * i;
    if (mode == MODE_BLOCKS_FIRST)
        order[n++] = 1;
    for (uint32_t i = 0; i < n_spatial; i++)
        order[n++] = 2 + 2 * i;
    for (; n-- > 0; stride *= dims[order[n]])
        strides[order[n]] = stride;
}

/* Computes the shape of the output, and the dimensions of the copy as in deep_strides. */
static bool find_dims(struct infer *infer, bool is_to_space, int64_t *dims, struct irrun_shape *out)
{
    const struct irrun_shape *in = &infer->in[0]->shape;
    int64_t block = ((const struct depth_attrs *)infer->attrs)->block_size, n_in_block = 1;
    if (in->rank < 3)
        return infer_fail_input(infer, 0, "a batch, channels, and spatial dimensions");
    if (block < 1)
        return infer_fail(infer, "block_size is %lld, expected 1 or more", (long long)block);
    *out = *in;
    dims[0] = in->dims[0];
    for (uint32_t i = 0; i < in->rank - 2; i++) {
        int64_t dim = in->dims[2 + i], *to = &out->dims[2 + i];
        if (!checked_mul_i64(n_in_block, block, &n_in_block) ||
            (is_to_space && !checked_mul_i64(dim, block, to)))
            return infer_fail(infer, "block_size %lld is too large", (long long)block);
        if (!is_to_space && dim % block != 0)
            return infer_fail_input(infer, 0, "a dimension %u that is divisible by block_size %lld",
                                    2 + i, (long long)block);
        if (!is_to_space)
            *to = dim / block;
        dims[2 + 2 * i] = is_to_space ? dim : *to;
        dims[3 + 2 * i] = block;
    }
    if (is_to_space && in->dims[1] % n_in_block != 0)
        return infer_fail_input(infer, 0, "a multiple of %lld channels, one per element of a block",
                                (long long)n_in_block);
    dims[1] = is_to_space ? in->dims[1] / n_in_block : in->dims[1];
    if (is_to_space)
        out->dims[1] = dims[1];
    else if (!checked_mul_i64(in->dims[1], n_in_block, &out->dims[1]))
        return infer_fail(infer, "block_size %lld is too large", (long long)block);
    return true;
}

static bool infer(struct infer *infer)
{
    bool is_to_space = *(const bool *)infer->op->def->family;
    int mode = ((const struct depth_attrs *)infer->attrs)->mode;
    struct move_state *state = infer->state;
    int64_t dims[STRIDED_COPY_MAX_RANK];
    int64_t deep[STRIDED_COPY_MAX_RANK], spatial[STRIDED_COPY_MAX_RANK];
    struct irrun_shape out;
    if (!find_dims(infer, is_to_space, dims, &out) ||
        !infer_output(infer, 0, infer->in[0]->dtype, &out))
        return false;
    uint32_t n_spatial = out.rank - 2;
    deep_strides(n_spatial, mode, dims, deep);
    dense_strides(2 + 2 * n_spatial, dims, spatial);
    *state = (struct move_state){0};
    strided_copy_plan(&state->copy, 2 + 2 * n_spatial, dims, is_to_space ? deep : spatial,
                      is_to_space ? spatial : deep);
    return true;
}

#define DEPTH_OP(object, type_, is_to_space_)                                                      \
    MOVE_OP(object, type_, 1, OP_ONE_INPUT("data", TYPES_ANY), infer,                              \
            OP_ATTRS(attr_table, struct depth_attrs), .family = &(const bool){is_to_space_})

DEPTH_OP(op_depth_to_space, "DepthToSpace", true);
DEPTH_OP(op_space_to_depth, "SpaceToDepth", false);
