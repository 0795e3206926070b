/* Plans and runs the loops of a broadcast.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor/broadcast.h"

#include <assert.h>

#include "base/checked.h"

/* Computes the strides of a shape in the dimensions of the output: 0 where a dimension is broadcast
 * or missing. */
static void broadcast_strides(const struct irrun_shape *shape, const struct irrun_shape *output,
                              int64_t strides[IRRUN_MAX_RANK])
{
    assert(shape->rank <= output->rank);
    uint32_t n_missing = output->rank - shape->rank;
    int64_t stride = 1;
    for (uint32_t i = output->rank; i-- > 0;) {
        int64_t dim = i < n_missing ? 1 : shape->dims[i - n_missing];
        assert(dim == 1 || dim == output->dims[i]);
        strides[i] = dim == 1 ? 0 : stride;
        stride *= dim;
    }
}

/* Returns whether one loop can run over dimension i and the inner loop: for every operand, the
 * stride of dimension i equals the distance that the inner loop covers. */
static bool continues_loop(uint32_t n_operands, int64_t strides[][IRRUN_MAX_RANK], uint32_t i,
                           const struct broadcast_loop *inner)
{
    for (uint32_t k = 0; k < n_operands; k++)
        if (strides[k][i] != inner->strides[k] * inner->n)
            return false;
    return true;
}

/* Merges the loops, innermost first, and returns their number. Dimensions of 1 need no loop; every
 * other dimension extends the inner loop or adds a new one. */
static uint32_t merge_loops(uint32_t n_operands, const struct irrun_shape *const *shapes,
                            struct broadcast_loop merged[IRRUN_MAX_RANK])
{
    int64_t strides[BROADCAST_MAX_OPERANDS][IRRUN_MAX_RANK];
    uint32_t n = 0;

    for (uint32_t k = 0; k < n_operands; k++)
        broadcast_strides(shapes[k], shapes[0], strides[k]);
    for (uint32_t i = shapes[0]->rank; i-- > 0;) {
        int64_t dim = shapes[0]->dims[i];
        if (dim == 1)
            continue;
        if (n > 0 && continues_loop(n_operands, strides, i, &merged[n - 1])) {
            merged[n - 1].n *= dim;
            continue;
        }
        merged[n] = (struct broadcast_loop){.n = dim};
        for (uint32_t k = 0; k < n_operands; k++)
            merged[n].strides[k] = strides[k][i];
        n++;
    }
    return n;
}

bool broadcast_plan(struct broadcast *plan, uint32_t n_operands,
                    const struct irrun_shape *const *shapes, struct arena *arena,
                    struct irrun_error *err)
{
    assert(n_operands >= 1 && n_operands <= BROADCAST_MAX_OPERANDS);
    struct broadcast_loop merged[IRRUN_MAX_RANK];
    *plan = (struct broadcast){.n_operands = n_operands, .n_inner = 1};
    for (uint32_t k = 0; k < n_operands; k++)
        plan->inner_strides[k] = 1;
    for (uint32_t i = 0; i < shapes[0]->rank; i++) {
        if (shapes[0]->dims[i] == 0) {
            plan->n_inner = 0;
            return true;
        }
    }
    uint32_t n = merge_loops(n_operands, shapes, merged);
    if (n == 0)
        return true;
    plan->n_inner = merged[0].n;
    for (uint32_t k = 0; k < n_operands; k++)
        plan->inner_strides[k] = merged[0].strides[k];
    if (n == 1)
        return true;
    struct broadcast_loop *loops = arena_alloc_array(arena, n - 1, sizeof *loops, err);
    for (uint32_t i = 1; loops && i < n; i++)
        loops[n - 1 - i] = merged[i];
    plan->rank = n - 1;
    plan->loops = loops;
    return loops != NULL;
}

bool broadcast_walk(const struct broadcast *plan, broadcast_visit_fn *visit, void *context)
{
    return broadcast_walk_units(plan, 0, broadcast_n_units(plan), visit, context);
}

size_t broadcast_n_units(const struct broadcast *plan)
{
    return plan->rank > 0 ? (size_t)plan->loops[0].n
                          : divide_up((size_t)plan->n_inner, BROADCAST_UNIT);
}

static bool visit_innermost(const struct broadcast *plan, size_t begin, size_t end,
                            broadcast_visit_fn *visit, void *context)
{
    int64_t offsets[BROADCAST_MAX_OPERANDS];
    size_t first = begin * BROADCAST_UNIT, last = end * BROADCAST_UNIT;
    size_t n_inner = (size_t)plan->n_inner;
    for (uint32_t k = 0; k < plan->n_operands; k++)
        offsets[k] = (int64_t)first * plan->inner_strides[k];
    return visit(context, offsets, (last < n_inner ? last : n_inner) - first);
}

static bool visit_loops(const struct broadcast *plan, int64_t begin, int64_t end,
                        broadcast_visit_fn *visit, void *context)
{
    int64_t offsets[BROADCAST_MAX_OPERANDS] = {0};
    int64_t index[IRRUN_MAX_RANK] = {begin};
    for (uint32_t k = 0; k < plan->n_operands; k++)
        offsets[k] = begin * plan->loops[0].strides[k];
    for (;;) {
        if (!visit(context, offsets, (size_t)plan->n_inner))
            return false;
        uint32_t i = plan->rank;
        for (;; i--) {
            const struct broadcast_loop *loop = &plan->loops[i - 1];
            index[i - 1]++;
            for (uint32_t k = 0; k < plan->n_operands; k++)
                offsets[k] += loop->strides[k];
            if (index[i - 1] < (i == 1 ? end : loop->n))
                break;
            if (i == 1)
                return true;
            for (uint32_t k = 0; k < plan->n_operands; k++)
                offsets[k] -= loop->strides[k] * loop->n;
            index[i - 1] = 0;
        }
    }
}

bool broadcast_walk_units(const struct broadcast *plan, size_t begin, size_t end,
                          broadcast_visit_fn *visit, void *context)
{
    if (plan->n_inner == 0 || begin == end)
        return true;
    return plan->rank > 0 ? visit_loops(plan, (int64_t)begin, (int64_t)end, visit, context)
                          : visit_innermost(plan, begin, end, visit, context);
}

void broadcast_offsets(const struct broadcast *plan, size_t i, size_t *offsets)
{
    size_t n = (size_t)plan->n_inner, index = plan->rank > 0 ? i % n : i;
    for (uint32_t k = 0; k < plan->n_operands; k++)
        offsets[k] = index * (size_t)plan->inner_strides[k];
    for (uint32_t loop = plan->rank; loop-- > 0;) {
        i /= n;
        n = (size_t)plan->loops[loop].n;
        index = i % n;
        for (uint32_t k = 0; k < plan->n_operands; k++)
            offsets[k] += index * (size_t)plan->loops[loop].strides[k];
    }
}
