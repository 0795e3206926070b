/* LSTM, GRU and RNN on raw pointers. There are two implementations: scalar loops in f64, and the
 * f32 engine (recurrent_f32.h), with packed weights and threads. A cell is a sequence of one step.
 * The code follows LSTMSequence-5, GRUSequence-5 and RNNSequence-5 of the OpenVINO specification;
 * the comments here define what the specification leaves open.
 *
 * Batch element b runs steps 0 … lengths[b]-1; in the reverse direction, from lengths[b]-1 down to
 * 0. Later steps of X are not read, and those of Y become zero. The final state is the state after
 * the last step that was run; for a length of 0 it is zero, not the initial state. Batch elements
 * do not affect each other.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_RECURRENT_H
#define IRRUN_KERNELS_RECURRENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The sizes and attributes of a sequence, constant for all runs. */
struct recurrent {
    enum recurrent_kind kind;
    size_t batch;        /* B */
    size_t n_steps;      /* T, 1 for a cell */
    size_t input_size;   /* I */
    size_t hidden_size;  /* H, at least 1 */
    size_t n_directions; /* D; 2: forward, then reverse */
    /* With one direction: it is the reverse direction. */
    bool is_reverse;
    struct recurrent_activation activations[3]; /* LSTM f, g, h; GRU f, g; RNN f */
    /* The inputs of activations are clamped to [-clip, clip]; INFINITY: none. */
    double clip;
    bool input_forget;        /* LSTM: i = 1 - f */
    bool linear_before_reset; /* GRU */
    uint8_t slots[4];         /* LSTM: positions of gates f, i, c and o along 4H of W, R and B */
};

/* Returns G, the number of gates in W and R. A GRU has them in the order z, r, h. */
static inline size_t recurrent_n_gates(const struct recurrent *recurrent)
{
    static const uint8_t n_gates[] = {
        [RECURRENT_RNN] = 1, [RECURRENT_GRU] = 3, [RECURRENT_LSTM] = 4};
    return n_gates[recurrent->kind];
}

/* Returns the number of biases per hidden unit in B: G, or G + 1 for a GRU with linear_before_reset
 * (z, r, Wbh, Rbh). */
static inline size_t recurrent_n_biases(const struct recurrent *recurrent)
{
    return recurrent_n_gates(recurrent) + (recurrent->linear_before_reset ? 1 : 0);
}

struct recurrent_f32_tensors {
    const float *x;        /* [B][T][I] */
    const float *h0, *c0;  /* [B][D][H]; c0 for LSTM only */
    const size_t *lengths; /* [B], each at most T; NULL: all T */
    const float *w;        /* [D][G*H][I] */
    const float *r;        /* [D][G*H][H] */
    const float *b;        /* [D][n_biases*H]; NULL: zeros */
    const float *p;        /* LSTM: peepholes [D][3H], order f, i, o; NULL: zeros */
    float *y;              /* [B][D][T][H]; NULL: not stored */
    float *ho, *co;        /* [B][D][H]; NULL: not stored */
};

struct recurrent_f64_tensors { /* as above */
    const double *x, *h0, *c0;
    const size_t *lengths;
    const double *w, *r, *b, *p;
    double *y, *ho, *co;
};

/* Runs scalar loops, one batch element at a time. The tests compare the f32 engine with these
 * loops. */
size_t recurrent_f64_scratch_bytes(const struct recurrent *recurrent);
void recurrent_f64_run(const struct recurrent *recurrent,
                       const struct recurrent_f64_tensors *tensors, void *scratch);

#endif
