/* Plans an Einsum: the labels that each product sums over, and the layout of its operands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/einsum_plan.h"

#include <string.h>

#include "base/checked.h"
#include "ops/movement.h"

#define MAX_LABELS (2 * IRRUN_MAX_RANK)
_Static_assert(MAX_LABELS == STRIDED_COPY_MAX_RANK, "a tensor of labels can be copied");

/* A tensor in memory. Each label occurs once. */
struct labelled_tensor {
    struct einsum_labels labels;
    int64_t strides[EINSUM_N_LABELS]; /* for each label; 0 if broadcast */
};

struct planner {
    struct infer *infer;
    struct einsum_plan *plan;
    const int64_t *dims; /* for each label */
};

static bool contains(const struct einsum_labels *labels, uint8_t label)
{
    for (uint32_t i = 0; i < labels->n; i++)
        if (labels->items[i] == label)
            return true;
    return false;
}

static void add_label(struct einsum_labels *labels, uint8_t label)
{
    labels->items[labels->n++] = label;
}

/* Returns whether the output or an input from `first` on has the label. */
static bool is_needed(const struct planner *planner, uint8_t label, uint32_t first)
{
    const struct einsum_equation *equation = &planner->plan->equation;
    for (uint32_t i = first; i < planner->infer->n_inputs; i++)
        if (contains(&equation->inputs[i], label))
            return true;
    return contains(&equation->out, label);
}

/* Returns the labels and strides of an input. A repeated label is a diagonal: its strides are
 * added. */
static struct labelled_tensor view_input(const struct planner *planner, uint32_t input)
{
    const struct einsum_labels *labels = &planner->plan->equation.inputs[input];
    const struct irrun_shape *shape = &planner->infer->in[input]->shape;
    struct labelled_tensor view = {0};
    int64_t strides[IRRUN_MAX_RANK];
    move_strides(shape, strides);
    for (uint32_t i = 0; i < labels->n; i++) {
        uint8_t label = labels->items[i];
        if (!contains(&view.labels, label))
            add_label(&view.labels, label);
        if (shape->dims[i] != 1)
            view.strides[label] += strides[i];
    }
    return view;
}

/* Sets *size to the product of the dimensions of the labels. */
static bool multiply_sizes(struct planner *planner, const struct einsum_labels *labels,
                           int64_t *size)
{
    *size = 1;
    for (uint32_t i = 0; i < labels->n; i++)
        if (planner->dims[labels->items[i]] == 0) {
            *size = 0;
            return true;
        }
    for (uint32_t i = 0; i < labels->n; i++)
        if (!checked_mul_i64(*size, planner->dims[labels->items[i]], size) || *size > INT64_C(1)
                                                                                          << 48)
            return infer_fail(planner->infer, "an intermediate result is too large");
    return true;
}

/* Sets *size to the number of elements of a tensor with these labels, and enlarges an area of the
 * scratch memory, if necessary, to hold it. */
static bool reserve(struct planner *planner, enum einsum_area area,
                    const struct einsum_labels *labels, int64_t *size)
{
    if (!multiply_sizes(planner, labels, size))
        return false;
    if (*size > planner->plan->sizes[area])
        planner->plan->sizes[area] = *size;
    return true;
}

static void append(struct einsum_labels *to, const struct einsum_labels *from)
{
    memcpy(to->items + to->n, from->items, from->n);
    to->n += from->n;
}

/* Plans a copy of a tensor in the order [kept, summed], and its sum over `summed`. */
static bool plan_operand(struct planner *planner, const struct labelled_tensor *from,
                         const struct einsum_labels *kept, const struct einsum_labels *summed,
                         enum einsum_area area, struct einsum_operand *operand)
{
    struct einsum_labels order = *kept;
    append(&order, summed);
    int64_t dims[MAX_LABELS], from_strides[MAX_LABELS], to_strides[MAX_LABELS], n_all, stride = 1;
    if (!multiply_sizes(planner, kept, &operand->n_rows) ||
        !multiply_sizes(planner, summed, &operand->n_summed) ||
        !multiply_sizes(planner, &order, &n_all))
        return false;
    for (uint32_t i = order.n; i-- > 0;) {
        dims[i] = planner->dims[order.items[i]];
        from_strides[i] = from->strides[order.items[i]];
        to_strides[i] = stride;
        stride *= n_all ? dims[i] : 1;
        operand->is_copied |= dims[i] != 1 && from_strides[i] != to_strides[i];
    }
    strided_copy_plan(&operand->copy, order.n, dims, from_strides, to_strides);
    if (operand->n_summed != 1 && operand->is_copied &&
        !reserve(planner, EINSUM_UNSUMMED, &order, &n_all))
        return false;
    if (operand->n_summed != 1 && operand->n_summed > planner->plan->sizes[EINSUM_ONES])
        planner->plan->sizes[EINSUM_ONES] = operand->n_summed;
    return reserve(planner, area, kept, &n_all);
}

/* The labels of the two operands of a product. Those that are not needed later are contracted if
 * both operands have them, otherwise summed. */
struct sides {
    struct einsum_labels batch, left, right, contracted, summed_left, summed_right;
};

static bool sort_labels(struct planner *planner, const struct labelled_tensor *a,
                        const struct labelled_tensor *b, uint32_t input, struct sides *sides)
{
    *sides = (struct sides){0};
    for (uint32_t i = 0; i < a->labels.n; i++) {
        uint8_t label = a->labels.items[i];
        bool needed = is_needed(planner, label, input + 1);
        if (contains(&b->labels, label))
            add_label(needed ? &sides->batch : &sides->contracted, label);
        else
            add_label(needed ? &sides->left : &sides->summed_left, label);
    }
    for (uint32_t i = 0; i < b->labels.n; i++) {
        uint8_t label = b->labels.items[i];
        bool needed = is_needed(planner, label, input + 1);
        if (!contains(&a->labels, label))
            add_label(needed ? &sides->right : &sides->summed_right, label);
    }
    if (sides->batch.n + sides->left.n + sides->right.n > MAX_LABELS)
        return infer_fail(planner->infer, "an intermediate result has more than %d dimensions",
                          MAX_LABELS);
    return true;
}

/* Describes the result, which is dense: its labels are batch, left, right. */
static bool make_result(struct planner *planner, const struct sides *sides, uint32_t number,
                        struct labelled_tensor *result)
{
    int64_t stride = 1, n_all;
    *result = (struct labelled_tensor){.labels = sides->batch};
    append(&result->labels, &sides->left);
    append(&result->labels, &sides->right);
    if (!reserve(planner, number % 2 ? EINSUM_RESULT_1 : EINSUM_RESULT_0, &result->labels, &n_all))
        return false;
    for (uint32_t i = result->labels.n; i-- > 0;) {
        result->strides[result->labels.items[i]] = stride;
        stride *= n_all ? planner->dims[result->labels.items[i]] : 1;
    }
    return true;
}

/* Returns whether a tensor is dense in this order of its labels. */
static bool is_dense_in_order(const struct planner *planner, const struct labelled_tensor *tensor,
                              const struct einsum_labels *first, const struct einsum_labels *second,
                              const struct einsum_labels *third)
{
    struct einsum_labels order = *first;
    int64_t stride = 1;
    append(&order, second);
    append(&order, third);
    if (order.n != tensor->labels.n)
        return false;
    for (uint32_t i = order.n; i-- > 0;) {
        int64_t dim = planner->dims[order.items[i]];
        if (dim == 0 || (dim != 1 && tensor->strides[order.items[i]] != stride))
            return false;
        stride *= dim;
    }
    return true;
}

/* Plans the order of one operand of a product: batch, rows, contracted; or batch, contracted, rows
 * if it is stored in this order. */
static bool plan_side(struct planner *planner, const struct labelled_tensor *from,
                      const struct sides *sides, bool is_left, struct einsum_operand *operand,
                      bool *contracted_first)
{
    const struct einsum_labels *rows = is_left ? &sides->left : &sides->right;
    const struct einsum_labels *summed = is_left ? &sides->summed_left : &sides->summed_right;
    struct einsum_labels kept = sides->batch;
    *contracted_first = is_dense_in_order(planner, from, &sides->batch, &sides->contracted, rows);
    append(&kept, *contracted_first ? &sides->contracted : rows);
    append(&kept, *contracted_first ? rows : &sides->contracted);
    return plan_operand(planner, from, &kept, summed, is_left ? EINSUM_ORDERED_A : EINSUM_ORDERED_B,
                        operand);
}

/* Plans the product of the previous result and input number `input`. */
static bool plan_contraction(struct planner *planner, uint32_t input,
                             struct labelled_tensor *so_far)
{
    struct einsum_contraction *contraction = &planner->plan->contractions[input - 1];
    struct labelled_tensor next = view_input(planner, input);
    struct sides sides;
    int64_t count, m, n, k;
    bool a_contracted_first, b_contracted_first;
    if (!sort_labels(planner, so_far, &next, input, &sides) ||
        !multiply_sizes(planner, &sides.batch, &count) ||
        !multiply_sizes(planner, &sides.left, &m) || !multiply_sizes(planner, &sides.right, &n) ||
        !multiply_sizes(planner, &sides.contracted, &k) ||
        !plan_side(planner, so_far, &sides, true, &contraction->a, &a_contracted_first) ||
        !plan_side(planner, &next, &sides, false, &contraction->b, &b_contracted_first))
        return false;
    contraction->batch.count = (size_t)count;
    contraction->batch.product = (struct product){.m = (size_t)m,
                                                  .n = (size_t)n,
                                                  .k = (size_t)k,
                                                  .a_transposed = a_contracted_first,
                                                  .b_transposed = !b_contracted_first};
    return make_result(planner, &sides, input, so_far);
}

static bool plan_contractions(struct planner *planner)
{
    struct einsum_plan *plan = planner->plan;
    struct labelled_tensor so_far = view_input(planner, 0);
    struct einsum_labels summed = {0};
    for (uint32_t i = 1; i < planner->infer->n_inputs; i++)
        if (!plan_contraction(planner, i, &so_far))
            return false;
    for (uint32_t i = 0; i < so_far.labels.n; i++)
        if (!contains(&plan->equation.out, so_far.labels.items[i]))
            add_label(&summed, so_far.labels.items[i]);
    return plan_operand(planner, &so_far, &plan->equation.out, &summed, EINSUM_OUTPUT, &plan->last);
}

bool infer_einsum_plan(struct infer *infer, const char *equation, struct einsum_plan *plan)
{
    if (!infer_einsum(infer, equation, &plan->equation))
        return false;
    plan->contractions =
        arena_alloc_array(infer->arena, infer->n_inputs, sizeof *plan->contractions, infer->err);
    return plan->contractions &&
           plan_contractions(&(struct planner){infer, plan, plan->equation.dims});
}
