/* What the ops of the recurrent family share: LSTM, GRU and RNN, as cell and as sequence, are one
 * infer, one prepare and one run. op_recurrent.c says which inputs and attributes each has.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_RECURRENT_COMMON_H
#define IRRUN_OPS_RECURRENT_COMMON_H

#include "kernels/recurrent.h"
#include "kernels/recurrent_packed.h"
#include "ops/op.h"

enum recurrent_direction { DIRECTION_FORWARD, DIRECTION_REVERSE, DIRECTION_BIDIRECTIONAL };

/* What an op lacks stays zero, which is its neutral value. */
struct recurrent_attrs {
    int64_t hidden_size;
    int direction;
    struct string_list activations;
    struct f64_list activations_alpha, activations_beta;
    double clip; /* <= 0, inf: none */
    bool input_forget;
    bool linear_before_reset;
    int weights_format; /* fico|icof|ifco|ifoc|iofc */
};

#define NO_INPUT UINT32_MAX

/* What tells the rows of op_recurrent.c apart. */
struct recurrent_family {
    enum recurrent_kind kind;
    bool is_sequence;
    uint32_t x, h0, c0, lengths; /* numbers of inputs, or NO_INPUT */
    uint32_t w, r, b, p;         /* a layer may have no b, and no p */
};

static inline const struct recurrent_family *recurrent_family_of(const struct op *op)
{
    return op->def->family;
}

struct recurrent_state {
    struct recurrent_f32 f32; /* f64 uses its `common` only */
    size_t lengths_bytes;     /* the scratch memory begins with the lengths */
    struct recurrent_packed packed;
    unsigned *n_runs;     /* of the packed engine; NULL where another one runs */
    size_t packing_bytes; /* of scratch memory: every run packs weights that are no constants */
};

bool recurrent_infer(struct infer *infer);
uint32_t recurrent_packs(const struct prepare *prepare, uint32_t constants);
bool recurrent_prepare(struct prepare *prepare);
bool recurrent_run(const struct step *step, struct irrun_error *err);

/* The part of prepare for packed weights: fills state->packed. */
bool recurrent_pack(struct prepare *prepare);

/* Whether weights that are no constants are packed by every run, which still is faster than not to
 * pack them; fills state->packed and packing_bytes if so. */
bool recurrent_packs_later(struct prepare *prepare);
/* … and the part of run. Gives the layout with its parts, which lie in the scratch memory. */
struct recurrent_packed recurrent_pack_now(const struct recurrent_state *state,
                                           const struct recurrent_f32_tensors *tensors,
                                           void *scratch);

/* The part of infer that reads attributes: activations with alpha and beta, clip,
 * weights_format. */
bool recurrent_read_rules(struct infer *infer, struct recurrent *recurrent);

#endif
