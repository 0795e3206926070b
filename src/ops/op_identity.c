/* Identity-16: returns its input.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/movement.h"

static bool infer(struct infer *infer)
{
    return infer_output(infer, 0, infer->in[0]->dtype, &infer->in[0]->shape);
}

VIEW_OP(op_identity, "Identity", 16, OP_ONE_INPUT("input", TYPES_ANY), infer, );
