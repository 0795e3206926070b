/* How the packed recurrent engine lays out weights and scratch memory, and the packing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "kernels/recurrent_packed.h"

/* Rows of a chunk of steps: a dense product reaches its full rate at 80 to 100 of them; with more
 * the gates would have left L2 when their step comes. */
#define CHUNK_ROWS 96

/* Rows stand a line further apart than a power of two, or all of them would lie in one set of the
 * cache. */
#define PAD_FLOATS 16

static size_t round_up(size_t n)
{
    return (n + PANEL_GROUP - 1) / PANEL_GROUP * PANEL_GROUP;
}

static bool resets_first(const struct recurrent *common)
{
    return common->kind == RECURRENT_GRU && !common->linear_before_reset;
}

static size_t units_of(enum recurrent_kind kind)
{
    return kind == RECURRENT_LSTM  ? PANEL_LSTM_UNITS
           : kind == RECURRENT_GRU ? PANEL_GRU_UNITS
                                   : PANEL_RNN_UNITS;
}

/* The activations that everybody uses, and no rule beside them. */
static bool is_plain(const struct recurrent_packed *packed)
{
    const struct recurrent *common = &packed->common;
    const struct recurrent_activation *functions = common->activations;
    bool is_plain = isinf(common->clip) && !common->input_forget && !packed->has_peepholes;

    if (common->kind == RECURRENT_RNN)
        return is_plain && functions[0].function == RECURRENT_TANH;
    return is_plain && functions[0].function == RECURRENT_SIGMOID &&
           functions[1].function == RECURRENT_TANH &&
           (common->kind == RECURRENT_GRU || functions[2].function == RECURRENT_TANH);
}

static panel_cell_fn *choose_cell(const struct recurrent_packed *packed)
{
    const struct panel_cells *cells = &packed->kernels->cells;
    bool plain = is_plain(packed);

    switch (packed->common.kind) {
    case RECURRENT_LSTM:
        return plain ? cells->lstm : cells->lstm_any;
    case RECURRENT_GRU:
        return resets_first(&packed->common) ? cells->gru_reset_any
               : plain                       ? cells->gru_linear
                                             : cells->gru_linear_any;
    default:
        return plain ? cells->rnn : cells->rnn_any;
    }
}

static bool lay_out_panels(const struct recurrent_packed *packed, struct panels *panels, size_t k,
                           size_t columns, size_t rows, bool is_f16, size_t *size_bytes)
{
    *panels = (struct panels){.k = k,
                              .n_panels = packed->n_panels,
                              .width = columns / PANEL_GROUP,
                              .is_f16 = is_f16 && packed->kernels->f16[2][1] != NULL};
    return panels_finish(panels, packed->kernels, rows, size_bytes);
}

/* From so many rows on weights of f16 are kept as f32: the conversion then costs more than the
 * bytes it saves, 10 % at 4 and at 8 rows on Zen 4; but not where f32 would leave the caches. */
#define EXPAND_FROM_BATCH 4
#define EXPAND_UP_TO_BYTES 10e6

static bool keeps_f16(const struct recurrent *common)
{
    double columns =
        (double)(recurrent_n_gates(common) * common->n_directions) * (double)common->hidden_size;
    double bytes = columns * (double)common->hidden_size * sizeof(float);

    return common->batch < EXPAND_FROM_BATCH || bytes > EXPAND_UP_TO_BYTES;
}

/* Threads share the panels of a direction from so many bytes of weights per step on, a part having
 * no fewer than half of it: a meeting costs what 20 KB do. */
#define SHARE_FROM 100000
/* Directions need no meeting: from so many bytes per run on, four times what giving a job away
 * costs. */
#define SHARE_DIRECTIONS_FROM 200000

static void share_work(struct recurrent_packed *packed)
{
    const struct recurrent *common = &packed->common;
    size_t step_bytes = packed->r_bytes + packed->r_reset_bytes;
    size_t n_threads = packed->n_threads / common->n_directions;
    double run_bytes = (double)common->n_steps * (double)(step_bytes + packed->w_bytes);

    if (common->n_steps == 1)
        step_bytes += packed->w_bytes;
    packed->n_parts = step_bytes < SHARE_FROM ? 1 : step_bytes / (SHARE_FROM / 2);
    if (packed->n_parts > n_threads)
        packed->n_parts = n_threads;
    if (packed->n_parts > packed->n_panels)
        packed->n_parts = packed->n_panels;
    if (packed->n_parts == 0)
        packed->n_parts = 1;
    packed->is_shared = packed->n_parts > 1 || (common->n_directions > 1 && n_threads > 0 &&
                                                run_bytes >= SHARE_DIRECTIONS_FROM);
}

static bool lay_out_weights(struct recurrent_packed *packed, size_t rows)
{
    const struct recurrent *common = &packed->common;
    size_t h = common->hidden_size, batch = common->batch, n_gates = recurrent_n_gates(common);
    size_t bias_bytes, side_bytes;
    bool is_two_step = resets_first(common), is_f16 = keeps_f16(common);

    packed->resets_first = is_two_step;
    packed->units = units_of(common->kind);
    packed->n_panels = h / packed->units + (h % packed->units != 0);
    packed->columns = n_gates * packed->units;
    packed->r_reset_bytes = 0;
    if (!lay_out_panels(packed, &packed->w, common->input_size, packed->columns, rows,
                        is_f16 && packed->is_w_f16, &packed->w_bytes) ||
        !lay_out_panels(packed, &packed->r, h, packed->columns - (is_two_step ? packed->units : 0),
                        batch, is_f16 && packed->is_r_f16, &packed->r_bytes) ||
        (is_two_step && !lay_out_panels(packed, &packed->r_reset, h, packed->units, batch,
                                        is_f16 && packed->is_r_f16, &packed->r_reset_bytes)) ||
        !checked_mul(packed->n_panels, packed->columns * sizeof(float), &bias_bytes))
        return false;
    share_work(packed);
    if (packed->is_in_place)
        packed->w_bytes = packed->r_bytes = packed->r_reset_bytes = 0;
    side_bytes = common->kind == RECURRENT_LSTM ? (packed->has_peepholes ? bias_bytes / 4 * 3 : 0)
                 : common->linear_before_reset  ? bias_bytes
                                                : 0;
    return checked_add(packed->w_bytes, bias_bytes, &packed->x_direction_bytes) &&
           checked_add(packed->r_bytes, packed->r_reset_bytes, &packed->h_direction_bytes) &&
           checked_add(packed->h_direction_bytes, side_bytes, &packed->h_direction_bytes) &&
           checked_mul(packed->x_direction_bytes, common->n_directions, &packed->x_part_bytes) &&
           checked_mul(packed->h_direction_bytes, common->n_directions, &packed->h_part_bytes);
}

static bool add_block(size_t *end, size_t rows, size_t ld, size_t *at)
{
    size_t n;
    *at = *end;
    return checked_mul(rows, ld, &n) && checked_add(*end, n, end);
}

/* Steps of a chunk: as many as CHUNK_ROWS allows, but no short one at the end. */
static size_t even_chunk(size_t n_steps, size_t batch)
{
    size_t most = batch == 0 || batch > CHUNK_ROWS ? 1 : CHUNK_ROWS / batch;
    size_t n_chunks = n_steps / most + (n_steps % most != 0);
    return n_chunks > 1 ? n_steps / n_chunks + (n_steps % n_chunks != 0) : n_steps;
}

bool recurrent_packed_lay_out(struct recurrent_packed *packed)
{
    const struct recurrent *common = &packed->common;
    size_t batch = common->batch, rows, end = 0, n_units, tile_rows;

    packed->chunk_steps = even_chunk(common->n_steps, batch);
    if (!checked_mul(packed->chunk_steps, batch, &rows) || !lay_out_weights(packed, rows) ||
        !checked_mul(packed->n_panels, packed->units, &n_units) ||
        !checked_add(common->input_size, 2 * PAD_FLOATS, &packed->ld_x))
        return false;
    packed->cell = choose_cell(packed);
    packed->ld_x = round_up(common->input_size) + PAD_FLOATS;
    packed->ld_gates = packed->n_panels * packed->columns + 4 * PAD_FLOATS;
    packed->ld_state = n_units + PAD_FLOATS;
    bool has_c = common->kind == RECURRENT_LSTM || resets_first(common);
    if (!(checked_mul(batch, packed->n_parts, &tile_rows) &&
          add_block(&end, rows, packed->ld_x, &packed->x_at) &&
          add_block(&end, rows, packed->ld_gates, &packed->gates_at) &&
          add_block(&end, tile_rows, packed->columns, &packed->tile_at) &&
          add_block(&end, batch, packed->ld_state, &packed->h_at[0]) &&
          add_block(&end, batch, packed->ld_state, &packed->h_at[1]) &&
          add_block(&end, has_c ? batch : 0, packed->ld_state, &packed->c_at) &&
          add_block(&end, resets_first(common) ? batch : 0, packed->ld_state, &packed->reset_at)))
        return false;
    packed->direction_floats = end;
    return checked_mul(end, common->n_directions * sizeof(float), &packed->scratch_bytes);
}

/* ---- packing ---- */

/* Gates [first, first + n) of a matrix [G*H][k]. */
static void pack_gates(const struct recurrent_packed *packed, const struct panels *panels,
                       void *data, const void *source, bool is_f16, size_t first, size_t n)
{
    const struct recurrent *common = &packed->common;
    size_t h = common->hidden_size, groups = packed->units / PANEL_GROUP;
    size_t row_bytes = panels->k * (is_f16 ? sizeof(uint16_t) : sizeof(float));

    for (size_t panel = 0; panel < panels->n_panels; panel++) {
        for (size_t group = 0; group < n * groups; group++) {
            size_t unit = panel * packed->units + group % groups * PANEL_GROUP;
            size_t left = unit < h ? h - unit : 0;
            size_t row =
                recurrent_place_of(common, first + group / groups) * h + (left > 0 ? unit : 0);
            panels_pack_group(panels, data, panel, group,
                              (const unsigned char *)source + row * row_bytes, is_f16, panels->k,
                              left < PANEL_GROUP ? left : PANEL_GROUP);
        }
    }
}

/* n vectors [H], the first of them at source, become [panel][n][units]; NULL gives zeros. */
static void pack_vectors(const struct recurrent_packed *packed, float *to, const float *source,
                         size_t n, bool are_gates)
{
    size_t h = packed->common.hidden_size, units = packed->units;

    memset(to, 0, packed->n_panels * n * units * sizeof *to);
    for (size_t j = 0; source != NULL && j < h; j++) {
        for (size_t i = 0; i < n; i++) {
            size_t place = are_gates ? recurrent_place_of(&packed->common, i) : i;
            to[(j / units * n + i) * units + j % units] = source[place * h + j];
        }
    }
}

void recurrent_packed_fill_x(const struct recurrent_packed *packed,
                             const struct recurrent_weights *weights, void *x_part)
{
    const struct recurrent *common = &packed->common;
    size_t h = common->hidden_size, n_gates = recurrent_n_gates(common);
    size_t w_elements = n_gates * h * common->input_size;
    size_t element_bytes = weights->is_w_f16 ? sizeof(uint16_t) : sizeof(float);

    for (size_t d = 0; d < common->n_directions; d++) {
        unsigned char *to = (unsigned char *)x_part + d * packed->x_direction_bytes;
        if (!packed->is_in_place)
            pack_gates(packed, &packed->w, to,
                       (const unsigned char *)weights->w + d * w_elements * element_bytes,
                       weights->is_w_f16, 0, n_gates);
        pack_vectors(packed, (float *)(void *)(to + packed->w_bytes),
                     weights->b ? weights->b + d * recurrent_n_biases(common) * h : NULL, n_gates,
                     true);
    }
}

void recurrent_packed_fill_h(const struct recurrent_packed *packed,
                             const struct recurrent_weights *weights, void *h_part)
{
    const struct recurrent *common = &packed->common;
    size_t h = common->hidden_size, n_gates = recurrent_n_gates(common);
    size_t element_bytes = weights->is_r_f16 ? sizeof(uint16_t) : sizeof(float);
    size_t first_reset = resets_first(common) ? GRU_H : n_gates;

    for (size_t d = 0; d < common->n_directions; d++) {
        unsigned char *to = (unsigned char *)h_part + d * packed->h_direction_bytes;
        const unsigned char *r =
            (const unsigned char *)weights->r + d * n_gates * h * h * element_bytes;
        if (!packed->is_in_place)
            pack_gates(packed, &packed->r, to, r, weights->is_r_f16, 0, first_reset);
        if (first_reset < n_gates && !packed->is_in_place)
            pack_gates(packed, &packed->r_reset, to + packed->r_bytes, r, weights->is_r_f16,
                       first_reset, 1);
        float *side = (float *)(void *)(to + packed->r_bytes + packed->r_reset_bytes);
        if (packed->has_peepholes)
            pack_vectors(packed, side, weights->p + d * 3 * h, 3, false);
        if (!common->linear_before_reset)
            continue;
        memset(side, 0, packed->n_panels * packed->columns * sizeof *side);
        for (size_t j = 0; weights->b != NULL && j < h; j++)
            side[j / packed->units * packed->columns + GRU_H * packed->units + j % packed->units] =
                weights->b[(d * 4 + 3) * h + j];
    }
}
