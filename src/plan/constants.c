/* Finds and computes constants, which are the same in every plan: Consts, and values computed only
 * from Consts. They are found once, after loading, and computed on demand. Weights that need no
 * conversion stay in the mapped file.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/file.h"
#include "ops/body.h"
#include "ops/op_state.h"
#include "plan/evaluate.h"
#include "plan/fold_rows.h"
#include "tensor/sub_byte.h"

/* A constant that an op computes, with the state that infer filled for it. */
struct folded {
    struct constant constant;
    void *state;
};

struct const_infer {
    struct infer infer;
    struct model *model;
};

static const struct irrun_tensor *value_of_constant(struct infer *infer, uint32_t i)
{
    struct const_infer *self = (struct const_infer *)infer;
    return constant_get(self->model, infer->graph, op_input(infer->graph, infer->op, i),
                        infer->err);
}

static bool are_inputs_constant(const struct graph *graph, const struct op *op)
{
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (!graph->analysis->constants[op_input(graph, op, i)])
            return false;
    return true;
}

/* Finds the constant outputs of an op whose inputs are all constant. If inference fails, planning
 * repeats it and reports the error. */
static bool find_folded(struct model *model, struct graph *graph, const struct op *op,
                        struct irrun_error *err)
{
    uint32_t n = op->n_inputs, m = op->n_outputs;
    struct irrun_tensor *tensors = arena_alloc_array(model->arena, n + m, sizeof *tensors, err);
    const struct irrun_tensor **in = arena_alloc_array(model->arena, n, sizeof *in, err);
    bool *is_constant = arena_alloc_array(model->arena, n, sizeof *is_constant, err);
    void *state = arena_alloc(model->arena, op->def->state_size, err);
    struct folded *folded = arena_alloc_array(model->arena, m, sizeof *folded, err);
    if (!tensors || !in || !is_constant || !state || !folded)
        return false;
    bool has_widened = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct constant *constant = graph->analysis->constants[op_input(graph, op, i)];
        tensors[i] = (struct irrun_tensor){constant->declared, constant->tensor.shape, NULL};
        in[i] = &tensors[i];
        is_constant[i] = true;
        has_widened |= dtype_is_widened(constant->declared, constant->tensor.dtype);
    }
    struct irrun_error ignored;
    error_clear(&ignored);
    struct const_infer self = {.infer = {.graph = graph,
                                         .op = op,
                                         .attrs = op->attrs,
                                         .state = state,
                                         .n_inputs = n,
                                         .n_outputs = m,
                                         .in = in,
                                         .out = tensors + n,
                                         .arena = model->arena,
                                         .value = value_of_constant,
                                         .is_constant = is_constant,
                                         .err = &ignored},
                               .model = model};
    if (!infer_op(&self.infer))
        return ignored.code == IRRUN_SYSTEM ? (*err = ignored, false) : true;
    bool widens = op_widens(op->def, has_widened);
    for (uint32_t k = 0; k < m; k++) {
        folded[k].constant.declared = tensors[n + k].dtype;
        folded[k].constant.tensor = tensors[n + k];
        folded[k].constant.tensor.dtype = stored_dtype(tensors[n + k].dtype, widens);
        folded[k].state = state;
        graph->analysis->constants[op->first_output + k] = &folded[k].constant;
    }
    return true;
}

static bool find_const(struct model *model, struct graph *graph, const struct op *op,
                       struct irrun_error *err)
{
    const struct const_attrs *attrs = op->attrs;
    struct folded *folded = arena_alloc(model->arena, sizeof *folded, err);
    if (!folded)
        return false;
    folded->constant.declared = attrs->element_type;
    folded->constant.tensor = (struct irrun_tensor){attrs->element_type, attrs->shape, NULL};
    graph->analysis->constants[op->first_output] = &folded->constant;
    return true;
}

bool constants_find(struct model *model, struct graph *graph, struct irrun_error *err)
{
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        if (op->def->role == ROLE_CONST) {
            if (!find_const(model, graph, op, err))
                return false;
        } else if (op->def->role == ROLE_ORDINARY && op->n_bodies == 0 && op->n_inputs > 0 &&
                   op->n_outputs > 0 && are_inputs_constant(graph, op)) {
            if (!find_folded(model, graph, op, err))
                return false;
        }
    }
    return true;
}

void *constant_read(const struct graph *graph, const struct op *op, size_t begin, size_t n,
                    struct arena *arena, struct irrun_error *err)
{
    const struct const_attrs *attrs = op->attrs;
    enum irrun_dtype dtype = attrs->element_type;
    size_t skip_bytes, size_bytes;
    if (!sub_byte_size(dtype, begin, &skip_bytes) ||
        !checked_mul(n, dtype_size(dtype), &size_bytes)) {
        fail_memory(err, SIZE_MAX);
        return NULL;
    }
    if (!graph->weights || (!graph->weights->data && size_bytes > 0)) {
        fail_at(err, IRRUN_DATA, op_place(graph, op), "Const \"%s\": no weights are loaded",
                op->name);
        return NULL;
    }
    const unsigned char *stored =
        size_bytes > 0 ? graph->weights->data + attrs->offset + skip_bytes : NULL;
    bool is_sub_byte = dtype_stored_bits(dtype) < 8;
    if (stored && !is_sub_byte && (uintptr_t)stored % dtype_size(dtype) == 0)
        return (void *)stored;
    unsigned char *copy = arena_alloc(arena, size_bytes, err);
    if (copy && is_sub_byte)
        sub_byte_unpack(dtype, stored, n, copy);
    else if (copy && size_bytes > 0)
        memcpy(copy, stored, size_bytes);
    return copy;
}

void constant_drop_pages(const struct graph *graph, const struct op *op)
{
    const struct const_attrs *attrs = op->attrs;
    size_t size_bytes;
    if (graph->weights && graph->weights->data &&
        sub_byte_size(attrs->element_type, (size_t)shape_n_elements(&attrs->shape), &size_bytes))
        file_map_dontneed(graph->weights, graph->weights->data + attrs->offset, size_bytes);
}

static bool load_const(struct model *model, const struct graph *graph, const struct op *op,
                       struct constant *constant, struct irrun_error *err)
{
    size_t n = (size_t)shape_n_elements(&constant->tensor.shape);
    size_t used_bytes = model->arena->size_bytes;
    constant->tensor.data = constant_read(graph, op, 0, n, model->arena, err);
    model->packed_bytes += model->arena->size_bytes - used_bytes;
    return constant->tensor.data != NULL;
}

static bool widen(struct model *model, struct constant *constant, struct irrun_error *err)
{
    constant->widened = elements_as_f32(&constant->tensor, model->arena, err);
    if (!constant->widened)
        return false;
    model->packed_bytes += (size_t)shape_n_elements(&constant->tensor.shape) * sizeof(float);
    return true;
}

/* Runs the op that computes a constant. The data of all its inputs must be computed. */
static bool compute_folded(struct model *model, const struct graph *graph, const struct op *op,
                           struct irrun_error *err)
{
    struct constant **constants = graph->analysis->constants;
    struct folded *first = (struct folded *)constants[op->first_output];
    uint32_t n = op->n_inputs, m = op->n_outputs;
    struct irrun_tensor *tensors = arena_alloc_array(model->arena, n + m, sizeof *tensors, err);
    const struct irrun_tensor **in = arena_alloc_array(model->arena, n, sizeof *in, err);
    if (!tensors || !in)
        return false;
    bool widens = !(op->def->flags & OP_ANY_STORAGE);
    for (uint32_t k = 0; k < m; k++) {
        tensors[n + k] = constants[op->first_output + k]->tensor;
        if (dtype_is_half(tensors[n + k].dtype) && (op->def->flags & (OP_DATA_MOVEMENT | OP_VIEW)))
            widens = false;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct constant *input = constants[op_input(graph, op, i)];
        tensors[i] = input->tensor;
        in[i] = &tensors[i];
        if (!widens || !dtype_is_half(input->tensor.dtype))
            continue;
        if (!input->widened && !widen(model, input, err))
            return false;
        tensors[i].dtype = IRRUN_F32;
        tensors[i].data = input->widened;
    }
    if (!evaluate_op(&model->kernels, graph, op, first->state, in, tensors + n, model->arena, err))
        return false;
    for (uint32_t k = 0; k < m; k++) {
        constants[op->first_output + k]->tensor.data = tensors[n + k].data;
        if (!(op->def->flags & OP_VIEW))
            model->packed_bytes += tensor_n_bytes(&tensors[n + k]);
    }
    return true;
}

/* Runs the tree of ops that computes a large constant. The data of all leaves must be computed. */
static bool compute_by_rows(struct fold_rows *fold, struct constant *constant,
                            struct irrun_error *err)
{
    size_t size_bytes = tensor_n_bytes(&constant->tensor);
    void *data = arena_alloc(fold->model->arena, size_bytes, err);
    bool is_done = data && fold_rows_all(fold, data, err);
    fold_rows_free(fold);
    if (!is_done)
        return false;
    constant->tensor.data = data;
    fold->model->packed_bytes += size_bytes;
    return true;
}

/* A constant whose op is waiting for its inputs. */
struct wait {
    uint32_t value_id;
    uint32_t n_ready; /* number of inputs whose data is known to be computed */
};

/* Returns the next input whose data is not computed yet, or NO_ID. */
static uint32_t find_missing(const struct graph *graph, const struct op *op, uint32_t *n_ready)
{
    for (; *n_ready < op->n_inputs; ++*n_ready) {
        uint32_t value_id = op_input(graph, op, *n_ready);
        if (!graph->analysis->constants[value_id]->tensor.data)
            return value_id;
    }
    return NO_ID;
}

const struct irrun_tensor *constant_get(struct model *model, const struct graph *graph,
                                        uint32_t value_id, struct irrun_error *err)
{
    struct constant *wanted = graph->analysis->constants[value_id];
    struct wait first = {.value_id = value_id}, *stack = NULL;
    size_t n = 0, capacity = 0;
    bool is_ok = true;
    while (is_ok && !wanted->tensor.data) {
        struct wait *top = n > 0 ? &stack[n - 1] : &first;
        const struct op *op = value_producer(graph, top->value_id);
        struct constant *constant = graph->analysis->constants[top->value_id];
        struct fold_rows fold;
        bool is_const = op->def->role == ROLE_CONST;
        bool has_rows = !is_const && fold_rows_find(&fold, model, graph, top->value_id);
        uint32_t missing = is_const   ? NO_ID
                           : has_rows ? fold_rows_missing(&fold)
                                      : find_missing(graph, op, &top->n_ready);
        if (missing != NO_ID) {
            is_ok = GROW_ARRAY(stack, n, capacity, err);
            if (is_ok)
                stack[n++] = (struct wait){.value_id = missing};
            continue;
        }
        is_ok = is_const   ? load_const(model, graph, op, constant, err)
                : has_rows ? compute_by_rows(&fold, constant, err)
                           : compute_folded(model, graph, op, err);
        n -= n > 0;
    }
    free(stack);
    return is_ok ? &wanted->tensor : NULL;
}

uint32_t constant_find_stored(const struct graph *graph, uint32_t value_id, enum irrun_dtype half)
{
    struct constant **constants = graph->analysis->constants;
    for (;;) {
        const struct op *op = value_producer(graph, value_id);
        if (op->def->role != ROLE_ORDINARY || op->n_inputs == 0)
            return value_id;
        uint32_t source = op_input(graph, op, 0);
        bool widens = strcmp(op->def->type, "Convert") == 0 && constants[source] &&
                      constants[source]->declared == half &&
                      (constants[value_id]->declared == IRRUN_F32 ||
                       (half == IRRUN_BF16 && constants[value_id]->declared == IRRUN_F16));
        if (!constants[source] || (!widens && !(op->def->flags & OP_VIEW)))
            return value_id;
        value_id = source;
    }
}

const void *constant_get_f32(struct model *model, const struct graph *graph, uint32_t value_id,
                             struct irrun_error *err)
{
    struct constant *constant = graph->analysis->constants[value_id];
    if (!constant_get(model, graph, value_id, err))
        return NULL;
    if (!constant->widened && !widen(model, constant, err))
        return NULL;
    return constant->widened;
}

bool constants_find_early(struct model *model, struct irrun_error *err)
{
    struct graph *graph = model->graph;
    struct graph_analysis *analysis = arena_alloc(model->arena, sizeof *analysis, err);
    if (!analysis)
        return false;
    analysis->constants =
        arena_alloc_array(model->arena, graph->n_values, sizeof *analysis->constants, err);
    graph->analysis = analysis;
    return analysis->constants && constants_find(model, graph, err);
}
