/* Matches constant matrices that kernels can read as they are stored, together with the ops that
 * expand them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_COMPRESSED_MATCH_H
#define IRRUN_PLAN_COMPRESSED_MATCH_H

#include "ops/compressed_ops.h"
#include "ops/op_state.h"
#include "plan/model.h"

/* Stored integers and small floats, before they are expanded, are called codes. */
struct compressed_matcher {
    struct model finder; /* finds and computes constants, in its own arena */
    const struct graph *graph;
    struct constant **constants;
    uint32_t n_values; /* length of `constants`; values that the pass adds are not in it */
    bool keeps_floats; /* large matrices of floats match */
    struct irrun_error *err;
};

struct compressed_match {
    uint32_t stored, scales, zero_points; /* ids of values; NO_ID: none */
    struct compressed_attrs attrs;
};

/* Returns the constant of a value, or NULL. */
const struct constant *compressed_constant(const struct compressed_matcher *matcher,
                                           uint32_t value_id);

/* Returns the op that computes a constant value if its type is `type`, or NULL. */
const struct op *compressed_producer(const struct compressed_matcher *matcher, uint32_t value_id,
                                     const char *type);

/* Returns whether a Const is a matrix of floats that is large enough to be read as it is stored. */
bool compressed_is_large_matrix(const struct const_attrs *attrs);

/* Matches a large matrix of floats, Const [-> Convert]. */
bool compressed_match_floats(const struct compressed_matcher *matcher, uint32_t value_id,
                             struct compressed_match *match);

/* Matches a matrix [n][k], or [k][n] if is_transposed, that is computed by Const -> Convert
 * [-> Subtract] [-> Multiply] [-> Reshape] [-> Convert]. Sets *matcher->err if a constant cannot be
 * computed. */
bool compressed_match_codes(struct compressed_matcher *matcher, uint32_t value_id,
                            bool is_transposed, struct compressed_match *match);

#endif
