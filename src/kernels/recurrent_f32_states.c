/* Loads, rounds and stores the states of the recurrent engine (see recurrent_f32_internal.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/recurrent_f32_internal.h"

#include <string.h>

static size_t state_row(const struct pass *pass, size_t element)
{
    const struct recurrent *common = &pass->engine->common;
    return (element * common->n_directions + pass->direction) * common->hidden_size;
}

void recurrent_load_state(const struct pass *pass, const float *from, float *state)
{
    size_t n = n_units(pass), n_padded = (pass->end - pass->begin) * pass->engine->units;

    for (size_t b = 0; b < pass->engine->common.batch; b++) {
        float *row = state + b * pass->engine->ld_state + first_unit(pass);
        memcpy(row, from + state_row(pass, b) + first_unit(pass), n * sizeof *state);
        memset(row + n, 0, (n_padded - n) * sizeof *state);
    }
}

void recurrent_zero_state(const struct pass *pass, float *state)
{
    size_t row_bytes = (pass->end - pass->begin) * pass->engine->units * sizeof *state;

    for (size_t b = 0; b < pass->engine->common.batch; b++)
        memset(state + b * pass->engine->ld_state + first_unit(pass), 0, row_bytes);
}

void recurrent_round_state(const struct pass *pass, const float *state, float *rounded)
{
    const struct packed_matrix *packed_b = &pass->r.packed_b;

    for (size_t b = 0; b < pass->engine->common.batch && recurrent_matrix_rounds(&pass->r); b++) {
        size_t row = b * pass->engine->ld_state;
        packed_b->round(state + row + first_unit(pass),
                        rounded + row + first_unit(pass) / packed_b->step_k, n_units(pass));
    }
}

static void store_final_state(const struct pass *pass, size_t element)
{
    const struct recurrent_f32_tensors *tensors = pass->tensors;
    size_t at = element * pass->engine->ld_state + first_unit(pass);
    size_t row = state_row(pass, element) + first_unit(pass);
    size_t row_bytes = n_units(pass) * sizeof(float);

    if (tensors->ho != NULL)
        memcpy(tensors->ho + row, pass->h_next + at, row_bytes);
    if (tensors->co != NULL)
        memcpy(tensors->co + row, pass->c + at, row_bytes);
}

void recurrent_zero_empty(const struct pass *pass)
{
    const struct recurrent_f32_tensors *tensors = pass->tensors;
    size_t row_bytes = n_units(pass) * sizeof(float);

    for (size_t b = 0; b < pass->engine->common.batch; b++) {
        if (sequence_length(pass, b) > 0)
            continue;
        if (tensors->ho != NULL)
            memset(tensors->ho + state_row(pass, b) + first_unit(pass), 0, row_bytes);
        if (tensors->co != NULL)
            memset(tensors->co + state_row(pass, b) + first_unit(pass), 0, row_bytes);
    }
}

void recurrent_write_step(const struct pass *pass, size_t step)
{
    const struct recurrent *common = &pass->engine->common;
    size_t h = common->hidden_size;

    for (size_t b = 0; b < common->batch; b++) {
        if (step >= sequence_length(pass, b))
            continue;
        if (pass->tensors->y != NULL) {
            size_t sequence = b * common->n_directions + pass->direction;
            size_t row = sequence * common->n_steps + time_index(pass, b, step);
            memcpy(pass->tensors->y + row * h + first_unit(pass),
                   pass->h_next + b * pass->engine->ld_state + first_unit(pass),
                   n_units(pass) * sizeof(float));
        }
        if (step + 1 == sequence_length(pass, b))
            store_final_state(pass, b);
    }
}

void recurrent_zero_padding(const struct pass *pass)
{
    const struct recurrent *common = &pass->engine->common;
    size_t h = common->hidden_size, n_steps = common->n_steps;

    for (size_t b = 0; b < common->batch; b++) {
        size_t sequence = b * common->n_directions + pass->direction,
               length = sequence_length(pass, b);
        memset(pass->tensors->y + (sequence * n_steps + length) * h, 0,
               (n_steps - length) * h * sizeof(float));
    }
}
