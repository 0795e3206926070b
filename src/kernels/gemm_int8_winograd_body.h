/* Winograd's F(2x2, 3x3) in 16-bit integers, with the channels last. winograd_body.h explains the
 * transforms. Here the filter transform omits two factors of 1/2, so the sums are four times as
 * large. Each row of a product is a tile of the image. Include after gemm_int8_store_body.h and
 * choose_tile_rows.
 * SPDX-License-Identifier: Apache-2.0 */
enum { WORDS = 2 * VECTOR_LANES, POSITIONS = INT8_WINOGRAD_POSITIONS };

ALWAYS_INLINE void transform_words(vec_i16 *at, const size_t step)
{
    vec_i16 d0 = at[0], d1 = at[step], d2 = at[2 * step], d3 = at[3 * step];
    at[0] = d0 - d2;
    at[step] = d1 + d2;
    at[2 * step] = d2 - d1;
    at[3 * step] = d1 - d3;
}

/* Transforms the 4 by 4 pixels of a tile. Reads whole vectors of channels, even past the last
 * channel. */
static void transform_tile(const struct int8_winograd *w, const uint8_t *from, int16_t *to)
{
    size_t step = int8_winograd_step(w->n, w->c_in);
    for (size_t channel = 0; channel < w->c_in; channel += WORDS) {
        vec_i16 d[POSITIONS];
        UNROLL
        for (size_t i = 0; i < POSITIONS; i++)
            d[i] =
                (vec_i16)vec_i16_load_u8(from + i / 4 * w->row_bytes + i % 4 * w->c_in + channel);
        UNROLL
        for (size_t i = 0; i < 4; i++)
            transform_words(d + i, 4);
        UNROLL
        for (size_t i = 0; i < POSITIONS; i += 4) {
            transform_words(d + i, 1);
            UNROLL
            for (size_t x = 0; x < 4; x++)
                memcpy(to + (i + x) * step + channel, &d[i + x], sizeof d[i + x]);
        }
    }
}

/* Multiplies n_rows tiles at one position by a group of filters. */
ALWAYS_INLINE void multiply_position(const struct int8_winograd *w, const int16_t *a,
                                     const int16_t *b, const size_t n_rows, int32_t *c)
{
    size_t row = int8_winograd_row(w->c_in), n_pairs = (w->c_in + 1) / 2;
    vec_i32 sums[MAX_ROWS][GROUP_VECTORS];
    UNROLL
    for (size_t i = 0; i < n_rows * GROUP_VECTORS; i++)
        sums[i / GROUP_VECTORS][i % GROUP_VECTORS] = vec_i32_set1(0);
    for (size_t i = 0; i < n_pairs; i++, a += 2, b += 2 * INT8_GROUP) {
        vec_i32 columns[GROUP_VECTORS];
        UNROLL
        for (size_t v = 0; v < GROUP_VECTORS; v++)
            columns[v] = vec_i32_load(b + v * WORDS);
        UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            vec_i32 pair = vec_i32_set1_bytes(a + r * row);
            UNROLL
            for (size_t v = 0; v < GROUP_VECTORS; v++)
                sums[r][v] = vec_i32_dot_i16(sums[r][v], pair, columns[v]);
        }
    }
    UNROLL
    for (size_t i = 0; i < n_rows * GROUP_VECTORS; i++)
        memcpy(c + i * VECTOR_LANES, &sums[i / GROUP_VECTORS][i % GROUP_VECTORS],
               sizeof sums[0][0]);
}

/* Calls multiply_position with a constant number of rows. */
static void multiply_rows(const struct int8_winograd *w, const int16_t *a, const int16_t *b,
                          size_t n_rows, int32_t *c)
{
#define CASE(n)                                                                                    \
    case n:                                                                                        \
        multiply_position(w, a, b, n, c);                                                          \
        break;
    switch (n_rows) {
        CASE(1)
#if VECTOR_LANES == 8
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
#endif
    default:
        multiply_position(w, a, b, MAX_ROWS, c);
    }
#undef CASE
}

static void multiply_positions(const struct int8_winograd *w, size_t group)
{
    size_t row = int8_winograd_row(w->c_in), step = int8_winograd_step(w->n, w->c_in);
    size_t position_words = (w->c_in + 1) / 2 * 2 * INT8_GROUP;
    const int16_t *b = w->filters + group * POSITIONS * position_words;
    for (size_t i = 0; i < POSITIONS; i++, b += position_words) {
        int32_t *c = w->products + i * int8_winograd_products_step(w->n);
        for (size_t at = 0, n; at < w->n; at += n) {
            n = choose_tile_rows(w->n - at);
            multiply_rows(w, w->inputs + i * step + at * row, b, n, c + at * INT8_GROUP);
        }
    }
}

ALWAYS_INLINE void add_words(const vec_i32 m[4], const size_t step, vec_i32 y[2])
{
    vec_u32 m0 = (vec_u32)m[0], m1 = (vec_u32)m[step], m2 = (vec_u32)m[2 * step],
            m3 = (vec_u32)m[3 * step];
    y[0] = (vec_i32)(m0 + m1 + m2);
    y[1] = (vec_i32)(m1 - m2 - m3);
}

/* Transforms the products of a tile into its 2 by 2 sums. */
ALWAYS_INLINE void sum_tile(const int32_t *products, size_t step, vec_i32 start, vec_i32 sums[4])
{
    vec_i32 rows[2][4];
    UNROLL
    for (size_t x = 0; x < 4; x++) {
        vec_i32 m[4], y[2];
        UNROLL
        for (size_t i = 0; i < 4; i++)
            m[i] = vec_i32_load(products + (4 * i + x) * step);
        add_words(m, 1, y);
        rows[0][x] = y[0];
        rows[1][x] = y[1];
    }
    UNROLL
    for (size_t y = 0; y < 2; y++) {
        add_words(rows[y], 1, sums + 2 * y);
        UNROLL
        for (size_t x = 0; x < 2; x++)
            sums[2 * y + x] = (sums[2 * y + x] >> 2) + start;
    }
}

/* Stores n columns, at most a vector, of all tiles. */
ALWAYS_INLINE void store_tiles(const struct int8_winograd *w, size_t column, size_t n)
{
    size_t step = int8_winograd_products_step(w->n), first = column % INT8_GROUP;
    struct scaling scaling = load_scaling(INT8_TO_U8, &w->requantization, column);
    vec_i32 start = vec_i32_load(w->start + column);
    for (size_t i = 0; i < w->n; i++) {
        size_t y = (w->first + i) / w->n_columns * 2, x = (w->first + i) % w->n_columns * 2;
        vec_i32 sums[4];
        sum_tile(w->products + i * INT8_GROUP + first, step, start, sums);
        UNROLL
        for (size_t k = 0; k < 4; k++)
            if (y + k / 2 < w->out[0] && x + k % 2 < w->out[1])
                store(INT8_TO_U8, &scaling, sums[k], w->c,
                      ((y + k / 2) * w->out[1] + x + k % 2) * w->c_out + column, n);
    }
}

static void winograd(const struct int8_winograd *w)
{
    for (size_t i = 0; i < w->n; i++) {
        size_t y = (w->first + i) / w->n_columns, x = (w->first + i) % w->n_columns;
        transform_tile(w, w->image + 2 * y * w->row_bytes + 2 * x * w->c_in,
                       w->inputs + i * int8_winograd_row(w->c_in));
    }
    for (size_t group = w->begin; group < w->end; group++) {
        multiply_positions(w, group);
        for (size_t v = 0; v < GROUP_VECTORS; v++) {
            size_t column = group * INT8_GROUP + v * VECTOR_LANES;
            if (column + VECTOR_LANES <= w->c_out)
                store_tiles(w, column, VECTOR_LANES);
            else if (column < w->c_out)
                store_tiles(w, column, w->c_out - column);
        }
    }
}
