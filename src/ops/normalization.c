/* Sums and maps of slices along any axes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/normalization.h"

#include <string.h>

struct reduction reduction_take(struct broadcast *loops)
{
    struct reduction inner = {
        .n_rows = 1, .n = (size_t)loops->n_inner, .to_columns = loops->inner_strides[1] != 0};
    if (loops->rank > 0) {
        const struct broadcast_loop *rows = &loops->loops[--loops->rank];
        inner.n_rows = (size_t)rows->n;
        inner.row_step = (size_t)rows->strides[0];
    }
    return inner;
}

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
    if (!broadcast_plan(&normalize->loops, 2, shapes, infer->arena, infer->err))
        return false;
    normalize->inner = reduction_take(&normalize->loops);
    return true;
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
    const struct reduce_kernels *reduce = prepare->kernels->reduce;
    const struct affine_kernels *affine = prepare->kernels->affine;
    normalize->sum = reduce_choose(reduce, REDUCE_SUM, dtype);
    normalize->sum_of_squares = reduce_choose(reduce, REDUCE_SUM_OF_SQUARES, dtype);
    normalize->sum_of_deviations = reduce_choose(reduce, REDUCE_SUM_OF_DEVIATIONS, dtype);
    normalize->affine = dtype == IRRUN_F32 ? affine->f32 : affine->f64;
    normalize->affine_each = dtype == IRRUN_F32 ? affine->each_f32 : affine->each_f64;
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
    reduce_fn *reduce;
    double *to;
};

static bool visit_reduce(void *context, const int64_t *offsets)
{
    const struct pass *pass = context;
    struct reduction reduction = pass->normalize->inner;
    size_t first = (size_t)offsets[0] * pass->normalize->element_bytes;
    reduction.centers = pass->slices->means + offsets[1];
    pass->reduce(&reduction, (const char *)pass->step->in[0]->data + first,
                 (union accumulator *)(void *)(pass->to + offsets[1]));
    return true;
}

static void reduce_slices(const struct step *step, const struct normalize *normalize,
                          const struct slices *slices, reduce_fn *reduce, double *to)
{
    struct pass pass = {step, normalize, slices, reduce, to};
    broadcast_walk(&normalize->loops, visit_reduce, &pass);
}

static bool visit_apply(void *context, const int64_t *offsets)
{
    const struct pass *pass = context;
    const struct normalize *normalize = pass->normalize;
    const struct reduction *inner = &normalize->inner;
    const double *mean = pass->slices->means + offsets[1];
    const double *scale = pass->slices->scales + offsets[1];
    for (size_t row = 0; row < inner->n_rows; row++) {
        size_t first = ((size_t)offsets[0] + row * inner->row_step) * normalize->element_bytes;
        const char *in = (const char *)pass->step->in[0]->data + first;
        char *out = (char *)pass->step->out[0]->data + first;
        if (inner->to_columns)
            normalize->affine_each(mean, scale, in, out, inner->n);
        else
            normalize->affine(&(struct affine){mean[row], scale[row], 0}, in, out, inner->n);
    }
    return true;
}

void normalize_means(const struct step *step, const struct normalize *normalize,
                     const struct slices *slices)
{
    reduce_slices(step, normalize, slices, normalize->sum, slices->means);
    for (size_t i = 0; i < normalize->n_slices; i++)
        slices->means[i] /= (double)normalize->n_terms;
}

void normalize_deviations(const struct step *step, const struct normalize *normalize,
                          const struct slices *slices)
{
    reduce_slices(step, normalize, slices, normalize->sum_of_deviations, slices->sums);
}

void normalize_squares(const struct step *step, const struct normalize *normalize,
                       const struct slices *slices)
{
    reduce_slices(step, normalize, slices, normalize->sum_of_squares, slices->sums);
}

void normalize_apply(const struct step *step, const struct normalize *normalize,
                     const struct slices *slices)
{
    struct pass pass = {.step = step, .normalize = normalize, .slices = slices};
    broadcast_walk(&normalize->loops, visit_apply, &pass);
}
