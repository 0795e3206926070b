/* Declarations that recurrent_f32.c and recurrent_f32_states.c share: a thread's part of a run, and
 * the functions for its states.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_RECURRENT_F32_INTERNAL_H
#define IRRUN_KERNELS_RECURRENT_F32_INTERNAL_H

#include "kernels/recurrent_f32.h"

/* A thread's part of a run: some of the panels of one direction. */
struct pass {
    const struct recurrent_f32 *engine;
    const struct recurrent_f32_tensors *tensors;
    struct thread_pool *pool;
    size_t direction, worker;
    size_t n_workers;  /* workers per direction */
    size_t begin, end; /* panels */
    bool is_reverse;
    bool is_downward; /* the first sweep goes from the last panel to the first */
    struct recurrent_matrix w, r, r_reset; /* the matrices of this direction */
    const float *biases, *reset_biases, *peepholes;
    float *x, *gates, *tile, *h, *h_next, *c, *reset_h; /* in the scratch memory */
    float *rounded, *rounded_next, *reset_rounded;      /* h, h_next and reset_h for the products */
};

static inline size_t sequence_length(const struct pass *pass, size_t element)
{
    const size_t *lengths = pass->tensors->lengths;
    return lengths != NULL ? lengths[element] : pass->engine->common.n_steps;
}

/* Returns the time index that batch element `element` processes at step `step`. */
static inline size_t time_index(const struct pass *pass, size_t element, size_t step)
{
    return pass->is_reverse ? sequence_length(pass, element) - 1 - step : step;
}

/* Returns the first hidden unit of this worker. */
static inline size_t first_unit(const struct pass *pass)
{
    return pass->begin * pass->engine->units;
}

static inline size_t n_units(const struct pass *pass)
{
    size_t end = pass->end * pass->engine->units, h = pass->engine->common.hidden_size;
    return (end < h ? end : h) - first_unit(pass);
}

/* Copy the initial state of this worker's units from the tensor `from`, or set it to zero. Both
 * write zeros up to the end of the worker's last panel. */
void recurrent_load_state(const struct pass *pass, const float *from, float *state);
void recurrent_zero_state(const struct pass *pass, float *state);

/* Rounds this worker's units of a state to bf16, if products with R read rounded states. */
void recurrent_round_state(const struct pass *pass, const float *state, float *rounded);

/* Sets the final state of batch elements of length 0, which run no step, to zero. */
void recurrent_zero_empty(const struct pass *pass);

/* Writes h_next to Y and, for batch elements whose last step this is, to the final state. */
void recurrent_write_step(const struct pass *pass, size_t step);

/* Sets Y after the last step of each batch element to zero. Y is not NULL. */
void recurrent_zero_padding(const struct pass *pass);

#endif
