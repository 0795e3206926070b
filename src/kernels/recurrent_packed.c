/* Runs the packed recurrent engine: see recurrent_packed.h. Sums of a row have one order whatever
 * the chunk or the other rows, so that a run cut in two equals the whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/recurrent_packed.h"

#include <string.h>

/* What one thread does of one direction of one run: some of the panels. */
struct pass {
    const struct recurrent_packed *packed;
    const struct recurrent_f32_tensors *tensors;
    struct team *team;
    size_t direction, part;
    size_t begin, end; /* panels */
    bool is_reverse, is_downward;
    struct panels w, r, r_reset; /* of this direction */
    const float *biases, *reset_biases, *peepholes;
    float *x, *gates, *tile, *h, *h_next, *c, *reset_h; /* in the scratch memory */
};

/* Some steps and their part of x. */
struct chunk {
    size_t first, n;
    const float *x; /* [n][B][I] */
    size_t ld_x;
};

static size_t length_of(const struct pass *pass, size_t element)
{
    const size_t *lengths = pass->tensors->lengths;
    return lengths != NULL ? lengths[element] : pass->packed->common.n_steps;
}

static size_t longest(const struct pass *pass)
{
    size_t most = 0;
    for (size_t b = 0; b < pass->packed->common.batch; b++)
        most = length_of(pass, b) > most ? length_of(pass, b) : most;
    return most;
}

/* Where in time an element is at its step-th step. */
static size_t time_of(const struct pass *pass, size_t element, size_t step)
{
    return pass->is_reverse ? length_of(pass, element) - 1 - step : step;
}

/* ---- states ---- */

static size_t state_row(const struct pass *pass, size_t element)
{
    const struct recurrent *common = &pass->packed->common;
    return (element * common->n_directions + pass->direction) * common->hidden_size;
}

/* The hidden units of this part. */
static size_t first_unit(const struct pass *pass)
{
    return pass->begin * pass->packed->units;
}

static size_t n_units(const struct pass *pass)
{
    size_t end = pass->end * pass->packed->units, h = pass->packed->common.hidden_size;
    return (end < h ? end : h) - first_unit(pass);
}

/* Rows may be used up to their panels' end. */
static void load_state(const struct pass *pass, const float *from, float *state)
{
    size_t n = n_units(pass), n_padded = (pass->end - pass->begin) * pass->packed->units;

    for (size_t b = 0; b < pass->packed->common.batch; b++) {
        float *row = state + b * pass->packed->ld_state + first_unit(pass);
        memcpy(row, from + state_row(pass, b) + first_unit(pass), n * sizeof *state);
        memset(row + n, 0, (n_padded - n) * sizeof *state);
    }
}

static void clear_state(const struct pass *pass, float *state)
{
    size_t row_bytes = (pass->end - pass->begin) * pass->packed->units * sizeof *state;

    for (size_t b = 0; b < pass->packed->common.batch; b++)
        memset(state + b * pass->packed->ld_state + first_unit(pass), 0, row_bytes);
}

static void store_final_state(const struct pass *pass, size_t element)
{
    const struct recurrent_f32_tensors *tensors = pass->tensors;
    size_t at = element * pass->packed->ld_state + first_unit(pass);
    size_t row = state_row(pass, element) + first_unit(pass);
    size_t row_bytes = n_units(pass) * sizeof(float);

    if (tensors->ho != NULL)
        memcpy(tensors->ho + row, pass->h_next + at, row_bytes);
    if (tensors->co != NULL)
        memcpy(tensors->co + row, pass->c + at, row_bytes);
}

/* Elements of length 0 end before they begin, and end with zeros. */
static void clear_empty(const struct pass *pass)
{
    const struct recurrent_f32_tensors *tensors = pass->tensors;
    size_t row_bytes = n_units(pass) * sizeof(float);

    for (size_t b = 0; b < pass->packed->common.batch; b++) {
        if (length_of(pass, b) > 0)
            continue;
        if (tensors->ho != NULL)
            memset(tensors->ho + state_row(pass, b) + first_unit(pass), 0, row_bytes);
        if (tensors->co != NULL)
            memset(tensors->co + state_row(pass, b) + first_unit(pass), 0, row_bytes);
    }
}

/* Y and, of elements that end here, the final state, from h_next. */
static void write_step(const struct pass *pass, size_t step)
{
    const struct recurrent *common = &pass->packed->common;
    size_t h = common->hidden_size;

    for (size_t b = 0; b < common->batch; b++) {
        if (step >= length_of(pass, b))
            continue;
        if (pass->tensors->y != NULL) {
            size_t sequence = b * common->n_directions + pass->direction;
            size_t row = sequence * common->n_steps + time_of(pass, b, step);
            memcpy(pass->tensors->y + row * h + first_unit(pass),
                   pass->h_next + b * pass->packed->ld_state + first_unit(pass),
                   n_units(pass) * sizeof(float));
        }
        if (step + 1 == length_of(pass, b))
            store_final_state(pass, b);
    }
}

static void clear_padding_of_y(const struct pass *pass)
{
    const struct recurrent *common = &pass->packed->common;
    size_t h = common->hidden_size, n_steps = common->n_steps;

    for (size_t b = 0; b < common->batch; b++) {
        size_t sequence = b * common->n_directions + pass->direction, length = length_of(pass, b);
        memset(pass->tensors->y + (sequence * n_steps + length) * h, 0,
               (n_steps - length) * h * sizeof(float));
    }
}

/* ---- x ---- */

/* Rows of X are in the order of the steps in a cell, and in one forward sequence. Otherwise the
 * parts share the copying, and nobody may read before all have met. */
static struct chunk take_chunk(const struct pass *pass, size_t first, size_t n)
{
    const struct recurrent *common = &pass->packed->common;
    size_t size = common->input_size, ld = pass->packed->ld_x;

    if (common->n_steps == 1 || (common->batch == 1 && !pass->is_reverse))
        return (struct chunk){first, n, pass->tensors->x + first * size, size};
    for (size_t s = pass->part; s < n; s += pass->packed->n_parts) {
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

/* W's or R's part of a panel of gates. */
static void multiply(const struct pass *pass, const struct panels *panels,
                     const struct panel_product *product)
{
    const struct recurrent_packed *packed = pass->packed;
    bool is_w = panels == &pass->w, is_reset = panels == &pass->r_reset;
    bool is_short = packed->resets_first && !is_w && !is_reset; /* without gate h */
    struct recurrent_rows rows = {is_w ? pass->tensors->w : pass->tensors->r, panels->k,
                                  pass->direction, is_reset ? GRU_H : 0,
                                  is_short ? GRU_H : recurrent_n_gates(&packed->common)};
    if (packed->is_in_place)
        recurrent_multiply_in_place(packed, &rows, product);
    else
        panels_multiply(panels, product);
}

/* A panel of gates = W x + B, for all steps of the chunk. */
static void project_panel(const struct pass *pass, const struct chunk *chunk, size_t panel)
{
    const struct recurrent_packed *packed = pass->packed;

    multiply(pass, &pass->w,
             &(struct panel_product){
                 .panel = panel,
                 .rows = chunk->n * packed->common.batch,
                 .a = chunk->x,
                 .lda = chunk->ld_x,
                 .add = pass->biases + panel * packed->columns,
                 .c = pass->gates + panel * packed->columns,
                 .ldc = packed->ld_gates,
             });
}

/* ---- steps ---- */

/* Numbers of panels, up and down in turn. */
static size_t turn(const struct pass *pass, size_t round, size_t i)
{
    return ((round & 1) != 0) != pass->is_downward ? pass->end - 1 - i : pass->begin + i;
}

/* What all parts of a direction wrote before, all of them see behind this. */
static void meet(const struct pass *pass)
{
    if (pass->packed->n_parts > 1)
        team_meet(pass->team, pass->direction * pass->packed->n_parts + pass->part);
}

/* The tile of a panel = R h, and what it is added to: `add`, a row for every element (ld_add) or
 * one. */
static void multiply_panel(const struct pass *pass, const struct panels *r, size_t panel,
                           const float *h, const float *add, size_t ld_add)
{
    multiply(pass, r,
             &(struct panel_product){
                 .panel = panel,
                 .rows = pass->packed->common.batch,
                 .a = h,
                 .lda = pass->packed->ld_state,
                 .add = add,
                 .ld_add = ld_add,
                 .c = pass->tile,
                 .ldc = pass->packed->columns,
             });
}

/* The cell for every element that has not ended; rows count floats from element to element. */
static void run_cells(const struct pass *pass, panel_cell_fn *cell, size_t step, size_t panel,
                      const float *gates, float *h_next)
{
    const struct recurrent_packed *packed = pass->packed;
    size_t unit = panel * packed->units;

    for (size_t b = 0; b < packed->common.batch; b++) {
        if (step >= length_of(pass, b))
            continue;
        size_t at = b * packed->ld_state + unit;
        cell(&packed->common, &(struct panel_row){
                                  .gates = pass->tile + b * packed->columns,
                                  .x_gates = gates + b * packed->ld_gates,
                                  .peepholes = pass->peepholes ? pass->peepholes + 3 * unit : NULL,
                                  .h = pass->h + at,
                                  .h_next = h_next + at,
                                  .c = pass->c + at,
                              });
    }
}

/* The gates of a GRU that resets first, behind both of its products: h needs all of r * h. */
static void update_after_reset(const struct pass *pass, size_t step, const float *gates)
{
    const struct recurrent_packed *packed = pass->packed;

    for (size_t i = 0; i < pass->end - pass->begin; i++) {
        size_t panel = turn(pass, step, i);
        const float *x = gates + panel * packed->columns;
        multiply_panel(pass, &pass->r_reset, panel, pass->reset_h, x + GRU_H * packed->units,
                       packed->ld_gates);
        run_cells(pass, packed->kernels->cells.gru_update_any, step, panel, x, pass->h_next);
    }
}

static void take_step(struct pass *pass, const struct chunk *chunk, size_t step)
{
    const struct recurrent_packed *packed = pass->packed;
    const float *gates =
        pass->gates + (step - chunk->first) * packed->common.batch * packed->ld_gates;
    bool is_reset_first = packed->resets_first;

    for (size_t i = 0; i < pass->end - pass->begin; i++) {
        size_t panel = turn(pass, step, i), at = panel * packed->columns;
        if (chunk->n == 1)
            project_panel(pass, chunk, panel);
        if (packed->common.linear_before_reset)
            multiply_panel(pass, &pass->r, panel, pass->h, pass->reset_biases + at, 0);
        else
            multiply_panel(pass, &pass->r, panel, pass->h, gates + at, packed->ld_gates);
        run_cells(pass, packed->cell, step, panel, gates + at,
                  is_reset_first ? pass->reset_h : pass->h_next);
    }
    if (is_reset_first) {
        meet(pass);
        update_after_reset(pass, step, gates);
    }
    write_step(pass, step);
    meet(pass);
    float *h = pass->h;
    pass->h = pass->h_next;
    pass->h_next = h;
}

static void run_direction(struct pass *pass)
{
    const struct recurrent_packed *packed = pass->packed;
    const struct recurrent *common = &packed->common;
    size_t n_live = longest(pass);

    load_state(pass, pass->tensors->h0, pass->h);
    clear_state(pass, pass->h_next);
    if (common->kind == RECURRENT_LSTM)
        load_state(pass, pass->tensors->c0, pass->c);
    if (packed->resets_first) {
        clear_state(pass, pass->c);
        clear_state(pass, pass->reset_h);
    }
    clear_empty(pass);
    for (size_t first = 0, round = 0; first < n_live; first += packed->chunk_steps, round++) {
        size_t left = common->n_steps - first;
        struct chunk chunk =
            take_chunk(pass, first, left < packed->chunk_steps ? left : packed->chunk_steps);
        meet(pass);
        for (size_t i = 0; chunk.n > 1 && i < pass->end - pass->begin; i++)
            project_panel(pass, &chunk, turn(pass, round, i));
        for (size_t s = 0; s < chunk.n && first + s < n_live; s++)
            take_step(pass, &chunk, first + s);
    }
    if (pass->tensors->y != NULL && pass->part == 0)
        clear_padding_of_y(pass);
}

static const float *floats_at(const unsigned char *part, size_t at)
{
    return (const float *)(const void *)(part + at);
}

struct run {
    const struct recurrent_packed *packed;
    const struct recurrent_f32_tensors *tensors;
    float *scratch;
    struct team *team;
    bool is_downward;
};

static void run_part(void *context, size_t number, size_t n_numbers)
{
    const struct run *run = context;
    const struct recurrent_packed *packed = run->packed;
    size_t d = number / packed->n_parts, part = number % packed->n_parts;
    const unsigned char *x_part =
        (const unsigned char *)packed->x_part + d * packed->x_direction_bytes;
    const unsigned char *h_part =
        (const unsigned char *)packed->h_part + d * packed->h_direction_bytes;
    const float *side = floats_at(h_part, packed->r_bytes + packed->r_reset_bytes);
    float *base = run->scratch + d * packed->direction_floats;
    struct pass pass = {
        .packed = packed,
        .tensors = run->tensors,
        .team = run->team,
        .direction = d,
        .part = part,
        .begin = packed->n_panels * part / packed->n_parts,
        .end = packed->n_panels * (part + 1) / packed->n_parts,
        .is_reverse = packed->common.is_reverse || d == 1,
        .is_downward = run->is_downward,
        .w = packed->w,
        .r = packed->r,
        .r_reset = packed->r_reset,
        .biases = floats_at(x_part, packed->w_bytes),
        .reset_biases = side,
        .peepholes = packed->has_peepholes ? side : NULL,
        .x = base + packed->x_at,
        .gates = base + packed->gates_at,
        .tile = base + packed->tile_at + part * packed->common.batch * packed->columns,
        .h = base + packed->h_at[0],
        .h_next = base + packed->h_at[1],
        .c = base + packed->c_at,
        .reset_h = base + packed->reset_at,
    };
    (void)n_numbers;
    pass.w.data = x_part;
    pass.r.data = h_part;
    pass.r_reset.data = h_part + packed->r_bytes;
    run_direction(&pass);
}

void recurrent_packed_run(const struct recurrent_packed *packed,
                          const struct recurrent_f32_tensors *tensors, void *scratch,
                          unsigned *n_runs, struct team *team)
{
    struct run run = {packed, tensors, scratch, packed->is_shared ? team : NULL,
                      (*n_runs & 1) != 0};

    if (packed->common.batch > 0)
        team_run(run.team, run_part, &run, packed->common.n_directions * packed->n_parts);
    *n_runs += 1;
}
