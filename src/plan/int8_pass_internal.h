/* What the files of the pass share that puts ops of bytes in the place of others.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_INT8_PASS_INTERNAL_H
#define IRRUN_PLAN_INT8_PASS_INTERNAL_H

#include <string.h>

#include "ops/int8_ops.h"
#include "plan/graph_edit.h"
#include "plan/model.h"
#include "plan/remarks.h"

struct int8_pass {
    struct model finder; /* finds constants, in memory that goes with the pass */
    struct graph *graph;
    struct graph_edit edit;
    struct arena *arena;
    uint32_t n_values;       /* before the pass */
    uint32_t *bytes[2];      /* [n_values] the value of u8 that stands for one of f32, NO_ID: for
                           products, and with the channels last */
    uint32_t *n_uses, *user; /* [n_values] how many inputs read a value, and the last op of them */
    struct remarks *remarks;
    struct irrun_error *err;
};

/* Adds an op with one input, and the name and place of op `like_id`. Returns its id. */
static inline uint32_t int8_add_op(struct int8_pass *pass, const struct op_def *def,
                                   const void *attrs, uint32_t like_id, uint32_t in)
{
    const struct op like = pass->graph->ops[like_id];
    return graph_edit_add(&pass->edit, def, attrs, &like, &in, 1, 1);
}

/* Whether an op may pass bytes on as they are: MaxPool and Concat. */
bool int8_passes_on(const struct op *op);

/* Has it do so if its inputs are of bytes. False with *err filled on failure. */
bool int8_pass_on(struct int8_pass *pass, uint32_t op_id);

#endif
