/* What the ops of the recurrent family share: LSTM, GRU and RNN, as cell and as sequence, are one
 * infer, one prepare and one run. op_recurrent.c says which inputs and attributes each has.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_RECURRENT_OP_H
#define IRRUN_OPS_RECURRENT_OP_H

#include "kernels/recurrent_f32.h"
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

/* How a step computes; prepare chooses. */
enum recurrent_route {
    RECURRENT_F64,
    RECURRENT_PREPACKED,      /* constant weights of f32 or f16 */
    RECURRENT_PACKS_EACH_RUN, /* f32: weights, unless a GEMM multiplies them, and biases */
};

struct recurrent_state {
    enum recurrent_route route;
    struct recurrent_f32 f32; /* f64 uses its `common` only */
    unsigned *n_runs;         /* of f32 */
    const size_t *lengths;    /* constant ones; NULL: there are none, or they are all n_steps */
    bool reads_lengths;       /* in run */
    /* The scratch memory begins with the lengths and what a run packs. */
    size_t lengths_bytes, packs_bytes;
};

bool recurrent_infer(struct infer *infer);
uint32_t recurrent_prepacks(const struct prepare *prepare, uint32_t constants);
bool recurrent_prepare(struct prepare *prepare);
bool recurrent_run(const struct step *step, struct irrun_error *err);

/* The parts of prepare for f32: fill state->f32, for weights that recurrent_prepacks has taken, and
 * for others. */
bool recurrent_prepack(struct prepare *prepare);
bool recurrent_lay_out(struct prepare *prepare);

/* The part of run that packs. Gives the engine with what it packed, which is in the scratch
 * memory. */
struct recurrent_f32 recurrent_pack_now(const struct recurrent_state *state,
                                        const struct recurrent_f32_tensors *tensors, void *scratch);

/* The part of infer that reads attributes: activations with alpha and beta, clip,
 * weights_format. */
bool recurrent_read_rules(struct infer *infer, struct recurrent *recurrent);

#endif
