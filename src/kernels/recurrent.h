/* The recurrent family on raw pointers: LSTM, GRU and RNN, one engine each for f32 and f64. A cell
 * is a sequence of one step. Semantics: LSTMSequence-5, GRUSequence-5, RNNSequence-5 of the
 * OpenVINO specification; what it leaves open is settled in the comments here.
 *
 * Element b of the batch runs through steps 0 … lengths[b]-1; backwards, from lengths[b]-1 down to
 * 0. What lies behind in X does not matter; Y is zero there; the final state is that of the last
 * step that was run, and zero for a length of 0 (not the initial state). No element of the batch
 * influences another.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_RECURRENT_H
#define IRRUN_KERNELS_RECURRENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm.h"

enum recurrent_kind { RECURRENT_RNN, RECURRENT_GRU, RECURRENT_LSTM };

enum recurrent_function {
    RECURRENT_SIGMOID,
    RECURRENT_TANH,
    RECURRENT_RELU,
    RECURRENT_HARDSIGMOID, /* alpha * z + beta, clamped to [0, 1] */
};

struct recurrent_activation {
    enum recurrent_function function;
    double alpha, beta;
};

enum lstm_gate { LSTM_F, LSTM_I, LSTM_C, LSTM_O };
enum gru_gate { GRU_Z, GRU_R, GRU_H };

/* Sizes and rules, the same for every run. */
struct recurrent {
    enum recurrent_kind kind;
    size_t batch;                               /* B */
    size_t n_steps;                             /* T, 1 for a cell */
    size_t input_size;                          /* I */
    size_t hidden_size;                         /* H, at least 1 */
    size_t n_directions;                        /* D: 2 = forward, then backwards */
    bool is_reverse;                            /* the only direction goes backwards */
    struct recurrent_activation activations[3]; /* LSTM f, g, h; GRU f, g; RNN f */
    double clip;              /* of what goes into a gate's activation; INFINITY = none */
    bool input_forget;        /* LSTM: i = 1 - f */
    bool linear_before_reset; /* GRU */
    uint8_t slots[4];         /* LSTM: where gates f, i, c and o stand along 4H of W, R and B */
};

/* Gates along W and R: G = 1, 3 or 4. GRU's order is z, r, h. */
size_t recurrent_n_gates(const struct recurrent *recurrent);
/* … along B: one more for a GRU with linear_before_reset (z, r, Wbh, Rbh). */
size_t recurrent_n_biases(const struct recurrent *recurrent);

struct recurrent_f32_tensors {
    const float *x;        /* [B][T][I] */
    const float *h0, *c0;  /* [B][D][H]; c0 LSTM only */
    const size_t *lengths; /* [B], each at most T; NULL: all T */
    const float *w;        /* [D][G*H][I] */
    const float *r;        /* [D][G*H][H] */
    const float *b;        /* [D][n_biases*H], NULL = zeros */
    const float *p;        /* LSTM's peepholes [D][3H], order f, i, o; NULL = zeros */
    float *y;              /* [B][D][T][H]; NULL: not wanted */
    float *ho, *co;        /* [B][D][H]; NULL: not wanted */
};

struct recurrent_f64_tensors { /* as above */
    const double *x, *h0, *c0;
    const size_t *lengths;
    const double *w, *r, *b, *p;
    double *y, *ho, *co;
};

/* What one step does behind the products, for one element of the batch. `x` [G*H] is W x + B,
 * `h_product` [G*H] is R h. The state is replaced. */
typedef void lstm_cell_f32_fn(const struct recurrent *recurrent, const float *x,
                              const float *h_product, const float *peepholes, float *h, float *c);
typedef void rnn_cell_f32_fn(const struct recurrent *recurrent, const float *x,
                             const float *h_product, float *h);
/* GRU, first half: z goes to its place in x, r * h to reset_h [H], which R is then applied to. */
typedef void gru_reset_f32_fn(const struct recurrent *recurrent, float *x, const float *h_product,
                              const float *h, float *reset_h);
/* … second half: the last H of h_product are R_h (r * h). */
typedef void gru_update_f32_fn(const struct recurrent *recurrent, const float *x,
                               const float *h_product, float *h);
/* GRU with linear_before_reset, whole; reset_bias [H] is Rbh, NULL = zeros. */
typedef void gru_linear_f32_fn(const struct recurrent *recurrent, const float *x,
                               const float *h_product, const float *reset_bias, float *h);

struct recurrent_cells_f32 {
    lstm_cell_f32_fn *lstm;
    rnn_cell_f32_fn *rnn;
    gru_reset_f32_fn *gru_reset;
    gru_update_f32_fn *gru_update;
    gru_linear_f32_fn *gru_linear;
};

extern const struct recurrent_cells_f32 recurrent_cells_f32_scalar;

/* One layout of f32: how the steps are cut into chunks, each projected by one product, and where
 * what lies in the scratch memory. Borders depend on sizes alone, never on lengths. */
struct recurrent_f32 {
    struct recurrent common;
    const struct recurrent_cells_f32 *cells;
    gemm_f32_fn *project; /* [chunk_steps*B][I] by [I][G*H] */
    gemm_f32_fn *step;    /* [B][H] by [H][G*H] */
    size_t chunk_steps;
    size_t x_at;         /* in floats: [chunk_steps][B][I], gathered from X */
    size_t gates_at;     /* [chunk_steps][B][G*H] */
    size_t h_product_at; /* [B][G*H] */
    size_t reset_h_at;   /* [B][H], GRU without linear_before_reset */
    size_t h_at, c_at;   /* [B][H] */
    size_t scratch_bytes;
};

/* Fills everything behind `common` but the functions; false if the sizes overflow. Scratch
 * memory does not grow with T beyond a chunk. */
bool recurrent_f32_lay_out(struct recurrent_f32 *layout);

/* scratch: scratch_bytes, 64-byte aligned. */
void recurrent_f32_run(const struct recurrent_f32 *layout,
                       const struct recurrent_f32_tensors *tensors, void *scratch);

/* f64 has plain loops of its own, element of the batch by element. */
size_t recurrent_f64_scratch_bytes(const struct recurrent *recurrent);
void recurrent_f64_run(const struct recurrent *recurrent,
                       const struct recurrent_f64_tensors *tensors, void *scratch);

#endif
