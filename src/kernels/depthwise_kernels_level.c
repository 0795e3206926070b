/* The kernels of depthwise_kernels.h, compiled for each CPU level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#define MAX_VECTORS 8 /* vectors of results at a time */

ALWAYS_INLINE vec add_term(vec weight, vec x, vec result, enum depthwise_term term)
{
    if (term == DEPTHWISE_PRODUCTS)
        return vec_fma(weight, x, result);
    return term == DEPTHWISE_SUMS ? vec_add(x, result) : vec_max(x, result);
}

#include "kernels/depthwise_pixels_body.h"

/* Adds the adjustment of a position to products, or multiplies sums by it. */
ALWAYS_INLINE vec adjust(vec result, const float *adjustment, enum depthwise_term term,
                         bool is_blocked)
{
    if (term == DEPTHWISE_PRODUCTS)
        return vec_add(result, vec_set1(*adjustment));
    if (term == DEPTHWISE_SUMS)
        return vec_mul(result, is_blocked ? vec_set1(*adjustment) : vec_load(adjustment));
    return result;
}

/* Adjusts and stores the results of n_rows positions from p on. Returns the new tile->check. */
ALWAYS_INLINE vec store_positions(const struct depthwise_tile *tile, size_t p, size_t n_rows,
                                  size_t n_vectors, enum depthwise_term term, bool is_blocked,
                                  vec results[][DEPTHWISE_MAX_VECTORS], vec check)
{
    size_t last = is_blocked ? 0 : tile->last;
    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++) {
            size_t at = v + 1 == n_vectors ? last : v * VECTOR_LANES;
            float *to = tile->out + (p + r) * tile->out_step + at;
            vec result = results[r][v];
            check = term == DEPTHWISE_MAXIMA ? vec_min(result, check)
                                             : vec_fma(result, vec_zero(), check);
            const float *adjustment = tile->adjustment + (p + r) * tile->adjustment_step;
            result =
                adjust(result, adjustment + (term == DEPTHWISE_SUMS ? at : 0), term, is_blocked);
            if (is_blocked || n_vectors > 1 || tile->n_stored == VECTOR_LANES)
                vec_store(to, result);
            else
                vec_store_first(to, result, tile->n_stored);
        }
    }
    return check;
}

/* Computes n_rows positions from p on. n_rows, n_vectors, term and is_blocked are constants in all
 * calls. is_blocked: the lanes hold channels, not pixels; only for sums. */
ALWAYS_INLINE vec run_positions(const struct depthwise_tile *tile, size_t p, size_t n_rows,
                                size_t n_vectors, enum depthwise_term term, bool is_blocked,
                                vec check)
{
    vec results[MAX_VECTORS][DEPTHWISE_MAX_VECTORS];
    const ptrdiff_t step = tile->image_step, start = tile->start + (ptrdiff_t)p * step;
    const float *image = tile->image;
    size_t last = is_blocked ? 0 : tile->last;
    vec neutral = vec_set1(term == DEPTHWISE_MAXIMA ? -INFINITY : 0.0F);

    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            results[r][v] = neutral;
    }
    for (size_t line = 0; line < tile->n_slices * tile->n_lines; line++) {
        size_t first = tile->first_tap + line / tile->n_lines * tile->slice_taps +
                       line % tile->n_lines * tile->line_taps;
        for (size_t t = first; t < first + tile->n_taps; t++) {
            const float *at = image + (start + tile->offsets[t]);
            vec weight = neutral;
            if (term == DEPTHWISE_PRODUCTS)
                weight = vec_set1(tile->weights[t]);
            UNROLL
            for (size_t r = 0; r < n_rows; r++) {
                UNROLL
                for (size_t v = 0; v < n_vectors; v++) {
                    vec x = vec_load(at + (ptrdiff_t)r * step +
                                     (v + 1 == n_vectors ? last : v * VECTOR_LANES));
                    results[r][v] = add_term(weight, x, results[r][v], term);
                }
            }
        }
    }
    return store_positions(tile, p, n_rows, n_vectors, term, is_blocked, results, check);
}

/* Returns whether run_3x3 can compute the tile: the window is 3 x 3, and each of its rows reads the
 * same elements as the row below it at the previous position. run_3x3 loads these only once. */
ALWAYS_INLINE bool is_3x3(const struct depthwise_tile *tile)
{
    const int32_t *offsets = tile->offsets + tile->first_tap;
    if (tile->n_taps != 9 || tile->n_slices * tile->n_lines != 1)
        return false;
    UNROLL
    for (size_t t = 3; t < 9; t++)
        if (offsets[t] - offsets[t - 3] != tile->image_step)
            return false;
    return true;
}

/* Computes the same as run_positions, with the same order of additions, for tiles that is_3x3
 * accepts. */
ALWAYS_INLINE vec run_3x3(const struct depthwise_tile *tile, size_t p, size_t n_rows,
                          size_t n_vectors, vec check)
{
    vec results[MAX_VECTORS][DEPTHWISE_MAX_VECTORS], weights[9];
    const ptrdiff_t step = tile->image_step, start = tile->start + (ptrdiff_t)p * step;
    const int32_t *offsets = tile->offsets + tile->first_tap;
    UNROLL
    for (size_t t = 0; t < 9; t++)
        weights[t] = vec_set1(tile->weights[tile->first_tap + t]);
    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            results[r][v] = vec_zero();
    }
    UNROLL
    for (size_t line = 0; line < n_rows + 2; line++) {
        UNROLL
        for (size_t t = 0; t < 3; t++) {
            const float *at = tile->image + (start + (ptrdiff_t)line * step + offsets[t]);
            UNROLL
            for (size_t v = 0; v < n_vectors; v++) {
                vec x = vec_in_register(
                    vec_load(at + (v + 1 == n_vectors ? tile->last : v * VECTOR_LANES)));
                UNROLL
                for (size_t row = 0; row < 3; row++)
                    if (line >= row && line - row < n_rows)
                        results[line - row][v] =
                            vec_fma(weights[row * 3 + t], x, results[line - row][v]);
            }
        }
    }
    return store_positions(tile, p, n_rows, n_vectors, DEPTHWISE_PRODUCTS, false, results, check);
}

#define CASE(rows)                                                                                 \
    case rows:                                                                                     \
        if ((rows) <= max_positions)                                                               \
            check = has_3x3 ? run_3x3(tile, p, rows, n_vectors, check)                             \
                            : run_positions(tile, p, rows, n_vectors, term, is_blocked, check);    \
        break;

/* Computes a tile in parts of nearly equal size, each of at most max_positions positions. */
ALWAYS_INLINE void run_parts(const struct depthwise_tile *tile, size_t max_positions,
                             size_t n_vectors, enum depthwise_term term, bool is_blocked,
                             bool has_3x3)
{
    size_t n_parts = (tile->n + max_positions - 1) / max_positions, p = 0;
    vec check = vec_load(tile->check);
    for (size_t part = 0; part < n_parts; part++) {
        size_t end = tile->n * (part + 1) / n_parts;
        switch (end - p) {
            CASE(1)
            CASE(2)
            CASE(3)
            CASE(4)
            CASE(5)
            CASE(6)
            CASE(7)
            CASE(8)
        }
        p = end;
    }
    vec_store(tile->check, check);
}

/* Computes a tile, as many positions at a time as the registers can hold. Pooling along rows is
 * equally fast with half as many. run_3x3 computes at most four, because its nine weights are in
 * registers too. */
ALWAYS_INLINE void run_tile(const struct depthwise_tile *tile, size_t n_vectors,
                            enum depthwise_term term, bool is_blocked)
{
    const size_t n_results =
        is_blocked || term == DEPTHWISE_PRODUCTS ? MAX_VECTORS : MAX_VECTORS / 2;
    const size_t max_positions = n_results > n_vectors ? n_results / n_vectors : 1;
    const size_t max_3x3 = VECTOR_REGISTERS == 32 || max_positions > 4 ? 4 : max_positions;
    if (term == DEPTHWISE_PRODUCTS && is_3x3(tile))
        run_parts(tile, max_3x3, n_vectors, term, is_blocked, true);
    else
        run_parts(tile, max_positions, n_vectors, term, is_blocked, false);
}

#define TILES(X, term) X(term, 1) X(term, 2) X(term, 3) X(term, 4)
#define DEFINE_ROWS(term, n_vectors)                                                               \
    static void term##_rows_##n_vectors(const struct depthwise_tile *tile)                         \
    {                                                                                              \
        run_tile(tile, n_vectors, term, false);                                                    \
    }
TILES(DEFINE_ROWS, DEPTHWISE_PRODUCTS)
TILES(DEFINE_ROWS, DEPTHWISE_SUMS)
TILES(DEFINE_ROWS, DEPTHWISE_MAXIMA)

static void sum_pixels(const struct depthwise_tile *tile)
{
    run_tile(tile, 1, DEPTHWISE_SUMS, true);
}

ALWAYS_INLINE void copy_strided(const float *restrict from, size_t stride, float *restrict to,
                                size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i * stride];
}

static void copy_rows(const float *from, size_t from_step, size_t stride, float *to, size_t to_step,
                      size_t n, size_t n_rows)
{
    for (; n_rows > 0; n_rows--, from += from_step, to += to_step) {
        if (stride == 1) /* gcc vectorizes the loop if the stride is constant */
            copy_strided(from, 1, to, n);
        else if (stride == 2)
            copy_strided(from, 2, to, n);
        else
            copy_strided(from, stride, to, n);
    }
}

/* Returns the index at which to load a vector that holds element i of n: i, or n - VECTOR_LANES if
 * less than a vector is left from i on and n is at least a vector. */
ALWAYS_INLINE size_t find_begin(size_t i, size_t n)
{
    return i + VECTOR_LANES > n && n >= VECTOR_LANES ? n - VECTOR_LANES : i;
}

static void to_blocked(const float *from, size_t from_step, size_t n_rows, size_t n, float *to)
{
    vec rows[VECTOR_LANES];
    for (size_t i = 0; i < n; i += VECTOR_LANES) {
        i = find_begin(i, n);
        UNROLL
        for (size_t r = 0; r < VECTOR_LANES; r++)
            rows[r] = r < n_rows ? vec_load_n(from + r * from_step + i, n - i) : vec_zero();
        vec_transpose(rows);
        UNROLL
        for (size_t r = 0; r < VECTOR_LANES; r++)
            if (r < n - i)
                vec_store(to + (i + r) * VECTOR_LANES, rows[r]);
    }
}

static void from_blocked(const float *from, float *to, size_t to_step, size_t n_rows, size_t n,
                         const float *bounds, float *check)
{
    vec rows[VECTOR_LANES], sum = vec_zero();
    vec low = vec_set1(bounds ? bounds[0] : 0), high = vec_set1(bounds ? bounds[1] : 0);
    for (size_t i = 0; i < n; i += VECTOR_LANES) {
        i = find_begin(i, n);
        UNROLL
        for (size_t r = 0; r < VECTOR_LANES; r++)
            rows[r] = r < n - i ? vec_load(from + (i + r) * VECTOR_LANES) : vec_zero();
        UNROLL
        for (size_t r = 0; r < VECTOR_LANES; r++)
            sum = vec_add(sum, rows[r]);
        UNROLL
        for (size_t r = 0; r < VECTOR_LANES && bounds; r++)
            rows[r] = vec_max_min(rows[r], low, high);
        vec_transpose(rows);
        UNROLL
        for (size_t r = 0; r < VECTOR_LANES; r++)
            if (r < n_rows)
                vec_store_n(to + r * to_step + i, rows[r], n - i);
    }
    if (check)
        vec_store(check, vec_mul(sum, vec_zero()));
}

/* Computes n outputs, at most a vector, from 2 * n elements of each of the two rows at `from`. */
ALWAYS_INLINE vec pool_window_2x2(const struct depthwise_pool_2x2 *args, const float *from,
                                  size_t n, float *to, enum depthwise_term term, vec check)
{
    size_t left = n < VECTOR_LANES ? 2 * n : 2 * VECTOR_LANES;
    size_t n_first = left < VECTOR_LANES ? left : VECTOR_LANES, n_second = left - n_first;
    vec neutral = vec_set1(term == DEPTHWISE_MAXIMA ? -INFINITY : 0.0F), result = neutral;
    UNROLL
    for (size_t row = 0; row < 2; row++, from += args->in_row) {
        vec a = vec_load_n(from, n_first);
        vec b = n_second > 0 ? vec_load_n(from + n_first, n_second) : vec_zero();
        result = add_term(neutral, vec_even(a, b), result, term);
        result = add_term(neutral, vec_odd(a, b), result, term);
    }
    check = term == DEPTHWISE_MAXIMA ? vec_min(result, check) : vec_fma(result, vec_zero(), check);
    vec_store_n(to, term == DEPTHWISE_SUMS ? vec_mul(result, vec_set1(args->scale)) : result, n);
    return check;
}

ALWAYS_INLINE void pool_2x2(const struct depthwise_pool_2x2 *args, enum depthwise_term term)
{
    vec check = vec_load(args->check);
    for (size_t row = 0; row < args->n_rows; row++) {
        const float *from = args->in + 2 * row * args->in_row;
        float *to = args->out + row * args->n;
        for (size_t i = 0; i < args->n; i += VECTOR_LANES) {
            i = find_begin(i, args->n);
            check = pool_window_2x2(args, from + 2 * i, args->n - i, to + i, term, check);
        }
    }
    vec_store(args->check, check);
}

static void pool_2x2_sums(const struct depthwise_pool_2x2 *args)
{
    pool_2x2(args, DEPTHWISE_SUMS);
}

static void pool_2x2_maxima(const struct depthwise_pool_2x2 *args)
{
    pool_2x2(args, DEPTHWISE_MAXIMA);
}

#define ROWS_ENTRY(term, n_vectors) [n_vectors] = term##_rows_##n_vectors,
#define ROWS(term) [term] = {TILES(ROWS_ENTRY, term)}

const struct depthwise_kernels LEVEL_NAME(depthwise_f32, LEVEL) = {
    .lanes = VECTOR_LANES,
    .half_width = HALF_WIDTH_OF(depthwise_f32),
    .rows = {ROWS(DEPTHWISE_PRODUCTS), ROWS(DEPTHWISE_SUMS), ROWS(DEPTHWISE_MAXIMA)},
    .pixels = {multiply_pixels, sum_pixels, max_pixels},
    .pool_2x2 = {[DEPTHWISE_SUMS] = pool_2x2_sums, [DEPTHWISE_MAXIMA] = pool_2x2_maxima},
    .copy_rows = copy_rows,
    .to_blocked = to_blocked,
    .from_blocked = from_blocked,
};
