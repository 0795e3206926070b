/* Gathers rows of a compressed constant. Only these rows are expanded.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ops/compressed_ops.h"
#include "ops/cost.h"
#include "ops/indexing.h"

#define INDICES 1

struct gather_state {
    struct compressed_matrix matrix;
    struct index_list rows; /* -1: the index is out of range, and the result is zeros */
    size_t n;               /* number of indices */
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"indices", .types = TYPES_INTEGER},
    {"scale", .types = TYPES_ANY, .is_optional = true},
    {"zero point", .types = TYPES_ANY, .is_optional = true},
};

static bool infer(struct infer *infer)
{
    const struct compressed_attrs *attrs = infer->attrs;
    struct irrun_shape out = infer->in[INDICES]->shape;
    if (out.rank == IRRUN_MAX_RANK)
        return infer_fail(infer, "the output would have more than %d dimensions", IRRUN_MAX_RANK);
    ((struct gather_state *)infer->state)->n = (size_t)shape_n_elements(&out);
    out.dims[out.rank++] = (int64_t)attrs->k;
    return infer_output(infer, 0, attrs->dtype, &out);
}

static bool resolve(const struct step *step, int64_t *rows, struct irrun_error *err)
{
    const struct compressed_attrs *attrs = step->op->attrs;
    const struct irrun_tensor *indices = step->in[INDICES];
    size_t n = ((const struct gather_state *)step->state)->n;
    int64_t dim = (int64_t)attrs->n;
    elements_as_i64(indices->dtype, indices->data, 0, n, rows);
    for (size_t i = 0; i < n; i++) {
        rows[i] = index_normalize(rows[i], dim);
        if (rows[i] < 0 && !attrs->gives_zeros)
            return index_fail(step, INDICES, i, 0, -dim, dim, err);
        if (rows[i] < 0)
            index_warn_zeros(step, i, dim);
    }
    return true;
}

static bool prepare(struct prepare *prepare)
{
    struct gather_state *state = prepare->state;
    return compressed_matrix_find(prepare, &state->matrix) &&
           index_list_prepare(prepare, INDICES, state->n, resolve, &state->rows);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct gather_state *state = step->state;
    const int64_t *rows = index_list_get(step, &state->rows, err);
    size_t k = state->matrix.k;
    float *to = step->out[0]->data;
    for (size_t i = 0; rows && i < state->n; i++, to += k)
        if (rows[i] < 0)
            memset(to, 0, k * sizeof *to);
        else
            compressed_expand_row(&state->matrix, (size_t)rows[i], to);
    return rows != NULL;
}

static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    (void)op, (void)in;
    return 2 * cost_n(out[0]);
}

const struct op_def op_compressed_gather = {
    .type = "Gather",
    .opset = 8,
    OP_INPUTS(inputs),
    .attrs_size = sizeof(struct compressed_attrs),
    .state_size = sizeof(struct gather_state),
    .infer = infer,
    .prepacks = compressed_prepacks,
    .prepare = prepare,
    .run = run,
    .flops = flops,
};
