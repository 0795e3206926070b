/* Runs indirect convolutions with channels in the lanes: computes the sums of chunks of positions,
 * and stores or pools them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "kernels/indirect_convolution.h"

/* A chunk: consecutive positions of a phase. */
struct chunk {
    const struct subconvolution *sub;
    const float *in; /* input of the group */
    size_t group;
    const float *packed;      /* weights of the group and the phase */
    const int32_t *positions; /* [n] */
    size_t first, n;          /* range of positions in the phase */
    bool is_first;            /* first of a thread's share: the weights may not be in the cache */
    float *sums;
    size_t ldc;    /* floats from one row of sums to the next */
    float *maxima; /* maxima of pooling windows; NULL: not stored */
};

/* Returns the index of position i of a phase in a channel of the output. */
static int64_t find_output(const struct indirect_convolution *conv, const struct phase *phase,
                           int64_t i)
{
    int64_t q[3], at = 0;
    window_unravel(phase->n, i, q);
    for (int d = 0; d < 3; d++)
        at = at * conv->out[d] + (q[d] + phase->begin[d]) * conv->out_stride[d] + phase->at[d] -
             conv->out_crop[d];
    return at;
}

/* Transposes the sums and stores them in the planes of the output. */
static void store_chunk(const struct indirect_convolution *conv, const struct chunk *chunk,
                        const struct phase *phase, float *out)
{
    size_t c_out = (size_t)conv->c_out, n_out = (size_t)window_product(conv->out), n;
    float *transposed = chunk->sums + chunk->sub->nr * conv->ld_sums;
    conv->microkernels->transpose(&(struct transpose_f32){
        .n_rows = chunk->n,
        .n_columns = c_out,
        .from = chunk->sums,
        .from_stride = conv->ld_sums,
        .to = conv->is_transposed ? transposed : out + chunk->first,
        .to_stride = conv->is_transposed ? chunk->n : n_out,
    });
    for (size_t i = 0; i < chunk->n && conv->is_transposed; i += n) {
        size_t row = (size_t)phase->n[2], stride = (size_t)conv->out_stride[2];
        size_t rest = row - (chunk->first + i) % row;
        float *to = out + find_output(conv, phase, (int64_t)(chunk->first + i));
        n = chunk->n - i < rest ? chunk->n - i : rest;
        for (size_t channel = 0; channel < c_out; channel++)
            for (size_t j = 0; j < n; j++)
                to[channel * n_out + j * stride] = transposed[channel * chunk->n + i + j];
    }
}

/* A thread's share: chunks begin ... end - 1, numbered over all groups and phases. `number` is the
 * current chunk. */
struct channels_run {
    const struct indirect_convolution *conv;
    const struct indirect_convolution_job *job;
    size_t n_shares, begin, end, number;
    float *sums, *biases;
};

/* The division of a phase into n chunks, which consist of n_units units of `unit` positions. */
struct chunks {
    size_t n, unit, n_units;
};

/* Divides a phase so that all threads get the same number of chunks, if possible. */
static struct chunks divide_phase(const struct indirect_convolution *conv,
                                  const struct subconvolution *sub, const struct phase *phase,
                                  size_t n_shares)
{
    /* Chunks of whole tiles keep tiles in one row if its length is a multiple of TILE_ROWS. */
    struct chunks chunks = {.unit = conv->run > 0 ? TILE_ROWS : 1};
    if (conv->row_length > 0 && conv->row_length < sub->nr)
        chunks.unit = conv->row_length;
    if (conv->copy_rows > 0)
        chunks.unit = (size_t)conv->out[2];
    if (conv->tile[0] > 0)
        chunks.unit = conv->unit;
    chunks.n_units = divide_up((size_t)window_product(phase->n), chunks.unit);
    chunks.n = divide_up(chunks.n_units, sub->nr / chunks.unit);
    chunks.n = divide_up(chunks.n, n_shares) * n_shares;
    chunks.n = chunks.n < chunks.n_units ? chunks.n : chunks.n_units;
    return chunks;
}

/* Weights of at least this many floats are rarely still in L2 when the layer runs again. */
#define PREFETCH_MIN_FLOATS 32768

/* Computes the sums of a chunk. Returns true if it has also clamped them, so that the epilogue need
 * not run. */
static bool compute_chunk(const struct channels_run *run, const struct chunk *chunk)
{
    const struct indirect_convolution *conv = run->conv;
    const struct subconvolution *sub = chunk->sub;
    struct channels_product product = {
        .k = sub->k,
        .end = sub->k,
        .kc = sub->kc,
        .mr = sub->mr,
        .n = chunk->n,
        .row_length = conv->row_length,
        .row_index = conv->row_length > 0 ? chunk->first % conv->row_length : 0,
        .a = chunk->in,
        .indirection = conv->indirection + sub->first_indirection,
        .positions = chunk->positions,
        .packed = chunk->packed,
        .biases = run->job->epilogue && run->job->epilogue->bias ? run->biases : NULL,
        .sums = chunk->sums,
        .ldc = chunk->ldc,
        .prefetches = conv->packed_floats >= PREFETCH_MIN_FLOATS && chunk->is_first,
        .maxima = chunk->maxima,
    };
    product.bounds = epilogue_bounds(run->job->epilogue);
    if (conv->tile[0] > 0)
        winograd_run(conv, &product,
                     run->job->packed + conv->winograd_weight +
                         chunk->group * conv->winograd_floats,
                     chunk->first, run->sums + (sub->nr + 1) * conv->ld_sums);
    else if (conv->skips_pads)
        indirect_convolution_multiply_line(conv, &product, (int64_t)chunk->first);
    else
        indirect_convolution_multiply(conv, &product);
    return product.bounds != NULL;
}

/* Computes a chunk directly in the output. If the last vector of the last position would overlap
 * the next chunk, this position is computed in the scratch memory and copied. */
static bool compute_pixels(const struct channels_run *run, const struct chunk *chunk)
{
    struct chunk rest = *chunk, last = *chunk;
    rest.n = last.ldc < run->conv->ld_sums ? chunk->n - 1 : chunk->n;
    bool is_done = compute_chunk(run, &rest);
    if (rest.n == chunk->n)
        return is_done;
    last.first += rest.n;
    last.positions += rest.n;
    last.n = 1;
    last.sums = run->sums;
    last.ldc = run->conv->ld_sums;
    compute_chunk(run, &last);
    memcpy(chunk->sums + rest.n * chunk->ldc, last.sums, chunk->ldc * sizeof *last.sums);
    return is_done;
}

/* Stores a chunk to an output with the channels last, unless it was computed in place. */
static void store_pixels(const struct channels_run *run, const struct chunk *chunk)
{
    const struct indirect_convolution *conv = run->conv;
    size_t c_out = (size_t)conv->c_out;
    float *out = run->job->out + chunk->first * c_out;
    if (chunk->sums == out)
        return;
    for (size_t i = 0; i < chunk->n; i++, out += c_out)
        for (size_t channel = 0; channel < c_out; channel++)
            out[channel] = chunk->sums[i * conv->ld_sums + channel];
}

/* Copies the input rows for n output rows, from `first` on, to the memory before the sums. */
static const float *copy_rows(const struct channels_run *run, size_t first, size_t n)
{
    const struct indirect_convolution *conv = run->conv;
    int64_t stride = conv->window.stride[1], begin = (int64_t)first * stride;
    int64_t reach = (conv->window.kernel[1] - 1) * conv->window.dilation[1];
    float *to = run->sums - conv->copy_floats;
    indirect_convolution_copy_rows(conv, run->job->in, begin,
                                   begin + ((int64_t)n - 1) * stride + reach + 1, to);
    return to;
}

/* Computes a chunk, runs the epilogue, and stores the chunk if the output has the channels last.
 * `positions` are those of the phase. */
static void run_chunk(const struct channels_run *run, struct chunk *chunk, const int32_t *positions)
{
    const struct indirect_convolution *conv = run->conv;
    const struct indirect_convolution_job *job = run->job;
    size_t c_out = (size_t)conv->c_out;
    bool in_output = conv->out_channels_last &&
                     (conv->ld_sums == c_out || (conv->stores_pixels && conv->tile[0] == 0));
    chunk->sums = in_output ? job->out + chunk->first * c_out : run->sums;
    chunk->ldc = in_output ? c_out : conv->ld_sums;
    if (conv->copy_rows > 0) {
        size_t row = (size_t)conv->out[2];
        chunk->in = copy_rows(run, chunk->first / row, chunk->n / row);
        chunk->positions = positions;
    }
    bool is_done = (in_output ? compute_pixels : compute_chunk)(run, chunk);
    if (!is_done && job->epilogue && job->epilogue->is_map)
        epilogue_run_on(job->epilogue, chunk->sums, chunk->n * chunk->ldc);
    if (!conv->out_channels_last)
        return;
    store_pixels(run, chunk);
    if (job->epilogue && !job->epilogue->is_map)
        epilogue_run(job->epilogue, job->first + chunk->first * c_out, chunk->n * c_out);
}

/* Copies the biases of a group, or zeros, to run->biases, padded with zeros to whole vectors. */
static void set_biases(const struct channels_run *run, size_t group)
{
    const float *bias = run->job->epilogue ? run->job->epilogue->bias : NULL;
    size_t c_out = (size_t)run->conv->c_out;
    memset(run->biases, 0, run->conv->ld_sums * sizeof *run->biases);
    if (bias)
        memcpy(run->biases, bias + group * c_out, c_out * sizeof *bias);
}

static void run_phase(struct channels_run *run, const struct subconvolution *sub, size_t group,
                      const struct phase *phase, const int32_t *positions, const float *packed)
{
    const struct indirect_convolution *conv = run->conv;
    const struct indirect_convolution_job *job = run->job;
    const struct chunks chunks = divide_phase(conv, sub, phase, run->n_shares);
    size_t n = (size_t)window_product(phase->n);
    size_t c_out = (size_t)conv->c_out, n_out = (size_t)window_product(conv->out);
    const float *in = conv->is_in_place ? job->in : job->scratch;
    set_biases(run, group);
    for (size_t i = 0; i < chunks.n; i++, run->number++) {
        size_t first = chunks.n_units * i / chunks.n * chunks.unit;
        size_t end = chunks.n_units * (i + 1) / chunks.n * chunks.unit;
        struct chunk chunk = {.sub = sub,
                              .in = in + group * (size_t)conv->c_in * conv->channel_floats,
                              .group = group,
                              .packed = packed,
                              .positions = positions + first,
                              .first = first,
                              .n = (end < n ? end : n) - first,
                              .is_first = run->number == run->begin};
        if (run->number < run->begin || run->number >= run->end)
            continue;
        run_chunk(run, &chunk, positions);
        if (!conv->out_channels_last)
            store_chunk(conv, &chunk, phase, job->out + group * c_out * n_out);
    }
}

bool indirect_convolution_has_rows(const struct indirect_convolution *conv)
{
    return conv->channels_in_lanes && conv->out_channels_last && !conv->is_transposed &&
           conv->n_groups == 1 && !conv->has_pairs && conv->tile[0] == 0 && !conv->skips_pads &&
           (conv->is_in_place || conv->copy_rows > 0) && conv->out[0] == 1 &&
           conv->window.in[0] == 1;
}

void indirect_convolution_run_rows(const struct indirect_convolution *conv,
                                   const struct indirect_convolution_job *job, int64_t begin,
                                   int64_t end)
{
    const struct subconvolution *sub = conv->subconvolutions;
    const int32_t *positions = conv->positions + sub->first_position;
    size_t row = (size_t)conv->out[2], n, last = (size_t)end * row;
    size_t max_positions = row < sub->nr ? sub->nr / row * row : sub->nr;
    float *sums = job->scratch + (conv->copy_rows > 0 ? conv->copy_floats : 0);
    struct channels_run run = {
        .conv = conv, .job = job, .sums = sums, .biases = sums + conv->sums_floats - conv->ld_sums};
    set_biases(&run, 0);
    for (size_t first = (size_t)begin * row; first < last; first += n) {
        n = last - first < max_positions ? last - first : max_positions;
        struct chunk chunk = {.sub = sub,
                              .in = job->in,
                              .packed = job->packed + sub->first_weight,
                              .positions = positions + first,
                              .first = first,
                              .n = n};
        run_chunk(&run, &chunk, positions);
    }
}

/* Computes a chunk of rows, applies the epilogue, and pools the result. */
static void run_pooled_chunk(const struct channels_run *run, const struct pooled_chunks *chunks,
                             size_t number)
{
    const struct indirect_convolution *conv = run->conv;
    const struct indirect_convolution_job *job = run->job;
    size_t width = (size_t)conv->out[2], height = (size_t)conv->out[1];
    struct pooled_sums sums = {.sums = run->sums,
                               .row = number / chunks->n_across * chunks->n_rows,
                               .column = number % chunks->n_across * chunks->n_columns};
    size_t n_rows = height - sums.row, n_columns = width - sums.column;
    sums.n_rows = n_rows < chunks->n_rows ? n_rows : chunks->n_rows;
    sums.n_columns = n_columns < chunks->n_columns ? n_columns : chunks->n_columns;
    bool is_whole = sums.n_columns == width;
    for (size_t i = 0; i < (is_whole ? 1 : sums.n_rows); i++) {
        size_t first = (sums.row + i) * width + sums.column;
        struct chunk chunk = {
            .sub = conv->subconvolutions,
            .in = conv->is_in_place ? job->in : job->scratch,
            .packed = job->packed + conv->subconvolutions->first_weight,
            .positions = conv->positions + conv->subconvolutions->first_position + first,
            .first = first,
            .n = is_whole ? sums.n_rows * width : sums.n_columns,
            .sums = run->sums + i * sums.n_columns * conv->ld_sums,
            .ldc = conv->ld_sums,
        };
        if (conv->copy_rows > 0) {
            chunk.in = copy_rows(run, sums.row, sums.n_rows);
            chunk.positions -= first;
        }
        if (!compute_chunk(run, &chunk) && job->epilogue && job->epilogue->is_map)
            epilogue_run_on(job->epilogue, chunk.sums, chunk.n * conv->ld_sums);
    }
    indirect_convolution_pool(conv, &sums, job->out);
}

/* Computes a chunk of pooling windows, applies the epilogue, and pools the result. */
static void run_windows(const struct channels_run *run, const struct pooled_chunks *chunks,
                        size_t number)
{
    const struct indirect_convolution *conv = run->conv;
    const struct indirect_convolution_job *job = run->job;
    const struct pooling *pooling = conv->pooling;
    size_t n_taps = pooling->kernel[0] * pooling->kernel[1];
    size_t first = chunks->n_units * number / chunks->n * chunks->unit;
    size_t n = chunks->n_units * (number + 1) / chunks->n * chunks->unit - first;
    float *out = job->out + first * (size_t)conv->c_out;
    const int32_t *positions = conv->positions + conv->subconvolutions->first_position;
    bool stores_maxima = indirect_convolution_stores_maxima(conv, epilogue_bounds(job->epilogue));
    struct chunk chunk = {
        .sub = conv->subconvolutions,
        .in = conv->is_in_place ? job->in : job->scratch,
        .packed = job->packed + conv->subconvolutions->first_weight,
        .positions = positions + first * n_taps,
        .n = n * n_taps,
        .sums = run->sums,
        .ldc = conv->ld_sums,
        .maxima = stores_maxima ? out : NULL,
    };
    if (conv->copy_rows > 0) {
        chunk.in = copy_rows(run, first / pooling->n[1] * pooling->kernel[0],
                             n / pooling->n[1] * pooling->kernel[0]);
        chunk.positions = positions;
    }
    if (!compute_chunk(run, &chunk) && job->epilogue && job->epilogue->is_map)
        epilogue_run_on(job->epilogue, chunk.sums, chunk.n * conv->ld_sums);
    if (!stores_maxima)
        indirect_convolution_pool_windows(conv, chunk.sums, n, out);
}

static void run_pooled(struct channels_run *run, size_t share)
{
    const struct pooled_chunks chunks = indirect_convolution_pooled_chunks(run->conv);
    set_biases(run, 0);
    for (size_t i = chunks.n * share / run->n_shares; i < chunks.n * (share + 1) / run->n_shares;
         i++)
        (run->conv->has_windows ? run_windows : run_pooled_chunk)(run, &chunks, i);
}

static void run_subconvolution(struct channels_run *run, const struct subconvolution *sub)
{
    const struct indirect_convolution *conv = run->conv;
    const float *packed = run->job->packed + sub->first_weight;
    for (size_t group = 0; group < (size_t)conv->n_groups; group++) {
        const int32_t *positions = conv->positions + sub->first_position;
        for (int64_t i = 0; i < window_product(sub->n_phases); i++) {
            struct phase phase = subconvolution_phase(conv, sub, i);
            run_phase(run, sub, group, &phase, positions, packed);
            positions += window_product(phase.n);
            packed += sub->k * conv->ld_sums;
        }
    }
}

static size_t count_chunks(const struct indirect_convolution *conv, size_t n_shares)
{
    size_t n = 0;
    for (size_t i = 0; i < conv->n_subconvolutions; i++) {
        const struct subconvolution *sub = &conv->subconvolutions[i];
        for (int64_t j = 0; j < window_product(sub->n_phases); j++) {
            struct phase phase = subconvolution_phase(conv, sub, j);
            n += divide_phase(conv, sub, &phase, n_shares).n;
        }
    }
    return n * (size_t)conv->n_groups;
}

void indirect_convolution_by_channels(const struct indirect_convolution *conv,
                                      const struct indirect_convolution_job *job, size_t share,
                                      size_t n_shares, float *sums)
{
    size_t n_chunks = count_chunks(conv, n_shares);
    struct channels_run run = {.conv = conv,
                               .job = job,
                               .n_shares = n_shares,
                               .begin = n_chunks * share / n_shares,
                               .end = n_chunks * (share + 1) / n_shares,
                               .biases = sums + conv->sums_floats - conv->ld_sums,
                               .sums = sums};
    for (size_t i = 0; i < conv->n_subconvolutions && !conv->pooling; i++)
        run_subconvolution(&run, &conv->subconvolutions[i]);
    if (conv->pooling)
        run_pooled(&run, share);
    if (conv->run > 0)
        conv->microkernels->pairs.tiles.end();
}
