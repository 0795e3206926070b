/* Counts the operations of ops without a flops function, and the bytes of all ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/cost.h"

#include "tensor/dtype.h"

double op_flops(const struct op *op, struct irrun_tensor *const *in,
                struct irrun_tensor *const *out)
{
    const struct op_def *def = op->def;
    if (def->flops)
        return def->flops(op, in, out);
    if (def->role != ROLE_ORDINARY ||
        (def->flags & (OP_DATA_MOVEMENT | OP_VIEW | OP_SHAPES_ONLY)) != 0 || op->n_bodies > 0)
        return 0;
    double n_in = op->n_inputs > 0 ? cost_n(in[0]) : 0;
    double n_out = op->n_outputs > 0 ? cost_n(out[0]) : 0;
    return n_in > n_out && (def->flags & OP_ELEMENTWISE) == 0 ? n_in : n_out;
}

double op_bytes(const struct op *op, struct irrun_tensor *const *in, uint32_t n_inputs,
                struct irrun_tensor *const *out, uint32_t n_outputs)
{
    double n_written = 0, n_read = 0;
    for (uint32_t i = 0; i < n_outputs; i++)
        n_written += (double)tensor_n_bytes(out[i]);
    for (uint32_t i = 0; i < n_inputs && (op->def->flags & OP_SHAPES_ONLY) == 0; i++) {
        double n = (double)tensor_n_bytes(in[i]);
        if (op->def->prepacks &&
            dtype_stored_bits(in[i]->dtype) < 8) /* counted as the file stores it */
            n *= dtype_stored_bits(in[i]->dtype) / 8.0;
        bool is_part = (op->def->flags & OP_DATA_MOVEMENT) != 0 && n_outputs > 0 && n > n_written;
        n_read += is_part ? n_written : n;
    }
    return n_read + n_written;
}
