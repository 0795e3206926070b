/* Sums and maps of slices along any axes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/normalization.h"

#include <string.h>

bool normalize_infer(struct infer *infer, const bool is_set[IRRUN_MAX_RANK],
                     struct normalize *normalize)
{
    const struct irrun_shape *data = &infer->in[0]->shape;
    struct irrun_shape slices = *data;
    if (!infer_output(infer, 0, infer->in[0]->dtype, data))
        return false;
    normalize->n_terms = 1;
    for (uint32_t i = 0; i < data->rank; i++) {
        if (is_set[i]) {
            normalize->n_terms *= data->dims[i];
            slices.dims[i] = 1;
        }
    }
    bool is_empty = shape_n_elements(data) == 0;
    normalize->n_slices = is_empty ? 0 : (size_t)shape_n_elements(&slices);
    const struct irrun_shape *shapes[] = {data, &slices};
    return broadcast_plan(&normalize->loops, 2, shapes, infer->arena, infer->err);
}

bool normalize_infer_axes(struct infer *infer, struct normalize *normalize)
{
    struct i64_list axes = {0};
    bool is_set[IRRUN_MAX_RANK];
    return infer_ints(infer, 1, &axes) &&
           infer_axes(infer, &axes, infer->in[0]->shape.rank, is_set) &&
           normalize_infer(infer, is_set, normalize);
}

bool normalize_prepare(struct prepare *prepare, struct normalize *normalize)
{
    enum irrun_dtype dtype = prepare->in[0]->dtype;
    normalize->element_bytes = dtype_size(dtype);
    normalize->sum = reduce_scalar(REDUCE_SUM, dtype);
    normalize->sum_of_squares = reduce_scalar(REDUCE_SUM_OF_SQUARES, dtype);
    normalize->deviations = deviations_scalar(dtype);
    normalize->affine = affine_scalar(dtype);
    normalize->affine_each = affine_each_scalar(dtype);
    prepare->made.scratch_bytes = normalize->n_slices * 3 * sizeof(double);
    return true;
}

struct slices normalize_start(const struct step *step, const struct normalize *normalize)
{
    size_t n = normalize->n_slices;
    if (n)
        memset(step->scratch, 0, n * 2 * sizeof(double));
    struct slices slices = {.means = step->scratch};
    if (n) {
        slices.sums = slices.means + n;
        slices.scales = slices.sums + n;
    }
    return slices;
}

struct pass {
    const struct step *step;
    const struct normalize *normalize;
    const struct slices *slices;
    reduce_fn *fold;
    double *to;
};

static const char *element(const struct pass *pass, int64_t offset)
{
    return (const char *)pass->step->in[0]->data + (size_t)offset * pass->normalize->element_bytes;
}

static bool visit_fold(void *context, const int64_t *offsets)
{
    const struct pass *pass = context;
    const struct broadcast *loops = &pass->normalize->loops;
    pass->fold((union accumulator *)(void *)(pass->to + offsets[1]), loops->inner_strides[1] == 0,
               element(pass, offsets[0]), (size_t)loops->n_inner);
    return true;
}

static bool visit_deviations(void *context, const int64_t *offsets)
{
    const struct pass *pass = context;
    const struct broadcast *loops = &pass->normalize->loops;
    pass->normalize->deviations(pass->slices->sums + offsets[1], pass->slices->means + offsets[1],
                                loops->inner_strides[1] == 0, element(pass, offsets[0]),
                                (size_t)loops->n_inner);
    return true;
}

static bool visit_apply(void *context, const int64_t *offsets)
{
    const struct pass *pass = context;
    const struct normalize *normalize = pass->normalize;
    size_t n = (size_t)normalize->loops.n_inner;
    const double *mean = pass->slices->means + offsets[1];
    const double *scale = pass->slices->scales + offsets[1];
    char *out = (char *)pass->step->out[0]->data + (size_t)offsets[0] * normalize->element_bytes;
    if (normalize->loops.inner_strides[1] == 0)
        normalize->affine(&(struct affine){*mean, *scale, 0}, element(pass, offsets[0]), out, n);
    else
        normalize->affine_each(mean, scale, element(pass, offsets[0]), out, n);
    return true;
}

void normalize_means(const struct step *step, const struct normalize *normalize,
                     const struct slices *slices)
{
    struct pass pass = {step, normalize, slices, normalize->sum, slices->means};
    broadcast_walk(&normalize->loops, visit_fold, &pass);
    for (size_t i = 0; i < normalize->n_slices; i++)
        slices->means[i] /= (double)normalize->n_terms;
}

void normalize_deviations(const struct step *step, const struct normalize *normalize,
                          const struct slices *slices)
{
    struct pass pass = {.step = step, .normalize = normalize, .slices = slices};
    broadcast_walk(&normalize->loops, visit_deviations, &pass);
}

void normalize_squares(const struct step *step, const struct normalize *normalize,
                       const struct slices *slices)
{
    struct pass pass = {step, normalize, slices, normalize->sum_of_squares, slices->sums};
    broadcast_walk(&normalize->loops, visit_fold, &pass);
}

void normalize_apply(const struct step *step, const struct normalize *normalize,
                     const struct slices *slices)
{
    struct pass pass = {.step = step, .normalize = normalize, .slices = slices};
    broadcast_walk(&normalize->loops, visit_apply, &pass);
}
