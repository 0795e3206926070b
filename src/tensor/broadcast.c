/* Plans the loops of a broadcast and walks them. Knows nothing of what is computed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor/broadcast.h"

#include <assert.h>

/* Strides of a shape over the dimensions of the output; 0 where it is stretched or missing. */
static void stretch_strides(const struct irrun_shape *shape, const struct irrun_shape *output,
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

/* Whether one step of dimension i is, for every operand, as far as the n steps of the loop inside. */
static bool continues_loop(const struct broadcast *plan, int64_t strides[][IRRUN_MAX_RANK],
                           uint32_t i, const int64_t *inside, int64_t n)
{
    for (uint32_t k = 0; k < plan->n_operands; k++)
        if (strides[k][i] != inside[k] * n)
            return false;
    return true;
}

static void reverse_loops(struct broadcast *plan)
{
    for (uint32_t i = 0, j = plan->rank; i + 1 < j--; i++) {
        int64_t dim = plan->dims[i];
        plan->dims[i] = plan->dims[j];
        plan->dims[j] = dim;
        for (uint32_t k = 0; k < plan->n_operands; k++) {
            int64_t stride = plan->strides[k][i];
            plan->strides[k][i] = plan->strides[k][j];
            plan->strides[k][j] = stride;
        }
    }
}

void broadcast_plan(struct broadcast *plan, uint32_t n_operands,
                    const struct irrun_shape *const *shapes)
{
    assert(n_operands >= 1 && n_operands <= BROADCAST_MAX_OPERANDS);
    const struct irrun_shape *output = shapes[0];
    *plan = (struct broadcast){.n_operands = n_operands, .n_inner = 1};
    int64_t strides[BROADCAST_MAX_OPERANDS][IRRUN_MAX_RANK];
    for (uint32_t k = 0; k < n_operands; k++) {
        stretch_strides(shapes[k], output, strides[k]);
        plan->inner_strides[k] = 1;
    }
    for (uint32_t i = 0; i < output->rank; i++) {
        if (output->dims[i] == 0) {
            plan->n_inner = 0;
            return;
        }
    }

    /* From the innermost dimension outwards: each one lengthens the loop inside it or opens a new
     * one. Dimensions of 1 are no loops. */
    int64_t inside[BROADCAST_MAX_OPERANDS] = {0};
    int64_t *n_inside = NULL;
    for (uint32_t i = output->rank; i-- > 0;) {
        int64_t dim = output->dims[i];
        if (dim == 1)
            continue;
        if (n_inside && continues_loop(plan, strides, i, inside, *n_inside)) {
            *n_inside *= dim;
            continue;
        }
        for (uint32_t k = 0; k < n_operands; k++) {
            inside[k] = strides[k][i];
            if (n_inside)
                plan->strides[k][plan->rank] = inside[k];
            else
                plan->inner_strides[k] = inside[k];
        }
        n_inside = n_inside ? &plan->dims[plan->rank++] : &plan->n_inner;
        *n_inside = dim;
    }
    reverse_loops(plan);
}

bool broadcast_walk(const struct broadcast *plan, broadcast_visit_fn *visit, void *context)
{
    int64_t offsets[BROADCAST_MAX_OPERANDS] = {0};
    int64_t index[IRRUN_MAX_RANK] = {0};
    if (plan->n_inner == 0)
        return true;
    for (;;) {
        if (!visit(context, offsets))
            return false;
        uint32_t i = plan->rank;
        for (; i > 0; i--) {
            index[i - 1]++;
            for (uint32_t k = 0; k < plan->n_operands; k++)
                offsets[k] += plan->strides[k][i - 1];
            if (index[i - 1] < plan->dims[i - 1])
                break;
            for (uint32_t k = 0; k < plan->n_operands; k++)
                offsets[k] -= plan->strides[k][i - 1] * plan->dims[i - 1];
            index[i - 1] = 0;
        }
        if (i == 0)
            return true;
    }
}
