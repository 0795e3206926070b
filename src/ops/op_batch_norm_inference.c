/* BatchNormInference-1 and -5, which differ in the order of the inputs: normalizes every channel by
 * its mean and variance, then applies a scale and a bias.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ops/indexing.h"

struct batch_norm_attrs {
    double epsilon;
};

/* The indices of the inputs. */
struct batch_norm_family {
    uint32_t data, gamma, beta, mean, variance;
};

struct batch_norm_state {
    size_t n_batches, n_channels, n_inner; /* n_inner: elements per channel */
    affine_fn *affine;
    struct affine *coefficients; /* one per channel; NULL: run computes them */
};

static const struct attr_def attr_table[] = {ATTR(struct batch_norm_attrs, epsilon, NULL)};

#define INPUT(name_)                                                                               \
    {                                                                                              \
        name_, .types = TYPES_FLOAT, .same = 1                                                     \
    }
static const struct op_input_def v1_inputs[] = {INPUT("gamma"), INPUT("beta"), INPUT("data"),
                                                INPUT("mean"), INPUT("variance")};
static const struct op_input_def v5_inputs[] = {INPUT("data"), INPUT("gamma"), INPUT("beta"),
                                                INPUT("mean"), INPUT("variance")};

static bool infer(struct infer *infer)
{
    const struct batch_norm_family *family = infer->op->def->family;
    struct batch_norm_state *state = infer->state;
    const struct irrun_shape *data = &infer->in[family->data]->shape;
    if (data->rank < 2)
        return infer_fail_input(infer, family->data, "at least 2 dimensions: batch and channels");
    for (uint32_t i = 0; i < infer->n_inputs; i++) {
        const struct irrun_shape *shape = &infer->in[i]->shape;
        if (i != family->data && (shape->rank != 1 || shape->dims[0] != data->dims[1])) {
            infer_fail_input(infer, i, "a number for each of %lld channels",
                             (long long)data->dims[1]);
            return infer_hint_input(infer, family->data);
        }
    }
    if (!infer_output(infer, 0, infer->in[family->data]->dtype, data))
        return false;
    if (shape_n_elements(data) == 0)
        return true;
    state->n_batches = (size_t)data->dims[0];
    state->n_channels = (size_t)data->dims[1];
    state->n_inner = (size_t)shape_product(data, 2, data->rank);
    return true;
}

/* Computes the affine map (x - center) * scale + shift of each channel. */
static void compute_affines(const struct step *step, struct affine *coefficients)
{
    const struct batch_norm_family *f = step->op->def->family;
    const struct batch_norm_state *state = step->state;
    enum irrun_dtype dtype = step->out[0]->dtype;
    double epsilon = ((const struct batch_norm_attrs *)step->op->attrs)->epsilon;
    for (size_t c = 0; c < state->n_channels; c++) {
        double variance = element_as_f64(dtype, step->in[f->variance]->data, c);
        coefficients[c].center = element_as_f64(dtype, step->in[f->mean]->data, c);
        coefficients[c].scale =
            element_as_f64(dtype, step->in[f->gamma]->data, c) / sqrt(variance + epsilon);
        coefficients[c].shift = element_as_f64(dtype, step->in[f->beta]->data, c);
    }
}

static bool prepare(struct prepare *prepare)
{
    const struct batch_norm_family *f = prepare->op->def->family;
    struct batch_norm_state *state = prepare->state;
    const struct step step = prepare_step(prepare);
    const struct affine_kernels *affine = prepare->kernels->affine;
    state->affine = prepare->out[0]->dtype == IRRUN_F32 ? affine->f32 : affine->f64;
    if (!prepare_is_constant(prepare, f->gamma) || !prepare_is_constant(prepare, f->beta) ||
        !prepare_is_constant(prepare, f->mean) || !prepare_is_constant(prepare, f->variance)) {
        prepare->made.scratch_bytes = state->n_channels * sizeof(struct affine);
        return true;
    }
    state->coefficients = arena_alloc_array(prepare->arena, state->n_channels,
                                            sizeof *state->coefficients, prepare->err);
    if (!state->coefficients)
        return false;
    compute_affines(&step, state->coefficients);
    return true;
}

static void run(const struct step *step)
{
    const struct batch_norm_family *f = step->op->def->family;
    const struct batch_norm_state *state = step->state;
    const struct affine *coefficients = state->coefficients;
    if (!coefficients) {
        compute_affines(step, step->scratch);
        coefficients = step->scratch;
    }
    size_t n = state->n_inner;
    for (size_t i = 0; i < state->n_batches * state->n_channels; i++)
        state->affine(&coefficients[i % state->n_channels], tensor_at(step->in[f->data], i * n),
                      tensor_at(step->out[0], i * n), n);
}

#define BATCH_NORM_OP(object, opset_, opset_last_, inputs_, ...)                                   \
    const struct op_def object = {                                                                 \
        .type = "BatchNormInference",                                                              \
        .opset = opset_,                                                                           \
        .opset_last = opset_last_,                                                                 \
        .flags = OP_IN_PLACE,                                                                      \
        OP_INPUTS(inputs_),                                                                        \
        OP_ATTRS(attr_table, struct batch_norm_attrs),                                             \
        .state_size = sizeof(struct batch_norm_state),                                             \
        .family = &(const struct batch_norm_family){__VA_ARGS__},                                  \
        .infer = infer,                                                                            \
        .prepare = prepare,                                                                        \
        .compute = run,                                                                            \
    }

BATCH_NORM_OP(op_batch_norm_inference_v1, 1, 4, v1_inputs, .data = 2, .gamma = 0, .beta = 1,
              .mean = 3, .variance = 4);
BATCH_NORM_OP(op_batch_norm_inference_v5, 5, 0, v5_inputs, .data = 0, .gamma = 1, .beta = 2,
              .mean = 3, .variance = 4);
