/* DepthToSpace-1 and SpaceToDepth-1 move blocks of the spatial dimensions to channels and back.
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
    ATTR_END,
};

static const struct op_input_def inputs[] = {{"data", .types = TYPES_ANY}, {.name = NULL}};

/* The deep form is [N][blocks … and C in the order of mode][D …]; the spatial form is
 * [N][C][D][block] …. Both have strides for the same loops: N, C, then D and block for each spatial
 * dimension. */
struct forms {
    uint32_t n_spatial;
    int64_t block, n_channels; /* of the spatial form */
    int64_t batch;
    int64_t spatial[IRRUN_MAX_RANK]; /* of the deep form */
};

static void deep_strides(const struct forms *forms, int mode, int64_t *strides)
{
    int64_t inner = 1;
    for (uint32_t i = forms->n_spatial; i-- > 0;) {
        strides[2 + 2 * i] = inner;
        inner *= forms->spatial[i];
    }
    if (mode == MODE_BLOCKS_FIRST) {
        strides[1] = inner;
        inner *= forms->n_channels;
    }
    for (uint32_t i = forms->n_spatial; i-- > 0;) {
        strides[3 + 2 * i] = inner;
        inner *= forms->block;
    }
    if (mode == MODE_DEPTH_FIRST) {
        strides[1] = inner;
        inner *= forms->n_channels;
    }
    strides[0] = inner;
}

static void spatial_strides(const struct forms *forms, int64_t *strides)
{
    int64_t inner = 1;
    for (uint32_t i = forms->n_spatial; i-- > 0;) {
        strides[3 + 2 * i] = inner;
        strides[2 + 2 * i] = inner * forms->block;
        inner *= forms->block * forms->spatial[i];
    }
    strides[1] = inner;
    strides[0] = inner * forms->n_channels;
}

/* Computes both forms from the input, which has one of them. */
static bool find_forms(struct infer *infer, bool is_to_space, struct forms *forms,
                       struct irrun_shape *out)
{
    const struct irrun_shape *in = &infer->in[0]->shape;
    int64_t block = ((const struct depth_attrs *)infer->attrs)->block_size, n_in_block = 1;
    if (in->rank < 3)
        return infer_fail_input(infer, 0, "a batch, channels, and spatial dimensions");
    if (block < 1)
        return infer_fail(infer, "block_size is %lld, expected 1 or more", (long long)block);
    *forms = (struct forms){.n_spatial = in->rank - 2, .block = block, .batch = in->dims[0]};
    *out = *in;
    for (uint32_t i = 0; i < forms->n_spatial; i++) {
        int64_t dim = in->dims[2 + i], *to = &out->dims[2 + i];
        if (!checked_mul_i64(n_in_block, block, &n_in_block) ||
            (is_to_space && !checked_mul_i64(dim, block, to)))
            return infer_fail(infer, "block_size %lld is too large", (long long)block);
        if (!is_to_space && dim % block != 0)
            return infer_fail_input(infer, 0, "a dimension %u that is divisible by block_size %lld",
                                    2 + i, (long long)block);
        if (!is_to_space)
            *to = dim / block;
        forms->spatial[i] = is_to_space ? dim : *to;
    }
    if (is_to_space && in->dims[1] % n_in_block != 0)
        return infer_fail_input(infer, 0, "channels, a multiple of %lld, the elements of a block",
                                (long long)n_in_block);
    forms->n_channels = is_to_space ? in->dims[1] / n_in_block : in->dims[1];
    if (is_to_space)
        out->dims[1] = forms->n_channels;
    else if (!checked_mul_i64(in->dims[1], n_in_block, &out->dims[1]))
        return infer_fail(infer, "block_size %lld is too large", (long long)block);
    return true;
}

static bool infer(struct infer *infer)
{
    bool is_to_space = *(const bool *)infer->op->def->family;
    int mode = ((const struct depth_attrs *)infer->attrs)->mode;
    struct move_state *state = infer->state;
    struct forms forms = {0};
    struct irrun_shape out;
    if (!find_forms(infer, is_to_space, &forms, &out) ||
        !infer_output(infer, 0, infer->in[0]->dtype, &out))
        return false;
    int64_t dims[STRIDED_COPY_MAX_RANK] = {forms.batch, forms.n_channels};
    int64_t deep[STRIDED_COPY_MAX_RANK], spatial[STRIDED_COPY_MAX_RANK];
    for (uint32_t i = 0; i < forms.n_spatial; i++) {
        dims[2 + 2 * i] = forms.spatial[i];
        dims[3 + 2 * i] = forms.block;
    }
    deep_strides(&forms, mode, deep);
    spatial_strides(&forms, spatial);
    *state = (struct move_state){0};
    strided_copy_plan(&state->copy, 2 + 2 * forms.n_spatial, dims, is_to_space ? deep : spatial,
                      is_to_space ? spatial : deep);
    return true;
}

#define DEPTH_OP(object, type_, is_to_space_)                                                      \
    MOVE_OP(object, type_, 1, inputs, infer, OP_ATTRS(attr_table, struct depth_attrs),             \
            .family = &(const bool){is_to_space_})

DEPTH_OP(op_depth_to_space, "DepthToSpace", true);
DEPTH_OP(op_space_to_depth, "SpaceToDepth", false);
