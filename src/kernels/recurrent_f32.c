/* Runs the recurrent engine of recurrent_f32.h. The order of additions within a row depends on
 * neither the chunk nor the other rows, so a sequence that is run in two parts gives the same
 * results (except with CBLAS).
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/recurrent_f32_internal.h"

#include <string.h>

/* A chunk of n time steps, from step `first` on, and its rows of X. */
struct chunk {
    size_t first, n;
    const float *x; /* [n][B][I] */
    size_t ld_x;
};

static size_t max_length(const struct pass *pass)
{
    size_t longest = 0;
    for (size_t b = 0; b < pass->engine->common.batch; b++)
        longest = sequence_length(pass, b) > longest ? sequence_length(pass, b) : longest;
    return longest;
}

/* ---- x ---- */

/* Returns a chunk of X. For a cell or a single forward sequence, the rows of X are in the order of
 * the steps and are read in place, unless they must be rounded. Otherwise the workers share the
 * copying, and must wait at a barrier before they read the chunk. */
static struct chunk load_chunk(const struct pass *pass, size_t first, size_t n)
{
    const struct recurrent *common = &pass->engine->common;
    size_t size = common->input_size, ld = pass->engine->ld_x;
    bool rounds = recurrent_matrix_rounds(&pass->w);

    if (!rounds && (common->n_steps == 1 || (common->batch == 1 && !pass->is_reverse)))
        return (struct chunk){first, n, pass->tensors->x + first * size, size};
    for (size_t s = pass->worker; s < n; s += pass->n_workers) {
        for (size_t b = 0; b < common->batch; b++) {
            float *row = pass->x + (s * common->batch + b) * ld;
            if (first + s >= sequence_length(pass, b)) {
                memset(row, 0, size * sizeof *row);
                continue;
            }
            size_t t = time_index(pass, b, first + s);
            const float *from = pass->tensors->x + (b * common->n_steps + t) * size;
            if (rounds)
                pass->w.packed_b.round(from, row, size);
            else
                memcpy(row, from, size * sizeof *row);
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

/* Returns the i-th panel of a sweep over the panels. Sweeps alternate between ascending and
 * descending order. */
static size_t nth_panel(const struct pass *pass, size_t sweep, size_t i)
{
    return ((sweep & 1) != 0) != pass->is_downward ? pass->end - 1 - i : pass->begin + i;
}

/* Waits until all workers of the direction arrive; their writes are visible afterwards. */
static void barrier(const struct pass *pass)
{
    if (pass->n_workers > 1)
        thread_pool_barrier(pass->pool, pass->direction * pass->n_workers + pass->worker);
}

/* Computes a panel of R h + add in pass->tile. `add` has one row per batch element, ld_add floats
 * apart, or one row for all (ld_add 0). bf16 matrices are multiplied by `rounded`, the bf16 copy of
 * h. */
static void multiply_panel(const struct pass *pass, const struct recurrent_matrix *r, size_t panel,
                           const float *h, const float *rounded, const float *add, size_t ld_add)
{
    recurrent_multiply(pass->engine, r,
                       &(struct panel_product){
                           .panel = panel,
                           .rows = pass->engine->common.batch,
                           .a = recurrent_matrix_rounds(r) ? rounded : h,
                           .lda = pass->engine->ld_state,
                           .add = add,
                           .ld_add = ld_add,
                           .c = pass->tile,
                           .ldc = pass->engine->columns,
                       });
}

/* Runs the cell for every batch element whose sequence has not ended. */
static void run_cells(const struct pass *pass, recurrent_cell_fn *cell, size_t step, size_t panel,
                      const float *gates, float *h_next)
{
    const struct recurrent_f32 *engine = pass->engine;
    size_t unit = panel * engine->units;
    const float *peepholes = pass->peepholes;

    if (peepholes)
        peepholes += panel * recurrent_row_floats(3, engine->units);
    for (size_t b = 0; b < engine->common.batch; b++) {
        if (step >= sequence_length(pass, b))
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

/* Computes gate h of a GRU that resets first, whose product needs all of r * h. */
static void update_after_reset(const struct pass *pass, size_t step, const float *gates)
{
    const struct recurrent_f32 *engine = pass->engine;

    for (size_t i = 0; i < pass->end - pass->begin; i++) {
        size_t panel = nth_panel(pass, step, i);
        const float *x = gates + panel * engine->columns;
        multiply_panel(pass, &pass->r_reset, panel, pass->reset_h, pass->reset_rounded,
                       x + GRU_H * engine->units, engine->ld_gates);
        run_cells(pass, engine->kernels->cells.gru_update_any, step, panel, x, pass->h_next);
    }
}

static void swap(float **a, float **b)
{
    float *old = *a;
    *a = *b;
    *b = old;
}

static void run_step(struct pass *pass, const struct chunk *chunk, size_t step)
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
            multiply_panel(pass, &pass->r, panel, pass->h, pass->rounded, pass->reset_biases + at,
                           0);
        else
            multiply_panel(pass, &pass->r, panel, pass->h, pass->rounded, gates + at,
                           engine->ld_gates);
        run_cells(pass, engine->cell, step, panel, gates + at,
                  is_reset_first ? pass->reset_h : pass->h_next);
    }
    if (is_reset_first) {
        recurrent_round_state(pass, pass->reset_h, pass->reset_rounded);
        barrier(pass);
        update_after_reset(pass, step, gates);
    }
    recurrent_write_step(pass, step);
    recurrent_round_state(pass, pass->h_next, pass->rounded_next);
    swap(&pass->h, &pass->h_next);
    swap(&pass->rounded, &pass->rounded_next);
}

static void run_direction(struct pass *pass)
{
    const struct recurrent_f32 *engine = pass->engine;
    const struct recurrent *common = &engine->common;
    size_t n_live = max_length(pass);

    recurrent_load_state(pass, pass->tensors->h0, pass->h);
    recurrent_round_state(pass, pass->h, pass->rounded);
    recurrent_zero_state(pass, pass->h_next);
    if (common->kind == RECURRENT_LSTM)
        recurrent_load_state(pass, pass->tensors->c0, pass->c);
    if (engine->resets_first) {
        recurrent_zero_state(pass, pass->c);
        recurrent_zero_state(pass, pass->reset_h);
    }
    recurrent_zero_empty(pass);
    for (size_t first = 0, sweep = 0; first < n_live; first += engine->chunk_steps, sweep++) {
        size_t left = common->n_steps - first;
        struct chunk chunk =
            load_chunk(pass, first, left < engine->chunk_steps ? left : engine->chunk_steps);
        barrier(pass);
        for (size_t i = 0; chunk.n > 1 && i < pass->end - pass->begin; i++)
            project_panel(pass, &chunk, nth_panel(pass, sweep, i));
        for (size_t s = 0; s < chunk.n && first + s < n_live; s++) {
            run_step(pass, &chunk, first + s);
            if (first + s + 1 < n_live)
                barrier(pass);
        }
    }
    if (pass->tensors->y != NULL && pass->worker == 0)
        recurrent_zero_padding(pass);
}

struct run {
    const struct recurrent_f32 *engine;
    const struct recurrent_f32_tensors *tensors;
    float *scratch;
    struct thread_pool *pool;
    bool is_downward;
};

/* Returns the matrix of direction d: packed at `data` or, for a GEMM, a part of `weights`, which
 * holds all directions. */
static struct recurrent_matrix select_direction(const struct recurrent_matrix *matrix,
                                                const void *data, const struct run *run,
                                                const float *weights, size_t d)
{
    const struct recurrent *common = &run->engine->common;
    struct recurrent_matrix result = *matrix;
    size_t rows = recurrent_n_gates(common) * common->hidden_size;

    result.packed_b.data = data;
    if (matrix->gemm)
        result.weights = weights + d * rows * matrix->packed_b.k;
    return result;
}

static void run_worker(void *context, size_t part, size_t n_parts)
{
    const struct run *run = context;
    const struct recurrent_f32 *engine = run->engine;
    size_t n_workers = n_parts / engine->common.n_directions;
    size_t d = part / n_workers, worker = part % n_workers;
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
        .n_workers = n_workers,
        .begin = engine->n_panels * worker / n_workers,
        .end = engine->n_panels * (worker + 1) / n_workers,
        .is_reverse = engine->common.is_reverse || d == 1,
        .is_downward = run->is_downward,
        .w = select_direction(&engine->w, w, run, run->tensors->w, d),
        .r = select_direction(&engine->r, r, run, run->tensors->r, d),
        .r_reset = select_direction(&engine->r_reset, reset, run, run->tensors->r, d),
        .biases = (const void *)(w + engine->w.packed_bytes),
        .reset_biases = side,
        .peepholes = engine->has_peepholes ? side : NULL,
        .x = base + engine->x_at,
        .gates = base + engine->gates_at,
        .tile = base + engine->tile_at + worker * engine->common.batch * engine->columns,
        .h = base + engine->h_at,
        .h_next = base + engine->h_next_at,
        .rounded = base + engine->rounded_at,
        .rounded_next = base + engine->rounded_next_at,
        .reset_rounded = base + engine->reset_rounded_at,
        .c = base + engine->c_at,
        .reset_h = base + engine->reset_at,
    };
    run_direction(&pass);
    packed_gemm_end(&pass.w.packed_b);
    packed_gemm_end(&pass.r.packed_b);
}

void recurrent_f32_run(const struct recurrent_f32 *engine,
                       const struct recurrent_f32_tensors *tensors, void *scratch, unsigned *n_runs,
                       struct thread_pool *pool)
{
    struct run run = {engine, tensors, scratch, engine->is_shared ? pool : NULL,
                      (*n_runs & 1) != 0};

    if (engine->common.batch > 0)
        thread_pool_run_gang(run.pool, run_worker, &run,
                             engine->common.n_directions * engine->n_workers,
                             engine->common.n_directions);
    *n_runs += 1;
}
