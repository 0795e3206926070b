/* Runs the recurrent engine: see recurrent_f32.h. The order of the sums of a row does not depend on
 * the chunk or on other rows, so that a sequence that is run in two parts gives the same results
 * (except with CBLAS).
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/recurrent_f32.h"

#include <string.h>

/* A thread's part of a run: some of the panels of one direction. */
struct pass {
    const struct recurrent_f32 *engine;
    const struct recurrent_f32_tensors *tensors;
    struct thread_pool *pool;
    size_t direction, worker;
    size_t begin, end; /* panels */
    bool is_reverse, is_downward;
    struct recurrent_matrix w, r, r_reset; /* of this direction */
    const float *biases, *reset_biases, *peepholes;
    float *x, *gates, *tile, *h, *h_next, *c, *reset_h; /* in the scratch memory */
};

/* A chunk of steps and its rows of X. */
struct chunk {
    size_t first, n;
    const float *x; /* [n][B][I] */
    size_t ld_x;
};

static size_t length_of(const struct pass *pass, size_t element)
{
    const size_t *lengths = pass->tensors->lengths;
    return lengths != NULL ? lengths[element] : pass->engine->common.n_steps;
}

static size_t longest(const struct pass *pass)
{
    size_t most = 0;
    for (size_t b = 0; b < pass->engine->common.batch; b++)
        most = length_of(pass, b) > most ? length_of(pass, b) : most;
    return most;
}

/* Returns the time index of an element at step `step`. */
static size_t time_of(const struct pass *pass, size_t element, size_t step)
{
    return pass->is_reverse ? length_of(pass, element) - 1 - step : step;
}

/* ---- states ---- */

static size_t state_row(const struct pass *pass, size_t element)
{
    const struct recurrent *common = &pass->engine->common;
    return (element * common->n_directions + pass->direction) * common->hidden_size;
}

/* Returns the first hidden unit of this worker. */
static size_t first_unit(const struct pass *pass)
{
    return pass->begin * pass->engine->units;
}

static size_t n_units(const struct pass *pass)
{
    size_t end = pass->end * pass->engine->units, h = pass->engine->common.hidden_size;
    return (end < h ? end : h) - first_unit(pass);
}

/* Rows may be read and written up to the end of their panels. */
static void load_state(const struct pass *pass, const float *from, float *state)
{
    size_t n = n_units(pass), n_padded = (pass->end - pass->begin) * pass->engine->units;

    for (size_t b = 0; b < pass->engine->common.batch; b++) {
        float *row = state + b * pass->engine->ld_state + first_unit(pass);
        memcpy(row, from + state_row(pass, b) + first_unit(pass), n * sizeof *state);
        memset(row + n, 0, (n_padded - n) * sizeof *state);
    }
}

static void clear_state(const struct pass *pass, float *state)
{
    size_t row_bytes = (pass->end - pass->begin) * pass->engine->units * sizeof *state;

    for (size_t b = 0; b < pass->engine->common.batch; b++)
        memset(state + b * pass->engine->ld_state + first_unit(pass), 0, row_bytes);
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

/* Clears the final state of elements of length 0, which run no step. */
static void clear_empty(const struct pass *pass)
{
    const struct recurrent_f32_tensors *tensors = pass->tensors;
    size_t row_bytes = n_units(pass) * sizeof(float);

    for (size_t b = 0; b < pass->engine->common.batch; b++) {
        if (length_of(pass, b) > 0)
            continue;
        if (tensors->ho != NULL)
            memset(tensors->ho + state_row(pass, b) + first_unit(pass), 0, row_bytes);
        if (tensors->co != NULL)
            memset(tensors->co + state_row(pass, b) + first_unit(pass), 0, row_bytes);
    }
}

/* Writes h_next to Y, and to the final state of elements whose last step this is. */
static void write_step(const struct pass *pass, size_t step)
{
    const struct recurrent *common = &pass->engine->common;
    size_t h = common->hidden_size;

    for (size_t b = 0; b < common->batch; b++) {
        if (step >= length_of(pass, b))
            continue;
        if (pass->tensors->y != NULL) {
            size_t sequence = b * common->n_directions + pass->direction;
            size_t row = sequence * common->n_steps + time_of(pass, b, step);
            memcpy(pass->tensors->y + row * h + first_unit(pass),
                   pass->h_next + b * pass->engine->ld_state + first_unit(pass),
                   n_units(pass) * sizeof(float));
        }
        if (step + 1 == length_of(pass, b))
            store_final_state(pass, b);
    }
}

static void clear_padding_of_y(const struct pass *pass)
{
    const struct recurrent *common = &pass->engine->common;
    size_t h = common->hidden_size, n_steps = common->n_steps;

    for (size_t b = 0; b < common->batch; b++) {
        size_t sequence = b * common->n_directions + pass->direction, length = length_of(pass, b);
        memset(pass->tensors->y + (sequence * n_steps + length) * h, 0,
               (n_steps - length) * h * sizeof(float));
    }
}

/* ---- x ---- */

/* Returns a chunk of X. For a cell and for a single forward sequence, the rows of X are in the
 * order of the steps and read in place. Otherwise the workers copy them together, and must wait for
 * the barrier. */
static struct chunk take_chunk(const struct pass *pass, size_t first, size_t n)
{
    const struct recurrent *common = &pass->engine->common;
    size_t size = common->input_size, ld = pass->engine->ld_x;

    if (common->n_steps == 1 || (common->batch == 1 && !pass->is_reverse))
        return (struct chunk){first, n, pass->tensors->x + first * size, size};
    for (size_t s = pass->worker; s < n; s += pass->engine->n_workers) {
        for (size_t b = 0; b < common->batch; b++) {
            float *row = pass->x + (s * common->batch + b) * ld;
            if (first + s >= length_of(pass, b)) {
                memset(row, 0, size * sizeof *row);
                continue;
            }
            size_t t = time_of(pass, b, first + s);
            memcpy(row, pass->tensors->x + (b * common->n_steps + t) * size, size * sizeof *row);
        }
    }
    return (struct chunk){first, n, pass->x, ld};
}

/* Computes a panel of gates = W x + B for all steps of the chunk. */
static void project_panel(const struct pass *pass, const struct chunk *chunk, size_t panel)
{
    const struct recurrent_f32 *engine = pass->engine;

    recurrent_multiply(pass->engine, &pass->w,
                       &(struct panel_product){
                           .panel = panel,
                           .rows = chunk->n * engine->common.batch,
                           .a = chunk->x,
                           .lda = chunk->ld_x,
                           .add = pass->biases + panel * engine->columns,
                           .c = pass->gates + panel * engine->columns,
                           .ldc = engine->ld_gates,
                       });
}

/* ---- steps ---- */

/* Returns the i-th panel of a round. Rounds alternate between ascending and descending order. */
static size_t nth_panel(const struct pass *pass, size_t round, size_t i)
{
    return ((round & 1) != 0) != pass->is_downward ? pass->end - 1 - i : pass->begin + i;
}

/* Waits for the other workers of the direction; their writes are visible afterwards. */
static void barrier(const struct pass *pass)
{
    if (pass->engine->n_workers > 1)
        thread_pool_barrier(pass->pool, pass->direction * pass->engine->n_workers + pass->worker);
}

/* Computes a panel of R h + `add`, which has a row for every element (ld_add) or one row, into the
 * tile. */
static void multiply_panel(const struct pass *pass, const struct recurrent_matrix *r, size_t panel,
                           const float *h, const float *add, size_t ld_add)
{
    recurrent_multiply(pass->engine, r,
                       &(struct panel_product){
                           .panel = panel,
                           .rows = pass->engine->common.batch,
                           .a = h,
                           .lda = pass->engine->ld_state,
                           .add = add,
                           .ld_add = ld_add,
                           .c = pass->tile,
                           .ldc = pass->engine->columns,
                       });
}

/* Runs the cell for every element that has not ended. Row strides are in floats. */
static void run_cells(const struct pass *pass, recurrent_cell_fn *cell, size_t step, size_t panel,
                      const float *gates, float *h_next)
{
    const struct recurrent_f32 *engine = pass->engine;
    size_t unit = panel * engine->units;
    const float *peepholes = pass->peepholes;

    if (peepholes)
        peepholes += panel * recurrent_row_floats(3, engine->units);
    for (size_t b = 0; b < engine->common.batch; b++) {
        if (step >= length_of(pass, b))
            continue;
        size_t at = b * engine->ld_state + unit;
        cell(&engine->common, &(struct recurrent_row){
                                  .units = engine->units,
                                  .gates = pass->tile + b * engine->columns,
                                  .x_gates = gates + b * engine->ld_gates,
                                  .peepholes = peepholes,
                                  .h = pass->h + at,
                                  .h_next = h_next + at,
                                  .c = pass->c + at,
                              });
    }
}

/* Computes gate h of a GRU that resets first: its product needs all of r * h. */
static void update_after_reset(const struct pass *pass, size_t step, const float *gates)
{
    const struct recurrent_f32 *engine = pass->engine;

    for (size_t i = 0; i < pass->end - pass->begin; i++) {
        size_t panel = nth_panel(pass, step, i);
        const float *x = gates + panel * engine->columns;
        multiply_panel(pass, &pass->r_reset, panel, pass->reset_h, x + GRU_H * engine->units,
                       engine->ld_gates);
        run_cells(pass, engine->kernels->cells.gru_update_any, step, panel, x, pass->h_next);
    }
}

static void take_step(struct pass *pass, const struct chunk *chunk, size_t step)
{
    const struct recurrent_f32 *engine = pass->engine;
    const float *gates =
        pass->gates + (step - chunk->first) * engine->common.batch * engine->ld_gates;
    bool is_reset_first = engine->resets_first;

    for (size_t i = 0; i < pass->end - pass->begin; i++) {
        size_t panel = nth_panel(pass, step, i), at = panel * engine->columns;
        if (chunk->n == 1)
            project_panel(pass, chunk, panel);
        if (engine->common.linear_before_reset)
            multiply_panel(pass, &pass->r, panel, pass->h, pass->reset_biases + at, 0);
        else
            multiply_panel(pass, &pass->r, panel, pass->h, gates + at, engine->ld_gates);
        run_cells(pass, engine->cell, step, panel, gates + at,
                  is_reset_first ? pass->reset_h : pass->h_next);
    }
    if (is_reset_first) {
        barrier(pass);
        update_after_reset(pass, step, gates);
    }
    write_step(pass, step);
    barrier(pass);
    float *h = pass->h;
    pass->h = pass->h_next;
    pass->h_next = h;
}

static void run_direction(struct pass *pass)
{
    const struct recurrent_f32 *engine = pass->engine;
    const struct recurrent *common = &engine->common;
    size_t n_live = longest(pass);

    load_state(pass, pass->tensors->h0, pass->h);
    clear_state(pass, pass->h_next);
    if (common->kind == RECURRENT_LSTM)
        load_state(pass, pass->tensors->c0, pass->c);
    if (engine->resets_first) {
        clear_state(pass, pass->c);
        clear_state(pass, pass->reset_h);
    }
    clear_empty(pass);
    for (size_t first = 0, round = 0; first < n_live; first += engine->chunk_steps, round++) {
        size_t left = common->n_steps - first;
        struct chunk chunk =
            take_chunk(pass, first, left < engine->chunk_steps ? left : engine->chunk_steps);
        barrier(pass);
        for (size_t i = 0; chunk.n > 1 && i < pass->end - pass->begin; i++)
            project_panel(pass, &chunk, nth_panel(pass, round, i));
        for (size_t s = 0; s < chunk.n && first + s < n_live; s++)
            take_step(pass, &chunk, first + s);
    }
    if (pass->tensors->y != NULL && pass->worker == 0)
        clear_padding_of_y(pass);
}

struct run {
    const struct recurrent_f32 *engine;
    const struct recurrent_f32_tensors *tensors;
    float *scratch;
    struct thread_pool *pool;
    bool is_downward;
};

/* Returns the matrix of a direction: packed at `data`, or not packed in `weights`, otherwise
 * NULL. */
static struct recurrent_matrix matrix_of(const struct recurrent_matrix *matrix, const void *data,
                                         const struct run *run, const float *weights, size_t d)
{
    const struct recurrent *common = &run->engine->common;
    struct recurrent_matrix of_direction = *matrix;
    size_t rows = recurrent_n_gates(common) * common->hidden_size;

    of_direction.packed_b.data = data;
    if (matrix->gemm)
        of_direction.weights = weights + d * rows * matrix->packed_b.k;
    return of_direction;
}

static void run_worker(void *context, size_t number, size_t n_numbers)
{
    const struct run *run = context;
    const struct recurrent_f32 *engine = run->engine;
    size_t d = number / engine->n_workers, worker = number % engine->n_workers;
    const unsigned char *w = (const unsigned char *)engine->w_pack + d * engine->w_direction_bytes;
    const unsigned char *r = (const unsigned char *)engine->r_pack + d * engine->r_direction_bytes;
    const unsigned char *reset = r + engine->r.packed_bytes;
    const float *side = (const void *)(reset + engine->r_reset.packed_bytes);
    float *base = run->scratch + d * engine->direction_floats;
    struct pass pass = {
        .engine = engine,
        .tensors = run->tensors,
        .pool = run->pool,
        .direction = d,
        .worker = worker,
        .begin = engine->n_panels * worker / engine->n_workers,
        .end = engine->n_panels * (worker + 1) / engine->n_workers,
        .is_reverse = engine->common.is_reverse || d == 1,
        .is_downward = run->is_downward,
        .w = matrix_of(&engine->w, w, run, run->tensors->w, d),
        .r = matrix_of(&engine->r, r, run, run->tensors->r, d),
        .r_reset = matrix_of(&engine->r_reset, reset, run, run->tensors->r, d),
        .biases = (const void *)(w + engine->w.packed_bytes),
        .reset_biases = side,
        .peepholes = engine->has_peepholes ? side : NULL,
        .x = base + engine->x_at,
        .gates = base + engine->gates_at,
        .tile = base + engine->tile_at + worker * engine->common.batch * engine->columns,
        .h = base + engine->h_at[0],
        .h_next = base + engine->h_at[1],
        .c = base + engine->c_at,
        .reset_h = base + engine->reset_at,
    };
    (void)n_numbers;
    run_direction(&pass);
}

void recurrent_f32_run(const struct recurrent_f32 *engine,
                       const struct recurrent_f32_tensors *tensors, void *scratch, unsigned *n_runs,
                       struct thread_pool *pool)
{
    struct run run = {engine, tensors, scratch, engine->is_shared ? pool : NULL,
                      (*n_runs & 1) != 0};

    if (engine->common.batch > 0)
        thread_pool_run_gang(run.pool, run_worker, &run,
                             engine->common.n_directions * engine->n_workers);
    *n_runs += 1;
}
