/* The infer, prepare and run functions that LSTM, GRU and RNN share, as cells and as sequences.
 * op_recurrent.c lists the inputs and attributes of each op.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_RECURRENT_OP_H
#define IRRUN_OPS_RECURRENT_OP_H

#include "kernels/recurrent_f32.h"
#include "ops/op.h"

enum recurrent_direction { DIRECTION_FORWARD, DIRECTION_REVERSE, DIRECTION_BIDIRECTIONAL };

/* Attributes that an op does not have are zero, their neutral value. */
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

#define NO_INPUT UINT32_MAX /* above the index of any input */

/* The differences between the rows of op_recurrent.c. */
struct recurrent_family {
    enum recurrent_kind kind;
    bool is_sequence;
    uint32_t x, h0, c0, lengths; /* indices of inputs, or NO_INPUT */
    uint32_t w, r, b, p;         /* b and p may be absent */
};

static inline const struct recurrent_family *recurrent_family_of(const struct op *op)
{
    return op->def->family;
}

/* The implementation, chosen by prepare. */
enum recurrent_route {
    RECURRENT_F64,
    RECURRENT_PREPACKED,      /* constant weights, f32 or f16 */
    RECURRENT_PACKS_EACH_RUN, /* f32: packs biases, and weights unless a GEMM reads them in place */
};

struct recurrent_state {
    enum recurrent_route route;
    struct recurrent_f32 f32; /* f64 uses only its `common` */
    unsigned *n_runs;         /* a counter for recurrent_f32_run */
    const size_t *lengths;    /* constant lengths; NULL: not constant, or all are n_steps */
    bool reads_lengths;       /* the lengths are not constant, so run reads them */
    /* The scratch memory begins with the lengths that run reads and the weights that it packs. */
    size_t lengths_bytes, packs_bytes;
};

bool recurrent_infer(struct infer *infer);
uint32_t recurrent_prepacks(const struct prepare *prepare, uint32_t constants);
bool recurrent_prepare(struct prepare *prepare);
bool recurrent_run(const struct step *step, struct irrun_error *err);

/* Called by prepare for f32. The first packs the constant weights that recurrent_prepacks has
 * chosen. The second lays out the memory in which each run packs other weights, or lets a GEMM read
 * them in place. */
bool recurrent_prepack(struct prepare *prepare);
bool recurrent_lay_out(struct prepare *prepare);

/* Packs the weights into the scratch memory. Called by run. Returns a copy of state->f32 with the
 * packed weights. */
struct recurrent_f32 recurrent_pack_now(const struct recurrent_state *state,
                                        const struct recurrent_f32_tensors *tensors, void *scratch);

/* Reads the attributes: activations with alpha and beta, clip, weights_format. Called by infer. */
bool recurrent_read_attrs(struct infer *infer, struct recurrent *recurrent);

#endif
