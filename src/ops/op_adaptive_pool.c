/* AdaptiveAvgPool-8 and AdaptiveMaxPool-8 over one to three spatial dimensions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/adaptive_pool.h"
#include "ops/indexing.h"

enum { DATA, OUTPUT_SHAPE };
#define LIMIT (INT64_C(1) << 31) /* so that products of two dimensions do not overflow */

struct adaptive_attrs {
    enum irrun_dtype index_element_type;
};

struct adaptive_state {
    struct adaptive_pool pool; /* for one channel */
    int64_t n_channels;        /* in all batch elements */
    int64_t n_in, n_out;       /* elements per channel */
};

static const struct attr_def max_attrs[] = {ATTR(struct adaptive_attrs, index_element_type, "i64")};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_FLOAT},
    {"output_shape", .types = TYPES_INTEGER},
};

static bool read_sizes(struct infer *infer, struct adaptive_pool *pool, struct irrun_shape *out)
{
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    struct i64_list sizes = {0};
    uint32_t rank = data->rank - 2;
    if (!infer_ints(infer, OUTPUT_SHAPE, &sizes))
        return false;
    if (sizes.n != rank)
        return infer_fail_input(infer, OUTPUT_SHAPE, "%u sizes", rank);
    for (uint32_t d = 0; d < 3; d++)
        pool->in[d] = pool->out[d] = 1;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t in = data->dims[2 + i], size = sizes.items[i];
        if (size < 0 || size >= LIMIT || in >= LIMIT)
            return infer_fail(infer, "output_shape has %lld for a dimension of %lld",
                              (long long)size, (long long)in);
        if (in == 0 && size > 0)
            return infer_fail_input(infer, DATA, "at least one element to pool");
        pool->in[3 - rank + i] = in;
        pool->out[3 - rank + i] = size;
        out->dims[2 + i] = size;
    }
    return true;
}

static bool infer(struct infer *infer)
{
    struct adaptive_state *state = infer->state;
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    struct irrun_shape out = *data;
    if (data->rank < 3 || data->rank > 5)
        return infer_fail_input(infer, DATA,
                                "3 to 5 dimensions: batch, channels, 1 to 3 spatial ones");
    if (!read_sizes(infer, &state->pool, &out) ||
        !infer_output(infer, 0, infer->in[DATA]->dtype, &out))
        return false;
    state->n_channels = shape_product(data, 0, 2);
    if (infer->n_outputs == 1)
        return true;
    enum irrun_dtype dtype = ((const struct adaptive_attrs *)infer->attrs)->index_element_type;
    return infer_index_type(infer, "index_element_type", dtype) &&
           infer_output(infer, 1, dtype, &out);
}

static bool prepare(struct prepare *prepare)
{
    struct adaptive_state *state = prepare->state;
    const struct irrun_shape *out = &prepare->out[0]->shape;
    if (shape_n_elements(out) == 0)
        return true;
    state->n_in = shape_product(&prepare->in[DATA]->shape, 2, out->rank);
    state->n_out = shape_product(out, 2, out->rank);
    bool is_max = prepare->op->def->attrs_size > 0;
    return !is_max || prepare_scratch(prepare, (size_t)state->n_out, sizeof(int64_t));
}

static void run(const struct step *step)
{
    const struct adaptive_state *state = step->state;
    enum irrun_dtype dtype = step->in[DATA]->dtype;
    bool is_max = step->op->def->attrs_size > 0; /* AdaptiveAvgPool has no attributes */
    for (size_t i = 0; i < (size_t)state->n_channels && state->n_out > 0; i++) {
        size_t n_out = (size_t)state->n_out;
        const void *in = tensor_at(step->in[DATA], i * (size_t)state->n_in);
        void *out = tensor_at(step->out[0], i * n_out);
        if (is_max)
            adaptive_max_pool(dtype, &state->pool, in, out, step->scratch);
        else
            adaptive_avg_pool(dtype, &state->pool, in, out);
        if (step->n_outputs > 1)
            convert_elements(IRRUN_I64, step->scratch, step->out[1]->dtype,
                             tensor_at(step->out[1], i * n_out), n_out);
    }
}

#define ADAPTIVE_OP(object, type_, ...)                                                            \
    const struct op_def object = {.type = type_,                                                   \
                                  .opset = 8,                                                      \
                                  OP_INPUTS(inputs),                                               \
                                  .state_size = sizeof(struct adaptive_state),                     \
                                  .infer = infer,                                                  \
                                  .prepare = prepare,                                              \
                                  .compute = run,                                                  \
                                  __VA_ARGS__}

ADAPTIVE_OP(op_adaptive_avg_pool, "AdaptiveAvgPool", );
ADAPTIVE_OP(op_adaptive_max_pool, "AdaptiveMaxPool", .n_outputs = 2, .n_outputs_min = 1,
            OP_ATTRS(max_attrs, struct adaptive_attrs));
