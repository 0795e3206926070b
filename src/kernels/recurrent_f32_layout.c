/* Computes the layout of the packed weights and the scratch memory of struct recurrent_f32, and
 * packs weights.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "kernels/recurrent_f32.h"

/* The maximum number of rows of a chunk of steps. A dense product reaches its full speed at 80 to
 * 100 rows; with more, the gates are no longer in L2 when their step runs. */
#define CHUNK_ROWS 96

/* Padding of rows, one cache line: rows whose length is a power of two then map to different sets
 * of the cache. */
#define PAD_FLOATS 16

static size_t round_up(size_t n)
{
    return divide_up(n, PANEL_GROUP) * PANEL_GROUP;
}

static bool resets_first(const struct recurrent *common)
{
    return common->kind == RECURRENT_GRU && !common->linear_before_reset;
}

static size_t panel_units(enum recurrent_kind kind)
{
    return kind == RECURRENT_LSTM  ? LSTM_PANEL_UNITS
           : kind == RECURRENT_GRU ? GRU_PANEL_UNITS
                                   : RNN_PANEL_UNITS;
}

/* Returns whether the op has only default activations and no clip, input_forget or peepholes. */
static bool is_plain(const struct recurrent_f32 *engine)
{
    const struct recurrent *common = &engine->common;
    const struct recurrent_activation *functions = common->activations;
    bool is_plain = isinf(common->clip) && !common->input_forget && !engine->has_peepholes;

    if (common->kind == RECURRENT_RNN)
        return is_plain && functions[0].function == RECURRENT_TANH;
    return is_plain && functions[0].function == RECURRENT_SIGMOID &&
           functions[1].function == RECURRENT_TANH &&
           (common->kind == RECURRENT_GRU || functions[2].function == RECURRENT_TANH);
}

static recurrent_cell_fn *choose_cell(const struct recurrent_f32 *engine)
{
    const struct recurrent_cells *cells = &engine->kernels->cells;
    bool plain = is_plain(engine);

    switch (engine->common.kind) {
    case RECURRENT_LSTM:
        return plain ? cells->lstm : cells->lstm_any;
    case RECURRENT_GRU:
        return resets_first(&engine->common) ? cells->gru_reset_any
               : plain                       ? cells->gru_linear
                                             : cells->gru_linear_any;
    default:
        return plain ? cells->rnn : cells->rnn_any;
    }
}

/* The minimum batch size for which f16 weights are expanded to f32. From this size on, converting
 * them for every product costs more than reading fewer bytes saves: 10 % at 4 and at 8 rows on Zen
 * 4. Weights that would not fit into the caches as f32 stay f16. */
#define EXPAND_MIN_BATCH 4
#define EXPAND_UP_TO_BYTES 10e6

static bool keeps_f16(const struct recurrent *common)
{
    double columns =
        (double)(recurrent_n_gates(common) * common->n_directions) * (double)common->hidden_size;
    double bytes = columns * (double)common->hidden_size * sizeof(float);

    return common->batch < EXPAND_MIN_BATCH || bytes > EXPAND_UP_TO_BYTES;
}

/* Threads share the panels of a direction if a step reads at least this many bytes of weights; each
 * thread gets at least half of this. A barrier costs as much as reading 20 KB. */
#define SHARE_MIN_BYTES 100000
/* Directions run in parallel if a run reads at least this many bytes of weights, which takes four
 * times as long as starting a job of the thread pool. They need no barrier. */
#define SHARE_DIRECTIONS_MIN_BYTES 200000

static double matrix_bytes(const struct recurrent_f32 *engine,
                           const struct recurrent_matrix *matrix)
{
    size_t element_bytes = weight_bytes(matrix->packed_b.type);
    return (double)(engine->n_panels * engine->units) *
           (double)(matrix->n_gates * matrix->packed_b.k * element_bytes);
}

static void share_work(struct recurrent_f32 *engine)
{
    const struct recurrent *common = &engine->common;
    double w_bytes = matrix_bytes(engine, &engine->w);
    double step_bytes = matrix_bytes(engine, &engine->r) + matrix_bytes(engine, &engine->r_reset);
    double run_bytes = (double)common->n_steps * (step_bytes + w_bytes);
    size_t n_threads = engine->n_threads / common->n_directions;

    if (common->n_steps == 1)
        step_bytes += w_bytes;
    engine->n_workers = n_threads < engine->n_panels ? n_threads : engine->n_panels;
    if (step_bytes < SHARE_MIN_BYTES || engine->n_workers == 0)
        engine->n_workers = 1;
    else if ((double)engine->n_workers > step_bytes / (SHARE_MIN_BYTES / 2.0))
        engine->n_workers = (size_t)(step_bytes / (SHARE_MIN_BYTES / 2.0));
    engine->is_shared = engine->n_workers > 1 || (common->n_directions > 1 && n_threads > 0 &&
                                                  run_bytes >= SHARE_DIRECTIONS_MIN_BYTES);
}

/* Computes the layout of a matrix for products of this many rows. */
static bool lay_out_matrix(const struct recurrent_f32 *engine, struct recurrent_matrix *matrix,
                           enum weight_type source, size_t rows)
{
    struct packed_matrix *packed_b = &matrix->packed_b;

    packed_b->n_panels = engine->n_panels;
    packed_b->width = matrix->n_gates * engine->units / PANEL_GROUP;
    packed_matrix_set_type(packed_b, engine->kernels, source);
    if (source == WEIGHTS_F16 && !keeps_f16(&engine->common))
        packed_b->type = WEIGHTS_F32;
    return matrix->gemm || matrix->n_gates == 0 ||
           packed_matrix_layout(packed_b, engine->kernels, rows, &matrix->packed_bytes);
}

static bool lay_out_weights(struct recurrent_f32 *engine, size_t rows)
{
    const struct recurrent *common = &engine->common;
    size_t h = common->hidden_size, batch = common->batch, n_gates = recurrent_n_gates(common);
    size_t n_reset = resets_first(common) ? 1 : 0;

    engine->w = (struct recurrent_matrix){
        .n_gates = n_gates,
        .packed_b = {.k = common->input_size},
        .gemm = engine->project,
    };
    engine->r = (struct recurrent_matrix){
        .n_gates = n_gates - n_reset,
        .packed_b = {.k = h},
        .gemm = engine->step,
    };
    engine->r_reset = engine->r;
    engine->r_reset.first_gate = GRU_H;
    engine->r_reset.n_gates = n_reset;
    return lay_out_matrix(engine, &engine->w, engine->w_type, rows) &&
           lay_out_matrix(engine, &engine->r, engine->r_type, batch) &&
           lay_out_matrix(engine, &engine->r_reset, engine->r_type, batch);
}

/* Returns the number of floats per panel that follow the packed R: biases inside the reset, or
 * peepholes. */
static size_t side_floats(const struct recurrent_f32 *engine)
{
    return engine->has_peepholes                ? recurrent_row_floats(3, engine->units)
           : engine->common.linear_before_reset ? engine->columns
                                                : 0;
}

static bool lay_out_packs(struct recurrent_f32 *engine)
{
    size_t n_directions = engine->common.n_directions, bias_bytes;
    size_t side_bytes = engine->n_panels * side_floats(engine) * sizeof(float);

    return checked_mul(engine->n_panels, engine->columns * sizeof(float), &bias_bytes) &&
           checked_add(engine->w.packed_bytes, bias_bytes, &engine->w_direction_bytes) &&
           checked_add(engine->r.packed_bytes, engine->r_reset.packed_bytes,
                       &engine->r_direction_bytes) &&
           checked_add(engine->r_direction_bytes, side_bytes, &engine->r_direction_bytes) &&
           checked_mul(engine->w_direction_bytes, n_directions, &engine->w_pack_bytes) &&
           checked_mul(engine->r_direction_bytes, n_directions, &engine->r_pack_bytes);
}

static bool add_block(size_t *end, size_t rows, size_t ld, size_t *at)
{
    size_t n;
    *at = *end;
    return checked_mul(rows, ld, &n) && checked_add(*end, n, end);
}

/* Returns the number of steps per chunk: at most CHUNK_ROWS rows, and so that chunks have nearly
 * equal size. */
static size_t choose_chunk_steps(size_t n_steps, size_t batch)
{
    size_t max_steps = batch == 0 || batch > CHUNK_ROWS ? 1 : CHUNK_ROWS / batch;
    size_t n_chunks = divide_up(n_steps, max_steps);
    return n_chunks > 1 ? divide_up(n_steps, n_chunks) : n_steps;
}

bool recurrent_f32_lay_out(struct recurrent_f32 *engine)
{
    const struct recurrent *common = &engine->common;
    size_t batch = common->batch, h = common->hidden_size, rows, end = 0, n_units, tile_rows;

    engine->chunk_steps = choose_chunk_steps(common->n_steps, batch);
    engine->resets_first = resets_first(common);
    engine->units = engine->has_one_panel ? h : panel_units(common->kind);
    engine->n_panels = divide_up(h, engine->units);
    engine->columns = recurrent_row_floats(recurrent_n_gates(common), engine->units);
    engine->cell = choose_cell(engine);
    if (!checked_mul(engine->chunk_steps, batch, &rows) || !lay_out_weights(engine, rows) ||
        !lay_out_packs(engine) || !checked_mul(engine->n_panels, engine->units, &n_units) ||
        !checked_add(common->input_size, 2 * PAD_FLOATS, &engine->ld_x))
        return false;
    share_work(engine);
    engine->ld_x = round_up(common->input_size) + PAD_FLOATS;
    engine->ld_gates = engine->n_panels * engine->columns + 4 * PAD_FLOATS;
    engine->ld_state = round_up(n_units) + PAD_FLOATS;
    bool has_c = common->kind == RECURRENT_LSTM || engine->resets_first;
    size_t n_rounded = recurrent_matrix_rounds(&engine->r) ? batch : 0;
    if (!(checked_mul(batch, engine->n_workers, &tile_rows) &&
          add_block(&end, rows, engine->ld_x, &engine->x_at) &&
          add_block(&end, rows, engine->ld_gates, &engine->gates_at) &&
          add_block(&end, tile_rows, engine->columns, &engine->tile_at) &&
          add_block(&end, batch, engine->ld_state, &engine->h_at) &&
          add_block(&end, batch, engine->ld_state, &engine->h_next_at) &&
          add_block(&end, n_rounded, engine->ld_state, &engine->rounded_at) &&
          add_block(&end, n_rounded, engine->ld_state, &engine->rounded_next_at) &&
          add_block(&end, has_c ? batch : 0, engine->ld_state, &engine->c_at) &&
          add_block(&end, engine->resets_first ? batch : 0, engine->ld_state, &engine->reset_at) &&
          add_block(&end, engine->resets_first ? n_rounded : 0, engine->ld_state,
                    &engine->reset_rounded_at)))
        return false;
    engine->direction_floats = end;
    return checked_mul(end, common->n_directions * sizeof(float), &engine->scratch_bytes);
}

/* ---- packing ---- */

static void pack_matrix(const struct recurrent_f32 *engine, const struct recurrent_matrix *matrix,
                        void *data, const unsigned char *source, enum weight_type type)
{
    const struct packed_matrix *packed_b = &matrix->packed_b;
    size_t h = engine->common.hidden_size, groups = engine->units / PANEL_GROUP;
    size_t row_bytes = packed_b->k * weight_bytes(type);

    if (matrix->gemm)
        return;
    for (size_t panel = 0; panel < packed_b->n_panels; panel++) {
        for (size_t group = 0; group < matrix->n_gates * groups; group++) {
            size_t unit = panel * engine->units + group % groups * PANEL_GROUP;
            size_t left = unit < h ? h - unit : 0;
            size_t gate = matrix->first_gate + group / groups;
            size_t row = recurrent_gate_slot(&engine->common, gate) * h + (left > 0 ? unit : 0);
            packed_matrix_pack_group(packed_b, data, panel, group, source + row * row_bytes, type,
                                     packed_b->k, left < PANEL_GROUP ? left : PANEL_GROUP);
        }
    }
}

/* Copies n vectors [H] of `source` to an array [n_panels][stride], whose rows begin with
 * [n][units]. If `source` is NULL, leaves the zeros. */
static void pack_vectors(const struct recurrent_f32 *engine, float *to, size_t stride,
                         const float *source, size_t n, bool are_gates)
{
    size_t h = engine->common.hidden_size, units = engine->units;

    for (size_t j = 0; source != NULL && j < h; j++) {
        for (size_t i = 0; i < n; i++) {
            size_t slot = are_gates ? recurrent_gate_slot(&engine->common, i) : i;
            to[j / units * stride + i * units + j % units] = source[slot * h + j];
        }
    }
}

void recurrent_f32_pack_w(const struct recurrent_f32 *engine,
                          const struct recurrent_weights *weights, void *w_pack)
{
    const struct recurrent *common = &engine->common;
    size_t h = common->hidden_size, n_gates = recurrent_n_gates(common);
    size_t element_bytes = weight_bytes(engine->w_type);
    size_t w_bytes = n_gates * h * common->input_size * element_bytes;
    const float *b = weights->b;

    for (size_t d = 0; d < common->n_directions; d++) {
        unsigned char *to = (unsigned char *)w_pack + d * engine->w_direction_bytes;
        float *biases = (float *)(void *)(to + engine->w.packed_bytes);
        pack_matrix(engine, &engine->w, to, (const unsigned char *)weights->w + d * w_bytes,
                    engine->w_type);
        memset(biases, 0, engine->w_direction_bytes - engine->w.packed_bytes);
        pack_vectors(engine, biases, engine->columns,
                     b ? b + d * recurrent_n_biases(common) * h : NULL, n_gates, true);
    }
}

void recurrent_f32_pack_r(const struct recurrent_f32 *engine,
                          const struct recurrent_weights *weights, void *r_pack)
{
    const struct recurrent *common = &engine->common;
    size_t h = common->hidden_size, n_gates = recurrent_n_gates(common);
    size_t element_bytes = weight_bytes(engine->r_type);
    size_t side_at = engine->r.packed_bytes + engine->r_reset.packed_bytes;
    const float *b = weights->b;

    for (size_t d = 0; d < common->n_directions; d++) {
        unsigned char *to = (unsigned char *)r_pack + d * engine->r_direction_bytes;
        const unsigned char *r =
            (const unsigned char *)weights->r + d * n_gates * h * h * element_bytes;
        float *side = (float *)(void *)(to + side_at);
        pack_matrix(engine, &engine->r, to, r, engine->r_type);
        pack_matrix(engine, &engine->r_reset, to + engine->r.packed_bytes, r, engine->r_type);
        memset(side, 0, engine->r_direction_bytes - side_at);
        if (engine->has_peepholes)
            pack_vectors(engine, side, side_floats(engine), weights->p + d * 3 * h, 3, false);
        else if (common->linear_before_reset)
            pack_vectors(engine, side + GRU_H * engine->units, engine->columns,
                         b ? b + (d * 4 + 3) * h : NULL, 1, true);
    }
}
