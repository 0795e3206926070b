/* GroupNormalization-12: normalizes each group of channels of a batch element to mean 0 and
 * variance 1, then applies a scale and a bias per channel.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ops/op.h"

enum { DATA, SCALE, BIAS };

struct group_attrs {
    int64_t num_groups;
    double epsilon;
};

struct group_state {
    size_t n_planes;   /* planes in all batch elements */
    size_t n_groups;   /* groups per batch element */
    size_t n_channels; /* channels per group */
    size_t n_inner;    /* elements per plane */
    size_t n_parts;    /* parts of the work for the thread pool */
    reduce_fn *sum, *sum_of_squared_deviations;
    affine_fn *affine;
};

/* The statistics of a plane. A plane holds the elements of one channel of a batch element. */
struct plane {
    double mean, deviations; /* deviations: the sum of the squared deviations from the mean */
};

static const struct attr_def attr_table[] = {
    ATTR(struct group_attrs, num_groups, NULL),
    ATTR(struct group_attrs, epsilon, NULL),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_FLOAT, .same = 1},
    {"scale", .types = TYPES_FLOAT, .same = 1},
    {"bias", .types = TYPES_FLOAT, .same = 1},
};

static bool infer(struct infer *infer)
{
    const struct group_attrs *attrs = infer->attrs;
    struct group_state *state = infer->state;
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    if (data->rank < 2)
        return infer_fail_input(infer, DATA, "at least 2 dimensions: batch and channels");
    int64_t n_channels = data->dims[1];
    for (uint32_t i = SCALE; i <= BIAS; i++) {
        const struct irrun_shape *shape = &infer->in[i]->shape;
        if (shape->rank != 1 || shape->dims[0] != n_channels)
            return infer_fail_input(infer, i, "a number for each of %lld channels",
                                    (long long)n_channels);
    }
    if (attrs->num_groups < 1 || n_channels % attrs->num_groups != 0)
        return infer_fail(infer, "num_groups is %lld, which does not divide %lld channels",
                          (long long)attrs->num_groups, (long long)n_channels);
    if (!infer_output(infer, 0, infer->in[DATA]->dtype, data))
        return false;
    if (shape_n_elements(data) == 0)
        return true;
    state->n_planes = (size_t)shape_product(data, 0, 2);
    state->n_groups = (size_t)attrs->num_groups;
    state->n_channels = (size_t)(n_channels / attrs->num_groups);
    state->n_inner = (size_t)shape_product(data, 2, data->rank);
    return true;
}

static bool prepare(struct prepare *prepare)
{
    struct group_state *state = prepare->state;
    enum irrun_dtype dtype = prepare->in[DATA]->dtype;
    const struct kernels *kernels = prepare->kernels;
    double n = (double)state->n_planes * (double)state->n_inner;
    state->sum = reduce_choose(kernels->reduce, REDUCE_SUM, dtype);
    state->sum_of_squared_deviations =
        reduce_choose(kernels->reduce, REDUCE_SUM_OF_SQUARED_DEVIATIONS, dtype);
    state->affine = dtype == IRRUN_F32 ? kernels->affine->f32 : kernels->affine->f64;
    state->n_parts =
        thread_pool_n_parts(prepare->pool, 2 * SHARE_ELEMENT_WORK * n, state->n_planes);
    return prepare_scratch(prepare, state->n_planes, sizeof(struct plane));
}

/* Computes the statistics of the planes of a part. */
static void measure_planes(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    const struct group_state *state = step->state;
    const struct reduction row = {.n_rows = 1, .n = state->n_inner};
    size_t end = state->n_planes * (part + 1) / n_parts;
    for (size_t i = state->n_planes * part / n_parts; i < end; i++) {
        struct plane *plane = (struct plane *)step->scratch + i;
        const void *in = tensor_at(step->in[DATA], i * state->n_inner);
        union accumulator sum = {.f64 = 0}, deviations = {.f64 = 0};
        struct reduction centered = row;
        state->sum(&row, in, &sum);
        plane->mean = sum.f64 / (double)state->n_inner;
        centered.centers = &plane->mean;
        state->sum_of_squared_deviations(&centered, in, &deviations);
        plane->deviations = deviations.f64;
    }
}

/* Computes the mean and the variance of a group from the statistics of its planes, which all have
 * the same size. See Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for
 * computing sample variances", 1979. */
static void merge_planes(const struct group_state *state, const struct plane *planes, double *mean,
                         double *variance)
{
    double n = (double)state->n_channels, sum = 0, deviations = 0;
    for (size_t i = 0; i < state->n_channels; i++)
        sum += planes[i].mean;
    *mean = sum / n;
    for (size_t i = 0; i < state->n_channels; i++) {
        double between = planes[i].mean - *mean;
        deviations += planes[i].deviations / (double)state->n_inner + between * between;
    }
    *variance = deviations / n;
}

/* Normalizes the planes of a part. */
static void normalize_planes(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    const struct group_state *state = step->state;
    const struct plane *planes = step->scratch;
    enum irrun_dtype dtype = step->in[DATA]->dtype;
    double epsilon = ((const struct group_attrs *)step->op->attrs)->epsilon;
    double mean = 0, variance = 0;
    size_t begin = state->n_planes * part / n_parts, end = state->n_planes * (part + 1) / n_parts;
    for (size_t i = begin; i < end; i++) {
        size_t channel = i % (state->n_groups * state->n_channels),
               in_group = i % state->n_channels;
        if (i == begin || in_group == 0)
            merge_planes(state, planes + i - in_group, &mean, &variance);
        struct affine affine = {
            .center = mean,
            .scale =
                element_as_f64(dtype, step->in[SCALE]->data, channel) / sqrt(variance + epsilon),
            .shift = element_as_f64(dtype, step->in[BIAS]->data, channel),
        };
        size_t at = i * state->n_inner;
        state->affine(&affine, tensor_at(step->in[DATA], at), tensor_at(step->out[0], at),
                      state->n_inner);
    }
}

static void run(const struct step *step)
{
    const struct group_state *state = step->state;
    if (state->n_planes == 0)
        return;
    thread_pool_run(step->pool, measure_planes, (void *)step, state->n_parts);
    thread_pool_run(step->pool, normalize_planes, (void *)step, state->n_parts);
}

const struct op_def op_group_normalization = {
    .type = "GroupNormalization",
    .opset = 12,
    .flags = OP_IN_PLACE,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct group_attrs),
    .state_size = sizeof(struct group_state),
    .infer = infer,
    .prepare = prepare,
    .compute = run,
};
