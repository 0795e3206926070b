/* The recurrent engine in f32: a chunk of steps is projected by one product, then every step is one
 * product with R (GRU without linear_before_reset: two) and the cell. Knows no ISA: the products
 * and the cells are given.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/recurrent.h"

#include <string.h>

#include "base/checked.h"

/* Rows a chunk aims at. A dense product reaches its full rate at 80 to 100 rows; with more of them
 * the gates would have left L2 when their step comes. */
#define CHUNK_ROWS 96

#define LINE_FLOATS 16 /* 64 bytes */

size_t recurrent_n_gates(const struct recurrent *recurrent)
{
    static const size_t n_gates[] = {
        [RECURRENT_RNN] = 1, [RECURRENT_GRU] = 3, [RECURRENT_LSTM] = 4};
    return n_gates[recurrent->kind];
}

size_t recurrent_n_biases(const struct recurrent *recurrent)
{
    return recurrent_n_gates(recurrent) + (recurrent->linear_before_reset ? 1 : 0);
}

/* Adds a block of rows * columns floats to the layout, on a cache line of its own. */
static bool add_block(size_t *end, size_t rows, size_t columns, size_t *at)
{
    size_t n;
    *at = *end;
    return checked_mul(rows, columns, &n) && checked_add(n, LINE_FLOATS - 1, &n) &&
           checked_add(*end, n / LINE_FLOATS * LINE_FLOATS, end);
}

/* Rows of X in the order of the steps: there already in a cell, and in one forward sequence. */
static bool is_gathered(const struct recurrent *common)
{
    bool has_reverse = common->is_reverse || common->n_directions == 2;
    return common->n_steps > 1 && (common->batch > 1 || has_reverse);
}

bool recurrent_f32_lay_out(struct recurrent_f32 *layout)
{
    const struct recurrent *common = &layout->common;
    size_t batch = common->batch, h = common->hidden_size, rows, end = 0;
    size_t n_gates = recurrent_n_gates(common);
    bool is_two_step = common->kind == RECURRENT_GRU && !common->linear_before_reset;

    layout->chunk_steps = batch == 0 || batch > CHUNK_ROWS ? 1 : CHUNK_ROWS / batch;
    if (layout->chunk_steps > common->n_steps)
        layout->chunk_steps = common->n_steps;
    return checked_mul(layout->chunk_steps, batch, &rows) &&
           add_block(&end, is_gathered(common) ? rows : 0, common->input_size, &layout->x_at) &&
           checked_mul(n_gates, h, &n_gates) && add_block(&end, rows, n_gates, &layout->gates_at) &&
           add_block(&end, batch, n_gates, &layout->h_product_at) &&
           add_block(&end, is_two_step ? batch : 0, h, &layout->reset_h_at) &&
           add_block(&end, batch, h, &layout->h_at) &&
           add_block(&end, common->kind == RECURRENT_LSTM ? batch : 0, h, &layout->c_at) &&
           checked_mul(end, sizeof(float), &layout->scratch_bytes);
}

/* One direction of one run. */
struct pass {
    const struct recurrent_f32 *layout;
    const struct recurrent_f32_tensors *tensors;
    size_t direction, n_gates;
    bool is_reverse;
    const float *w, *r, *b, *p; /* of this direction */
    const float *reset_bias;
    float *x, *gates, *h_product, *reset_h, *h, *c; /* in the scratch memory */
};

static size_t length_of(const struct pass *pass, size_t element)
{
    const size_t *lengths = pass->tensors->lengths;
    return lengths != NULL ? lengths[element] : pass->layout->common.n_steps;
}

static size_t longest(const struct pass *pass)
{
    size_t most = 0;
    for (size_t b = 0; b < pass->layout->common.batch; b++)
        most = length_of(pass, b) > most ? length_of(pass, b) : most;
    return most;
}

/* Where in time an element is at its step-th step. */
static size_t time_of(const struct pass *pass, size_t element, size_t step)
{
    return pass->is_reverse ? length_of(pass, element) - 1 - step : step;
}

/* Copies n elements' states between [B][D][H] and the scratch memory's [B][H]. */
static void load_state(const struct pass *pass, const float *from, float *state)
{
    const struct recurrent *common = &pass->layout->common;
    size_t h = common->hidden_size;

    for (size_t b = 0; b < common->batch; b++)
        memcpy(state + b * h, from + (b * common->n_directions + pass->direction) * h,
               h * sizeof *state);
}

static void store_state(const struct pass *pass, const float *state, float *to)
{
    const struct recurrent *common = &pass->layout->common;
    size_t h = common->hidden_size;

    for (size_t b = 0; b < common->batch; b++) {
        float *row = to + (b * common->n_directions + pass->direction) * h;
        if (length_of(pass, b) == 0)
            memset(row, 0, h * sizeof *row);
        else
            memcpy(row, state + b * h, h * sizeof *row);
    }
}

/* X's rows for n steps, [n][B][I]. Elements that have ended give rows of zeros, so that the
 * product has one size whatever the lengths. */
static const float *chunk_input(const struct pass *pass, size_t first, size_t n)
{
    const struct recurrent *common = &pass->layout->common;
    size_t size = common->input_size;

    if (!is_gathered(common))
        return pass->tensors->x + first * common->batch * size;
    for (size_t s = 0; s < n; s++) {
        for (size_t b = 0; b < common->batch; b++) {
            float *row = pass->x + (s * common->batch + b) * size;
            if (first + s >= length_of(pass, b)) {
                memset(row, 0, size * sizeof *row);
                continue;
            }
            size_t t = time_of(pass, b, first + s);
            memcpy(row, pass->tensors->x + (b * common->n_steps + t) * size, size * sizeof *row);
        }
    }
    return pass->x;
}

/* gates [n][B][G*H] = X W^T + B */
static void project(const struct pass *pass, size_t first, size_t n)
{
    const struct recurrent *common = &pass->layout->common;
    size_t columns = pass->n_gates * common->hidden_size, rows = n * common->batch;

    if (pass->b != NULL) {
        for (size_t row = 0; row < rows; row++)
            memcpy(pass->gates + row * columns, pass->b, columns * sizeof *pass->b);
    }
    pass->layout->project(&(struct gemm_f32){
        .m = rows,
        .n = columns,
        .k = common->input_size,
        .a = chunk_input(pass, first, n),
        .lda = common->input_size,
        .b = pass->w,
        .ldb = common->input_size,
        .b_transposed = true,
        .c = pass->gates,
        .ldc = columns,
        .is_added = pass->b != NULL,
    });
}

/* n_gates columns of h_product, from first_gate on = a R^T; a is [B][H]. */
static void multiply(const struct pass *pass, const float *a, size_t first_gate, size_t n_gates)
{
    const struct recurrent *common = &pass->layout->common;
    size_t h = common->hidden_size;

    pass->layout->step(&(struct gemm_f32){
        .m = common->batch,
        .n = n_gates * h,
        .k = h,
        .a = a,
        .lda = h,
        .b = pass->r + first_gate * h * h,
        .ldb = h,
        .b_transposed = true,
        .c = pass->h_product + first_gate * h,
        .ldc = pass->n_gates * h,
    });
}

static void run_gru_cells(const struct pass *pass, size_t step, float *gates)
{
    const struct recurrent *common = &pass->layout->common;
    const struct recurrent_cells_f32 *cells = pass->layout->cells;
    size_t h = common->hidden_size, columns = 3 * h;

    for (size_t b = 0; b < common->batch; b++) {
        if (step < length_of(pass, b))
            cells->gru_reset(common, gates + b * columns, pass->h_product + b * columns,
                             pass->h + b * h, pass->reset_h + b * h);
    }
    multiply(pass, pass->reset_h, GRU_H, 1);
    for (size_t b = 0; b < common->batch; b++) {
        if (step < length_of(pass, b))
            cells->gru_update(common, gates + b * columns, pass->h_product + b * columns,
                              pass->h + b * h);
    }
}

static void run_cell(const struct pass *pass, size_t element, const float *gates)
{
    const struct recurrent *common = &pass->layout->common;
    const struct recurrent_cells_f32 *cells = pass->layout->cells;
    const float *h_product = pass->h_product + element * pass->n_gates * common->hidden_size;
    float *h = pass->h + element * common->hidden_size;

    if (common->kind == RECURRENT_LSTM)
        cells->lstm(common, gates, h_product, pass->p, h, pass->c + element * common->hidden_size);
    else if (common->kind == RECURRENT_GRU)
        cells->gru_linear(common, gates, h_product, pass->reset_bias, h);
    else
        cells->rnn(common, gates, h_product, h);
}

static void write_y(const struct pass *pass, size_t step)
{
    const struct recurrent *common = &pass->layout->common;
    size_t h = common->hidden_size;

    for (size_t b = 0; b < common->batch; b++) {
        if (step >= length_of(pass, b))
            continue;
        size_t sequence = b * common->n_directions + pass->direction;
        size_t row = sequence * common->n_steps + time_of(pass, b, step);
        memcpy(pass->tensors->y + row * h, pass->h + b * h, h * sizeof *pass->h);
    }
}

static void take_step(const struct pass *pass, size_t step, float *gates)
{
    const struct recurrent *common = &pass->layout->common;
    size_t columns = pass->n_gates * common->hidden_size;

    if (common->kind == RECURRENT_GRU && !common->linear_before_reset) {
        multiply(pass, pass->h, GRU_Z, 2);
        run_gru_cells(pass, step, gates);
    } else {
        multiply(pass, pass->h, 0, pass->n_gates);
        for (size_t b = 0; b < common->batch; b++) {
            if (step < length_of(pass, b))
                run_cell(pass, b, gates + b * columns);
        }
    }
    if (pass->tensors->y != NULL)
        write_y(pass, step);
}

static void clear_padding_of_y(const struct pass *pass)
{
    const struct recurrent *common = &pass->layout->common;
    size_t h = common->hidden_size, n_steps = common->n_steps;

    for (size_t b = 0; b < common->batch; b++) {
        size_t sequence = b * common->n_directions + pass->direction, length = length_of(pass, b);
        memset(pass->tensors->y + (sequence * n_steps + length) * h, 0,
               (n_steps - length) * h * sizeof(float));
    }
}

static void run_direction(const struct pass *pass)
{
    const struct recurrent_f32 *layout = pass->layout;
    const struct recurrent *common = &layout->common;
    size_t step_floats = common->batch * pass->n_gates * common->hidden_size;
    size_t n_live = longest(pass);

    load_state(pass, pass->tensors->h0, pass->h);
    if (common->kind == RECURRENT_LSTM)
        load_state(pass, pass->tensors->c0, pass->c);
    for (size_t first = 0; first < n_live; first += layout->chunk_steps) {
        size_t left = common->n_steps - first;
        size_t n = left < layout->chunk_steps ? left : layout->chunk_steps;
        project(pass, first, n);
        for (size_t s = 0; s < n && first + s < n_live; s++)
            take_step(pass, first + s, pass->gates + s * step_floats);
    }
    if (pass->tensors->y != NULL)
        clear_padding_of_y(pass);
    if (pass->tensors->ho != NULL)
        store_state(pass, pass->h, pass->tensors->ho);
    if (common->kind == RECURRENT_LSTM && pass->tensors->co != NULL)
        store_state(pass, pass->c, pass->tensors->co);
}

void recurrent_f32_run(const struct recurrent_f32 *layout,
                       const struct recurrent_f32_tensors *tensors, void *scratch)
{
    const struct recurrent *common = &layout->common;
    size_t h = common->hidden_size, n_gates = recurrent_n_gates(common);
    size_t n_biases = recurrent_n_biases(common);
    float *base = scratch;

    if (common->batch == 0)
        return;
    /* Rows of elements that have ended are multiplied too, and ignored: they must only be
     * defined. */
    memset(base + layout->reset_h_at, 0, (layout->h_at - layout->reset_h_at) * sizeof *base);
    for (size_t d = 0; d < common->n_directions; d++) {
        const float *b = tensors->b != NULL ? tensors->b + d * n_biases * h : NULL;
        run_direction(&(struct pass){
            .layout = layout,
            .tensors = tensors,
            .direction = d,
            .n_gates = n_gates,
            .is_reverse = common->is_reverse || d == 1,
            .w = tensors->w + d * n_gates * h * common->input_size,
            .r = tensors->r + d * n_gates * h * h,
            .b = b,
            .p = tensors->p != NULL ? tensors->p + d * 3 * h : NULL,
            .reset_bias = b != NULL && common->linear_before_reset ? b + n_gates * h : NULL,
            .x = base + layout->x_at,
            .gates = base + layout->gates_at,
            .h_product = base + layout->h_product_at,
            .reset_h = base + layout->reset_h_at,
            .h = base + layout->h_at,
            .c = base + layout->c_at,
        });
    }
}
