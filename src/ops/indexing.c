/* Checks index tensors and computes offsets from them. Copies no data.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/indexing.h"
#include "ops/movement.h"

#define INDICES 1

struct axis_view axis_view_of(const struct irrun_shape *shape, uint32_t axis)
{
    return (struct axis_view){shape_product(shape, 0, axis), shape->dims[axis],
                              shape_product(shape, axis + 1, shape->rank)};
}

bool infer_index_type(struct infer *infer, const char *attribute, enum irrun_dtype dtype)
{
    if (dtype == IRRUN_I32 || dtype == IRRUN_I64)
        return true;
    return infer_fail(infer, "%s is %s, expected i32 or i64", attribute, irrun_dtype_name(dtype));
}

/* ---- lists -------------------------------------------------------------------------------- */

bool prepare_is_constant(const struct prepare *prepare, uint32_t input)
{
    bool is_folding = !prepare->sources; /* then run reads all inputs */
    return !is_folding && input < prepare->n_inputs && prepare->in[input]->data;
}

struct step prepare_step(const struct prepare *prepare)
{
    return (struct step){.state = prepare->state,
                         .in = (struct irrun_tensor *const *)prepare->in,
                         .out = (struct irrun_tensor *const *)prepare->out,
                         .n_inputs = prepare->n_inputs,
                         .n_outputs = prepare->n_outputs,
                         .graph = prepare->graph,
                         .op = prepare->op};
}

static bool fill_list(const struct step *step, const struct index_list *list, int64_t *items,
                      struct irrun_error *err)
{
    if (list->resolve)
        return list->resolve(step, items, err);
    const struct irrun_tensor *tensor = step->in[list->input];
    elements_as_i64(tensor->dtype, tensor->data, 0, list->n, items);
    return true;
}

bool index_list_prepare(struct prepare *prepare, uint32_t input, size_t n,
                        index_resolve_fn *resolve, struct index_list *list)
{
    *list = (struct index_list){.input = input, .n = n, .resolve = resolve};
    if (!prepare_is_constant(prepare, input)) {
        list->scratch_at = prepare->made.scratch_bytes;
        return prepare_scratch(prepare, n, sizeof(int64_t));
    }
    int64_t *items = arena_alloc_array(prepare->arena, n, sizeof *items, prepare->err);
    list->items = items;
    const struct step step = prepare_step(prepare);
    return items && fill_list(&step, list, items, prepare->err);
}

const int64_t *index_list_get(const struct step *step, const struct index_list *list,
                              struct irrun_error *err)
{
    if (list->items)
        return list->items;
    int64_t *items = (int64_t *)(void *)((char *)step->scratch + list->scratch_at);
    return fill_list(step, list, items, err) ? items : NULL;
}

/* ---- single indices ----------------------------------------------------------------------- */

bool index_fail(const struct step *step, uint32_t input, size_t k, uint32_t axis, int64_t low,
                int64_t dim, struct irrun_error *err)
{
    const struct irrun_tensor *indices = step->in[input];
    const struct op_input_def *names = step->op->def->inputs;
    struct irrun_shape place = shape_unravel(&indices->shape, k);
    char at[SHAPE_TEXT_BYTES];
    return step_fail(step, err, IRRUN_DATA,
                     "%s%s is %lld, outside %lld ... %lld along axis %u of %s", names[input].name,
                     shape_format(&place, at),
                     (long long)element_as_i64(indices->dtype, indices->data, k), (long long)low,
                     (long long)(dim - 1), axis, names[0].name);
}

void index_warn_zeros(const struct step *step, size_t k, int64_t dim)
{
    const struct irrun_tensor *indices = step->in[INDICES];
    struct irrun_shape place = shape_unravel(&indices->shape, k);
    struct irrun_error warning = {.code = IRRUN_OK};
    char at[SHAPE_TEXT_BYTES];
    if (!step_can_warn(step))
        return;
    const struct op *source = value_producer(step->graph, op_input(step->graph, step->op, INDICES));
    while (op_is_type(source, "Convert"))
        source = value_producer(step->graph, op_input(step->graph, source, 0));
    step_fail(step, &warning, IRRUN_DATA,
              "index %lld at %s of %s \"%s\" is out of range 0..%lld: the result is 0",
              (long long)element_as_i64(indices->dtype, indices->data, k), shape_format(&place, at),
              op_type(source), source->name, (long long)(dim - 1));
    step_warn(step, &warning);
}

/* ---- one index for each element ----------------------------------------------------------- */

bool element_indices_plan(struct infer *infer, int64_t axis)
{
    struct element_indices *plan = infer->state;
    const struct irrun_shape *data = &infer->in[0]->shape, *indices = &infer->in[INDICES]->shape;
    *plan = (struct element_indices){.shape = *indices};
    if (!infer_axis(infer, axis, data->rank, &plan->axis))
        return false;
    bool is_inside = indices->rank == data->rank;
    for (uint32_t i = 0; is_inside && i < data->rank; i++)
        is_inside = i == plan->axis || indices->dims[i] <= data->dims[i];
    if (!is_inside)
        return infer_fail_input(
            infer, INDICES, "%u dimensions, of which only axis %u may be larger than in the data",
            data->rank, plan->axis);
    move_strides(data, plan->strides);
    plan->axis_dim = data->dims[plan->axis];
    plan->axis_stride = plan->strides[plan->axis];
    plan->strides[plan->axis] = 0;
    return true;
}

bool element_indices_resolve(const struct step *step, int64_t *offsets, struct irrun_error *err)
{
    const struct element_indices *plan = step->state;
    const struct irrun_tensor *indices = step->in[INDICES];
    const struct irrun_shape *shape = &plan->shape;
    int64_t at[IRRUN_MAX_RANK] = {0}, base = 0, dim = plan->axis_dim;
    int64_t element_bytes = (int64_t)dtype_size(step->in[0]->dtype);
    size_t n = (size_t)shape_n_elements(shape);
    elements_as_i64(indices->dtype, indices->data, 0, n, offsets);
    for (size_t k = 0; k < n; k++) {
        int64_t index = index_normalize(offsets[k], dim);
        if (index < 0)
            return index_fail(step, INDICES, k, plan->axis, -dim, dim, err);
        offsets[k] = (base + index * plan->axis_stride) * element_bytes;
        for (uint32_t i = shape->rank; i-- > 0;) {
            base += plan->strides[i];
            if (++at[i] < shape->dims[i])
                break;
            base -= at[i] * plan->strides[i];
            at[i] = 0;
        }
    }
    return true;
}

/* ---- tuples ------------------------------------------------------------------------------- */

static bool check_batch_dims(struct infer *infer, int64_t n_batch_dims)
{
    const struct irrun_shape *data = &infer->in[0]->shape, *indices = &infer->in[INDICES]->shape;
    if (n_batch_dims < 0 || n_batch_dims >= indices->rank || n_batch_dims >= data->rank)
        return infer_fail(
            infer,
            "batch_dims is %lld, expected 0 or more, and fewer than the dimensions of the "
            "data (%u) and of the indices (%u)",
            (long long)n_batch_dims, data->rank, indices->rank);
    for (uint32_t i = 0; i < n_batch_dims; i++) {
        if (indices->dims[i] != data->dims[i])
            return infer_fail_input(infer, INDICES,
                                    "dimension %u to match the data (batch_dims is %lld)", i,
                                    (long long)n_batch_dims);
    }
    return true;
}

bool tuple_indices_plan(struct infer *infer, int64_t n_batch_dims)
{
    struct tuple_indices *plan = infer->state;
    const struct irrun_shape *data = &infer->in[0]->shape, *indices = &infer->in[INDICES]->shape;
    if (data->rank == 0)
        return infer_fail_input(infer, 0, "at least one dimension");
    if (indices->rank == 0)
        return infer_fail_input(infer, INDICES, "at least one dimension");
    if (!check_batch_dims(infer, n_batch_dims))
        return false;
    uint32_t n_batch = (uint32_t)n_batch_dims, last = indices->rank - 1;
    int64_t length = indices->dims[last];
    if (length > data->rank - n_batch)
        return infer_fail_input(infer, INDICES, "a last dimension of at most %u",
                                data->rank - n_batch);
    *plan = (struct tuple_indices){.n_batch_dims = n_batch, .n_axes = (uint32_t)length};
    plan->n_batches = shape_product(data, 0, n_batch);
    plan->n_tuples = shape_product(indices, n_batch, last);
    plan->n_slice = shape_product(data, n_batch + plan->n_axes, data->rank);
    plan->batch_stride = shape_product(data, n_batch, data->rank);
    int64_t strides[IRRUN_MAX_RANK];
    move_strides(data, strides);
    for (uint32_t i = 0; i < plan->n_axes; i++) {
        plan->dims[i] = data->dims[n_batch + i];
        plan->strides[i] = strides[n_batch + i];
    }
    return true;
}

bool tuple_indices_resolve(const struct step *step, int64_t *offsets, struct irrun_error *err)
{
    const struct tuple_indices *plan = step->state;
    const struct irrun_tensor *indices = step->in[INDICES];
    int64_t element_bytes = (int64_t)dtype_size(step->in[0]->dtype), tuple[IRRUN_MAX_RANK];
    size_t k = 0, n_axes = plan->n_axes;
    for (int64_t batch = 0; batch < plan->n_batches; batch++) {
        for (int64_t i = 0; i < plan->n_tuples; i++, k += n_axes) {
            int64_t offset = batch * plan->batch_stride;
            elements_as_i64(indices->dtype, indices->data, k, n_axes, tuple);
            for (uint32_t j = 0; j < n_axes; j++) {
                int64_t dim = plan->dims[j], index = index_normalize(tuple[j], dim);
                if (index < 0)
                    return index_fail(step, INDICES, k + j, plan->n_batch_dims + j, -dim, dim, err);
                offset += index * plan->strides[j];
            }
            *offsets++ = offset * element_bytes;
        }
    }
    return true;
}
