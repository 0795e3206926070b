/* Finds a Const, possibly followed by Converts, that repeats one number.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/model_facts.h"

#include <string.h>

#include "base/text.h"
#include "ops/op_state.h"
#include "tensor/tensor.h"

/* Returns the Const at the start of a chain of Converts, or NULL. */
static const struct op *find_const(const struct graph *graph, uint32_t id)
{
    const struct op *op = value_producer(graph, id);
    while (op_is_type(op, "Convert") && op->n_inputs == 1)
        op = value_producer(graph, op_input(graph, op, 0));
    return op_role_of(op) == ROLE_CONST ? op : NULL;
}

/* Returns the bytes of the Const; NULL if it has no elements, if the bytes are missing, or if
 * the type has fewer than 8 bits. */
static const unsigned char *find_bytes(const struct const_attrs *attrs,
                                       const struct file_map *weights, size_t *n)
{
    enum irrun_dtype dtype = attrs->element_type;
    size_t size_bytes;
    if (!(dtype_is_float(dtype) || dtype_is_integer(dtype) || dtype == IRRUN_BOOLEAN) ||
        dtype_stored_bits(dtype) < 8 || !tensor_size(dtype, &attrs->shape, &size_bytes) ||
        size_bytes == 0)
        return NULL;
    *n = size_bytes / dtype_size(dtype);
    if (attrs->offset < 0 || (uint64_t)attrs->offset > weights->size_bytes ||
        size_bytes > weights->size_bytes - (uint64_t)attrs->offset)
        return NULL;
    return weights->data + attrs->offset;
}

bool initial_value_find(const struct graph *graph, uint32_t id, const struct file_map *weights,
                        struct arena *arena, const char **text, struct irrun_error *err)
{
    size_t n = 0;
    const struct op *op = find_const(graph, id);
    const struct const_attrs *attrs = op ? op->attrs : NULL;
    const unsigned char *bytes = attrs ? find_bytes(attrs, weights, &n) : NULL;
    *text = NULL;
    if (!bytes)
        return true;
    size_t size_bytes = dtype_size(attrs->element_type);
    /* All elements are equal if the data equals itself shifted by one element. */
    if (memcmp(bytes, bytes + size_bytes, (n - 1) * size_bytes) != 0)
        return true;
    double aligned, number;
    char digits[TEXT_NUMBER_BYTES];
    memcpy(&aligned, bytes, size_bytes);
    number = element_as_f64(attrs->element_type, &aligned, 0);
    bool is_short = dtype_is_float(attrs->element_type) && attrs->element_type != IRRUN_F64;
    size_t length = is_short ? text_from_f32((float)number, digits) : text_from_f64(number, digits);
    *text = arena_strndup(arena, digits, length, err);
    return *text != NULL;
}
