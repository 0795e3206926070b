/* SpaceToBatch-2 divides the dimensions after the first into blocks and moves the elements of a
 * block to the batch; BatchToSpace-2 is the inverse. SpaceToBatch pads its input with zeros,
 * BatchToSpace crops its output.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/movement.h"

enum { DATA, BLOCK_SHAPE, PADS_BEGIN, PADS_END };

/* The spatial tensor is the input of SpaceToBatch and the output of BatchToSpace. Its dimension i,
 * with padding, is divided into blocks of block[i] elements; the first begin[i] elements are
 * padding. Element r (in row-major order) of every block of batch b is in batch r * spatial.dims[0]
 * + b of the batch tensor. */
struct blocks_state {
    struct irrun_shape spatial, batch; /* spatial without padding */
    int64_t block[IRRUN_MAX_RANK], begin[IRRUN_MAX_RANK];
    int64_t n_block_elements; /* elements per block */
};

static const struct op_input_def to_batch_inputs[] = {
    {"data", .types = TYPES_ANY},
    {"block_shape", .types = TYPES_INTEGER},
    {"pads_begin", .types = TYPES_INTEGER},
    {"pads_end", .types = TYPES_INTEGER},
};
static const struct op_input_def to_space_inputs[] = {
    {"data", .types = TYPES_ANY},
    {"block_shape", .types = TYPES_INTEGER},
    {"crops_begin", .types = TYPES_INTEGER},
    {"crops_end", .types = TYPES_INTEGER},
};

static bool read_lists(struct infer *infer, struct i64_list lists[4])
{
    uint32_t rank = infer->in[DATA]->shape.rank;
    if (rank == 0)
        return infer_fail_input(infer, DATA, "a batch dimension");
    for (uint32_t i = BLOCK_SHAPE; i <= PADS_END; i++) {
        lists[i] = (struct i64_list){0};
        if (!infer_ints(infer, i, &lists[i]))
            return false;
        if (lists[i].n != rank)
            return infer_fail_input(infer, i, "%u numbers, one per dimension of the data", rank);
        for (uint32_t k = 0; k < rank; k++) {
            int64_t low = i == BLOCK_SHAPE, item = lists[i].items[k];
            if (item < low || (k == 0 && item != low))
                return infer_fail(infer, "%s[%u] is %lld, expected %s %lld",
                                  infer->op->def->inputs[i].name, k, (long long)item,
                                  k == 0 ? "exactly" : "at least", (long long)low);
        }
    }
    return true;
}

/* Sets *dim to dimension i of the output. */
static bool find_dim(struct infer *infer, uint32_t i, int64_t block, int64_t n_pads,
                     bool is_to_batch, int64_t *dim)
{
    int64_t in = infer->in[DATA]->shape.dims[i], whole;
    if (is_to_batch) {
        if (!checked_add_i64(in, n_pads, &whole) || whole % block != 0)
            return infer_fail_input(
                infer, DATA,
                "a dimension %u that, padded by %lld, is divisible into blocks of %lld", i,
                (long long)n_pads, (long long)block);
        *dim = whole / block;
        return true;
    }
    if (!checked_mul_i64(in, block, &whole) || whole < n_pads)
        return infer_fail_input(
            infer, DATA,
            "a dimension %u that, multiplied by %lld, is at least the total crop of %lld", i,
            (long long)block, (long long)n_pads);
    *dim = whole - n_pads;
    return true;
}

static bool infer(struct infer *infer)
{
    bool is_to_batch = *(const bool *)infer->op->def->family;
    struct blocks_state *state = infer->state;
    const struct irrun_shape *in = &infer->in[DATA]->shape;
    struct irrun_shape out = *in;
    struct i64_list lists[4];
    if (!read_lists(infer, lists))
        return false;
    state->n_block_elements = 1;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t block = lists[BLOCK_SHAPE].items[i], begin = lists[PADS_BEGIN].items[i], n_pads;
        if (!checked_mul_i64(state->n_block_elements, block, &state->n_block_elements) ||
            !checked_add_i64(begin, lists[PADS_END].items[i], &n_pads))
            return infer_fail(infer, "the blocks, pads or crops are too large");
        if (!find_dim(infer, i, block, n_pads, is_to_batch, &out.dims[i]))
            return false;
        state->block[i] = block;
        state->begin[i] = begin;
    }
    if (is_to_batch && !checked_mul_i64(in->dims[0], state->n_block_elements, &out.dims[0]))
        return infer_fail(infer, "the blocks are too large");
    if (!is_to_batch && in->dims[0] % state->n_block_elements != 0)
        return infer_fail_input(infer, DATA,
                                "a batch that is a multiple of %lld, the size of a block",
                                (long long)state->n_block_elements);
    if (!is_to_batch)
        out.dims[0] = in->dims[0] / state->n_block_elements;
    state->spatial = is_to_batch ? *in : out;
    state->batch = is_to_batch ? out : *in;
    return infer_output(infer, 0, infer->in[DATA]->dtype, &out);
}

/* Copies element `element` of every block. */
static void copy_element(const struct step *step, int64_t element, const int64_t *spatial_strides,
                         const int64_t *batch_strides)
{
    const struct blocks_state *state = step->state;
    bool is_to_batch = *(const bool *)step->op->def->family;
    uint32_t rank = state->spatial.rank;
    int64_t dims[IRRUN_MAX_RANK], strides[IRRUN_MAX_RANK], rest = element;
    int64_t spatial_offset = 0, batch_offset = element * state->spatial.dims[0] * batch_strides[0];
    for (uint32_t i = rank; i-- > 0;) {
        int64_t block = state->block[i], r = rest % block - state->begin[i];
        rest /= block;
        /* Block q has the element at q * block + r; from block `first` on, that is not padding. */
        int64_t first = r < 0 ? (-r + block - 1) / block : 0;
        int64_t last = state->spatial.dims[i] - 1 - r;
        dims[i] = last < 0 ? 0 : last / block + 1 - first;
        if (dims[i] <= 0)
            return;
        strides[i] = spatial_strides[i] * block;
        spatial_offset += (first * block + r) * spatial_strides[i];
        batch_offset += first * batch_strides[i];
    }
    struct strided_copy copy;
    size_t size = dtype_size(step->in[DATA]->dtype);
    char *in = (char *)step->in[DATA]->data, *out = step->out[0]->data;
    char *spatial = (is_to_batch ? in : out) + (size_t)spatial_offset * size;
    char *batch = (is_to_batch ? out : in) + (size_t)batch_offset * size;
    strided_copy_plan(&copy, rank, dims, is_to_batch ? strides : batch_strides,
                      is_to_batch ? batch_strides : strides);
    strided_copy_run(&copy, size, is_to_batch ? spatial : batch, is_to_batch ? batch : spatial);
}

static void run(const struct step *step)
{
    const struct blocks_state *state = step->state;
    bool is_to_batch = *(const bool *)step->op->def->family;
    size_t n_bytes = tensor_n_bytes(step->out[0]);
    if (n_bytes > 0 && is_to_batch) /* zeros for the padding */
        memset(step->out[0]->data, 0, n_bytes);
    if (n_bytes == 0 || tensor_n_bytes(step->in[DATA]) == 0)
        return;
    int64_t spatial_strides[IRRUN_MAX_RANK], batch_strides[IRRUN_MAX_RANK];
    move_strides(&state->spatial, spatial_strides);
    move_strides(&state->batch, batch_strides);
    for (int64_t element = 0; element < state->n_block_elements; element++)
        copy_element(step, element, spatial_strides, batch_strides);
}

#define BLOCKS_OP(object, type_, inputs_, is_to_batch_)                                            \
    const struct op_def object = {                                                                 \
        .type = type_,                                                                             \
        .opset = 2,                                                                                \
        .flags = OP_DATA_MOVEMENT,                                                                 \
        OP_INPUTS(inputs_),                                                                        \
        .state_size = sizeof(struct blocks_state),                                                 \
        .family = &(const bool){is_to_batch_},                                                     \
        .infer = infer,                                                                            \
        .compute = run,                                                                            \
    }

BLOCKS_OP(op_space_to_batch, "SpaceToBatch", to_batch_inputs, true);
BLOCKS_OP(op_batch_to_space, "BatchToSpace", to_space_inputs, false);
