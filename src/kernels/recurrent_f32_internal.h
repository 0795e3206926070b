/* Declarations that the files of the recurrent engine share: a thread's part of a run, and its
 * states.
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
    size_t n_workers;  /* of this direction */
    size_t begin, end; /* panels */
    bool is_reverse;
    bool is_downward; /* the first round goes from the last panel to the first */
    struct recurrent_matrix w, r, r_reset; /* of this direction */
    const float *biases, *reset_biases, *peepholes;
    float *x, *gates, *tile, *h, *h_next, *c, *reset_h; /* in the scratch memory */
    float *rounded, *rounded_next, *reset_rounded;      /* h, h_next and reset_h for the products */
};

static inline size_t length_of(const struct pass *pass, size_t element)
{
    const size_t *lengths = pass->tensors->lengths;
    return lengths != NULL ? lengths[element] : pass->engine->common.n_steps;
}

/* Returns the time index of an element at step `step`. */
static inline size_t time_of(const struct pass *pass, size_t element, size_t step)
{
    return pass->is_reverse ? length_of(pass, element) - 1 - step : step;
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

/* Read the initial state of this worker's units, or set it to zero. Rows may be read and written up
 * to the end of their panels. */
void recurrent_load_state(const struct pass *pass, const float *from, float *state);
void recurrent_clear_state(const struct pass *pass, float *state);

/* Rounds this worker's units of a state, if products with r read rounded states. */
void recurrent_round_state(const struct pass *pass, const float *state, float *rounded);

/* Clears the final state of elements of length 0, which run no step. */
void recurrent_clear_empty(const struct pass *pass);

/* Writes h_next to Y, and, for elements whose last step it is, to the final state. */
void recurrent_write_step(const struct pass *pass, size_t step);

/* Clears Y after the last step of each element. Y is not NULL. */
void recurrent_clear_padding(const struct pass *pass);

#endif
