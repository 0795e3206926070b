/* Describes the inputs of an op with bodies as its bodies see them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/body.h"

bool body_has_constant(const struct infer *infer, uint32_t i)
{
    return infer->is_constant[i] && !dtype_is_half(infer->in[i]->dtype);
}

bool body_describe_input(struct infer *infer, uint32_t i, bool is_constant,
                         struct irrun_tensor *tensor)
{
    *tensor = *infer->in[i];
    tensor->dtype = body_dtype(tensor->dtype);
    if (!is_constant)
        return true;
    const struct irrun_tensor *value = infer_value(infer, i);
    tensor->data = value ? value->data : NULL;
    return value != NULL;
}

struct irrun_tensor **body_get_values(struct infer *infer)
{
    uint32_t n = infer->n_inputs;
    struct irrun_tensor *tensors = arena_alloc_array(infer->arena, n, sizeof *tensors, infer->err);
    struct irrun_tensor **pointers =
        arena_alloc_array(infer->arena, n, sizeof *pointers, infer->err);
    if (!tensors || !pointers)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct irrun_tensor *value = infer_value(infer, i);
        if (!value)
            return NULL;
        tensors[i] = *value;
        pointers[i] = &tensors[i];
        if (!dtype_is_half(value->dtype))
            continue;
        tensors[i].dtype = IRRUN_F32;
        tensors[i].data = elements_as_f32(value, infer->arena, infer->err);
        if (!tensors[i].data)
            return NULL;
    }
    return pointers;
}
