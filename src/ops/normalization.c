/* Reduces slices along any axes to sums, and applies a scale and a shift to their elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/normalization.h"

#include <string.h>

#define NO_SHIFT (-0.0) /* 0.0 would change the sign of a result of -0.0 */

struct reduction reduction_split_off(struct broadcast *loops)
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

bool normalize_infer(struct infer *infer, const bool is_set[IRRUN_MAX_RANK])
{
    struct normalize *normalize = infer->state;
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
    normalize->inner = reduction_split_off(&normalize->loops);
    return true;
}

bool normalize_infer_axes(struct infer *infer)
{
    struct i64_list axes = {0};
    bool is_set[IRRUN_MAX_RANK];
    return infer_ints(infer, 1, &axes) &&
           infer_axes(infer, &axes, infer->in[0]->shape.rank, is_set) &&
           normalize_infer(infer, is_set);
}

/* Returns the number of units that the work can be divided into: the slices, if they are rows;
 * otherwise 1. */
static size_t n_units(const struct normalize *normalize)
{
    bool has_rows = normalize->loops.rank == 0 && !normalize->inner.to_columns;
    return has_rows && normalize->n_slices > 0 ? normalize->inner.n_rows : 1;
}

bool normalize_prepare(struct prepare *prepare, share_fn *run)
{
    struct normalize *normalize = prepare->state;
    enum irrun_dtype dtype = prepare->in[0]->dtype;
    const struct reduce_kernels *reduce = prepare->kernels->reduce;
    const struct affine_kernels *affine = prepare->kernels->affine;
    normalize->sum = reduce_choose(reduce, REDUCE_SUM, dtype);
    normalize->sum_of_squares = reduce_choose(reduce, REDUCE_SUM_OF_SQUARES, dtype);
    normalize->sum_of_squared_deviations =
        reduce_choose(reduce, REDUCE_SUM_OF_SQUARED_DEVIATIONS, dtype);
    normalize->affine = dtype == IRRUN_F32 ? affine->f32 : affine->f64;
    normalize->affine_each = dtype == IRRUN_F32 ? affine->each_f32 : affine->each_f64;
    prepare->made.scratch_bytes = normalize->n_slices * 3 * sizeof(double);
    double n = (double)normalize->n_slices * (double)normalize->n_terms;
    return prepare_sharing(prepare, run, n_units(normalize), 3 * SHARE_ELEMENT_WORK * n);
}

struct slices normalize_start(const struct step *step, size_t begin, size_t end)
{
    const struct normalize *normalize = step->state;
    bool has_rows = n_units(normalize) > 1;
    size_t n = normalize->n_slices;
    struct slices slices = {.first = has_rows ? begin : 0, .n = has_rows ? end - begin : n};
    if (n == 0)
        return slices;
    slices.means = (double *)step->scratch + slices.first;
    slices.sums = slices.means + n;
    slices.scales = slices.sums + n;
    memset(slices.means, 0, slices.n * sizeof(double));
    memset(slices.sums, 0, slices.n * sizeof(double));
    return slices;
}

/* One pass over the slices of a part of the work: n rows from slices->first on, if slices are rows;
 * otherwise all slices. */
struct pass {
    const struct step *step;
    const struct slices *slices;
    struct reduction inner;
    reduce_fn *reduce;
    double *to; /* for a reduction: the result of each slice */
};

static void visit_slices(struct pass *pass, broadcast_visit_fn *visit)
{
    const struct normalize *normalize = pass->step->state;
    pass->inner = normalize->inner;
    if (n_units(normalize) == 1) {
        broadcast_walk(&normalize->loops, visit, pass);
        return;
    }
    pass->inner.n_rows = pass->slices->n;
    visit(pass, (int64_t[]){(int64_t)(pass->slices->first * pass->inner.row_step), 0},
          (size_t)normalize->loops.n_inner);
}

static bool visit_reduce(void *context, const int64_t *offsets, size_t n)
{
    (void)n; /* pass->inner has it */
    const struct pass *pass = context;
    struct reduction reduction = pass->inner;
    reduction.centers = pass->slices->means + offsets[1];
    pass->reduce(&reduction, tensor_at(pass->step->in[0], (size_t)offsets[0]),
                 (union accumulator *)(void *)(pass->to + offsets[1]));
    return true;
}

void normalize_reduce(const struct step *step, const struct slices *slices, reduce_fn *reduce,
                      double *to)
{
    struct pass pass = {.step = step, .slices = slices, .reduce = reduce, .to = to};
    visit_slices(&pass, visit_reduce);
}

static bool visit_apply(void *context, const int64_t *offsets, size_t n)
{
    (void)n; /* pass->inner has it */
    const struct pass *pass = context;
    const struct normalize *normalize = pass->step->state;
    const struct reduction *inner = &pass->inner;
    const double *mean = pass->slices->means + offsets[1];
    const double *scale = pass->slices->scales + offsets[1];
    for (size_t row = 0; row < inner->n_rows; row++) {
        size_t first = (size_t)offsets[0] + row * inner->row_step;
        const void *in = tensor_at(pass->step->in[0], first);
        void *out = tensor_at(pass->step->out[0], first);
        if (inner->to_columns)
            normalize->affine_each(mean, scale, in, out, inner->n);
        else
            normalize->affine(&(struct affine){mean[row], scale[row], NO_SHIFT}, in, out, inner->n);
    }
    return true;
}

void normalize_apply(const struct step *step, const struct slices *slices)
{
    struct pass pass = {.step = step, .slices = slices};
    visit_slices(&pass, visit_apply);
}
