/* Computes large constants a few rows at a time: finds the tree of ops that computes a constant,
 * and runs it on the same rows of all operands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/fold_rows.h"

#include <string.h>

#include "ops/body.h"
#include "plan/evaluate.h"

/* Smaller constants are computed as a whole. */
#define FOLD_MIN_BYTES ((size_t)1 << 20)

/* Size of the rows that are computed together, so that they fit in a cache. */
#define SLICE_BYTES ((size_t)256 << 10)

/* A range of rows starts at a multiple of this, since 8 elements of any sub-byte type fill whole
 * bytes. */
#define ROW_MULTIPLE 8

/* ---- the tree ---- */

static bool has_rows(const struct fold_rows *fold, const struct irrun_shape *shape)
{
    return shape->rank > fold->axis && (size_t)shape->dims[fold->axis] == fold->n_rows &&
           shape_product(shape, 0, fold->axis) == 1;
}

/* Returns whether an op can be an inner node of the tree. A view can if it keeps the rows of its
 * input. */
static bool can_be_inner_node(const struct fold_rows *fold, const struct op *op)
{
    if (op->def->role != ROLE_ORDINARY || op->n_outputs != 1 || op->n_bodies > 0 ||
        op->n_inputs == 0 || op->n_inputs > FOLD_MAX_INPUTS)
        return false;
    const struct constant *first = fold->graph->analysis->constants[op_input(fold->graph, op, 0)];
    if (op->def->flags & OP_VIEW)
        return has_rows(fold, &first->tensor.shape);
    return (op->def->flags & OP_ELEMENTWISE) != 0;
}

static bool add_leaf(struct fold_rows *fold, uint32_t value_id, bool is_whole)
{
    if (fold->n_nodes == FOLD_MAX_NODES)
        return false;
    fold->nodes[fold->n_nodes++] =
        (struct fold_node){.value_id = value_id,
                           .op = value_producer(fold->graph, value_id),
                           .constant = fold->graph->analysis->constants[value_id],
                           .is_whole = is_whole,
                           .is_leaf = true};
    return true;
}

/* Adds the ops that compute a value. A value that two ops read becomes two nodes. The limit on
 * nodes also limits the depth and the work. */
static bool add_tree(struct fold_rows *fold, uint32_t value_id, uint32_t depth)
{
    struct constant *constant = fold->graph->analysis->constants[value_id];
    const struct op *op = value_producer(fold->graph, value_id);
    struct fold_node node = {.value_id = value_id, .op = op, .constant = constant};

    if (depth == FOLD_MAX_NODES || constant->tensor.data || !can_be_inner_node(fold, op))
        return depth > 0 && add_leaf(fold, value_id, false);
    const struct irrun_shape *out = &constant->tensor.shape;
    bool is_view = (op->def->flags & OP_VIEW) != 0;
    node.n_in = is_view ? 1 : op->n_inputs;
    for (uint32_t i = 0; i < node.n_in; i++) {
        uint32_t in_id = op_input(fold->graph, op, i);
        const struct irrun_shape *in = &fold->graph->analysis->constants[in_id]->tensor.shape;
        bool is_aligned = is_view || in->rank == out->rank;
        bool is_repeated =
            shape_n_elements(in) == 1 || (is_aligned && shape_product(in, 0, fold->axis + 1) == 1);
        if (is_repeated ? !add_leaf(fold, in_id, true)
                        : !is_aligned || !has_rows(fold, in) || !add_tree(fold, in_id, depth + 1))
            return false;
        node.in[i] = fold->n_nodes - 1;
    }
    if (fold->n_nodes == FOLD_MAX_NODES)
        return false;
    fold->nodes[fold->n_nodes++] = node;
    return true;
}

bool fold_rows_find(struct fold_rows *fold, struct model *model, const struct graph *graph,
                    uint32_t value_id)
{
    const struct irrun_tensor *tensor = &graph->analysis->constants[value_id]->tensor;
    const struct irrun_shape *shape = &tensor->shape;
    size_t size_bytes;

    *fold = (struct fold_rows){.model = model, .graph = graph};
    if (tensor->data || !tensor_size(tensor->dtype, shape, &size_bytes) ||
        size_bytes < FOLD_MIN_BYTES)
        return false;
    while (shape->dims[fold->axis] == 1)
        fold->axis++;
    fold->n_rows = (size_t)shape->dims[fold->axis];
    fold->row_elements = (size_t)shape_n_elements(shape) / fold->n_rows;
    return fold->n_rows > ROW_MULTIPLE && add_tree(fold, value_id, 0);
}

uint32_t fold_rows_missing(const struct fold_rows *fold)
{
    for (uint32_t i = 0; i < fold->n_nodes; i++) {
        const struct fold_node *node = &fold->nodes[i];
        bool is_read = !node->is_whole && node->op->def->role == ROLE_CONST;
        if (node->is_leaf && !is_read && !node->constant->tensor.data)
            return node->value_id;
    }
    return NO_ID;
}

/* ---- computing rows ---- */

static bool read_leaf(struct fold_rows *fold, struct fold_node *node, size_t first, size_t n,
                      struct irrun_error *err)
{
    const struct irrun_tensor *all = &node->constant->tensor;
    size_t row_elements = (size_t)shape_n_elements(&all->shape) / fold->n_rows;

    if (node->is_whole)
        node->rows = *all;
    else if (all->data)
        node->rows.data =
            (unsigned char *)all->data + first * row_elements * dtype_size(all->dtype);
    else
        node->rows.data = constant_read(fold->graph, node->op, first * row_elements,
                                        n * row_elements, &fold->arena, err);
    return node->rows.data != NULL;
}

/* Gets an operand, converted to the type that the op reads. */
static bool get_operand(struct fold_rows *fold, const struct fold_node *node, bool widens,
                        struct irrun_tensor *operand, struct irrun_error *err)
{
    *operand = node->rows;
    if (!widens || !dtype_is_half(operand->dtype))
        return true;
    operand->dtype = IRRUN_F32;
    operand->data = elements_as_f32(&node->rows, &fold->arena, err);
    return operand->data != NULL;
}

static bool infer_rows(struct fold_rows *fold, const struct fold_node *node, void *state,
                       struct irrun_tensor *out, struct irrun_error *err)
{
    static const bool all_constant[FOLD_MAX_INPUTS] = {true, true, true, true, true};
    struct irrun_tensor tensors[FOLD_MAX_INPUTS];
    const struct irrun_tensor *in[FOLD_MAX_INPUTS];

    for (uint32_t i = 0; i < node->n_in; i++) {
        const struct fold_node *source = &fold->nodes[node->in[i]];
        tensors[i] = (struct irrun_tensor){source->constant->declared, source->rows.shape, NULL};
        in[i] = &tensors[i];
    }
    struct infer infer = {.graph = fold->graph,
                          .op = node->op,
                          .attrs = node->op->attrs,
                          .state = state,
                          .n_inputs = node->n_in,
                          .n_outputs = 1,
                          .in = in,
                          .out = out,
                          .arena = &fold->arena,
                          .is_constant = all_constant,
                          .err = err};
    return infer_op(&infer);
}

static bool compute_rows(struct fold_rows *fold, struct fold_node *node, struct irrun_error *err)
{
    struct irrun_tensor operands[FOLD_MAX_INPUTS], out = {0};
    const struct irrun_tensor *in[FOLD_MAX_INPUTS];
    bool widens = !(node->op->def->flags & OP_ANY_STORAGE);
    void *state = arena_alloc(&fold->arena, node->op->def->state_size, err);

    if (!state || !infer_rows(fold, node, state, &out, err))
        return false;
    for (uint32_t i = 0; i < node->n_in; i++) {
        if (!get_operand(fold, &fold->nodes[node->in[i]], widens, &operands[i], err))
            return false;
        in[i] = &operands[i];
    }
    return evaluate_op(&fold->model->kernels, fold->graph, node->op, state, in, &node->rows,
                       &fold->arena, err);
}

static const void *get_rows(struct fold_rows *fold, size_t first, size_t n, struct irrun_error *err)
{
    arena_reset(&fold->arena);
    for (uint32_t i = 0; i < fold->n_nodes; i++) {
        struct fold_node *node = &fold->nodes[i];
        node->rows = node->constant->tensor;
        if (!node->is_whole)
            node->rows.shape.dims[fold->axis] = (int64_t)n;
        bool is_done;
        if (node->is_leaf) {
            is_done = read_leaf(fold, node, first, n, err);
        } else if (node->op->def->flags & OP_VIEW) {
            node->rows.data = fold->nodes[node->in[0]].rows.data;
            is_done = true;
        } else {
            is_done = compute_rows(fold, node, err);
        }
        if (!is_done)
            return NULL;
    }
    return fold->nodes[fold->n_nodes - 1].rows.data;
}

bool fold_rows_is_part(const struct fold_rows *fold, size_t begin, size_t n)
{
    return n % fold->row_elements == 0 && begin % (ROW_MULTIPLE * fold->row_elements) == 0;
}

const void *fold_rows_get(struct fold_rows *fold, size_t begin, size_t n, struct irrun_error *err)
{
    return get_rows(fold, begin / fold->row_elements, n / fold->row_elements, err);
}

bool fold_rows_all(struct fold_rows *fold, void *to, struct irrun_error *err)
{
    enum irrun_dtype dtype = fold->nodes[fold->n_nodes - 1].constant->tensor.dtype;
    size_t row_bytes = fold->row_elements * dtype_size(dtype);
    size_t n_together = SLICE_BYTES / row_bytes / ROW_MULTIPLE * ROW_MULTIPLE;

    if (n_together == 0)
        n_together = ROW_MULTIPLE;
    for (size_t first = 0; first < fold->n_rows; first += n_together) {
        size_t left = fold->n_rows - first, n = left < n_together ? left : n_together;
        const void *rows = get_rows(fold, first, n, err);
        if (!rows)
            return false;
        memcpy((unsigned char *)to + first * row_bytes, rows, n * row_bytes);
    }
    return true;
}

/* Frees the arena, and tells the operating system to drop the pages of the Consts. */
void fold_rows_free(struct fold_rows *fold)
{
    for (uint32_t i = 0; i < fold->n_nodes; i++)
        if (fold->nodes[i].is_leaf && fold->nodes[i].op->def->role == ROLE_CONST)
            constant_drop_pages(fold->graph, fold->nodes[i].op);
    arena_free(&fold->arena);
}
