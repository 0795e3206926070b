/* The kernels of gemm_int8.h, compiled for each CPU level. The sums of a tile, a few rows by a few
 * groups of columns, stay in registers. A group of b stays in the L1 cache while all rows are
 * multiplied by it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/gemm_int8.h"
#include "kernels/vector_integer.h"

#include "kernels/gemm_int8_store_body.h"

#include "kernels/gemm_int8_depthwise_body.h"

enum { GROUP_VECTORS = INT8_GROUP / VECTOR_LANES, QUAD_BYTES = INT8_GROUP * INT8_QUAD };

/* Sizes that fit into the registers: maximum rows and groups per tile, and groups of a tile of one
 * row. */
#if VECTOR_LANES == 16 && defined(VECTOR_HAS_DOT_U8)
enum { MAX_ROWS = 8, GROUPS = 2, SINGLE_ROW_GROUPS = 4 };
#elif VECTOR_LANES == 16
enum { MAX_ROWS = 6, GROUPS = 2, SINGLE_ROW_GROUPS = 4 };
#elif VECTOR_LANES == 8
enum { MAX_ROWS = 6, GROUPS = 1, SINGLE_ROW_GROUPS = 2 };
#else
enum { MAX_ROWS = 2, GROUPS = 1, SINGLE_ROW_GROUPS = 1 };
#endif
enum { MAX_VECTORS = SINGLE_ROW_GROUPS * GROUP_VECTORS };

/* Returns the number of rows of the next tile. The last rows are divided into two tiles of nearly
 * equal size. */
ALWAYS_INLINE size_t choose_tile_rows(size_t left)
{
    if (left > MAX_ROWS && left < 2 * MAX_ROWS)
        return (left + 1) / 2;
    return left < MAX_ROWS ? left : MAX_ROWS;
}

#if VECTOR_HAS_DOT_PAIRS
#include "kernels/gemm_int8_winograd_body.h"
#endif

/* How a quad is multiplied: with sums in 32 bits; by vec_i32_dot_pairs, after int8_excess_extract;
 * or, with has_words, as 16-bit words, two rows of the quad at a time. */
enum dot { DOT_32_BITS, DOT_PAIRS, DOT_WORDS };

/* Adds the products of a quad with DOT_PAIRS, or of half a quad with DOT_WORDS: two words of each
 * row of A by two rows of B. */
ALWAYS_INLINE void multiply_in_16_bits(const uint8_t *a, size_t lda, const int8_t *b,
                                       size_t group_bytes, const size_t n_rows,
                                       const size_t n_vectors, const enum dot dot,
                                       vec_i32 sums[MAX_ROWS][MAX_VECTORS])
{
    const size_t vector_bytes = sizeof(vec_i32) / (dot == DOT_WORDS ? 2 : 1);
    vec_i32 columns[MAX_VECTORS];
    UNROLL
    for (size_t v = 0; v < n_vectors; v++) {
        const int8_t *at = b + v / GROUP_VECTORS * group_bytes + v % GROUP_VECTORS * vector_bytes;
        columns[v] = dot == DOT_WORDS ? vec_i16_load_i8(at) : vec_i32_load(at);
    }
    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        vec_i32 row = vec_i32_set1_bytes(a + r * lda);
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            sums[r][v] = dot == DOT_WORDS ? vec_i32_dot_i16(sums[r][v], row, columns[v])
                                          : vec_i32_dot_pairs(sums[r][v], row, columns[v]);
    }
}

/* Adds the products of A and the excess of a group to n_vectors sums per row, from `first` on. */
ALWAYS_INLINE void add_excess(const struct int8_product *p, size_t row, size_t group,
                              const size_t n_rows, const size_t first, const size_t n_vectors,
                              vec_i32 sums[MAX_ROWS][MAX_VECTORS])
{
    const struct int8_excess *excess = p->excess;
    for (size_t i = excess->begins[group]; i < excess->begins[group + 1]; i++) {
        const struct int8_place *place = &excess->places[i];
        const uint8_t *a = p->a[place->segment] + row * p->lda + place->quad * INT8_QUAD;
        int16_t(*odd)[2] = excess->odd + i * INT8_GROUP;
        UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            vec_i32 quad = vec_i32_set1_bytes(a + r * p->lda);
            UNROLL
            for (size_t v = 0; v < n_vectors; v++)
                sums[r][first + v] =
                    vec_i32_dot_odd(sums[r][first + v], quad, vec_i32_load(odd + v * VECTOR_LANES));
        }
    }
}

/* Adds the products of a quad or, with DOT_WORDS, of half a quad. */
ALWAYS_INLINE void multiply_quad(const uint8_t *a, size_t lda, const int8_t *b, size_t group_bytes,
                                 const size_t n_rows, const size_t n_vectors, const enum dot dot,
                                 vec_i32 sums[MAX_ROWS][MAX_VECTORS])
{
    if (dot != DOT_32_BITS) {
        multiply_in_16_bits(a, lda, b, group_bytes, n_rows, n_vectors, dot, sums);
        return;
    }
    struct bytes_operand rows[MAX_ROWS];
    UNROLL
    for (size_t r = 0; r < n_rows; r++)
        rows[r] = unsigned_operand(vec_i32_set1_bytes(a + r * lda));
    UNROLL
    for (size_t v = 0; v < n_vectors; v++) {
        size_t at = v / GROUP_VECTORS * group_bytes + v % GROUP_VECTORS * sizeof(vec_i32);
        struct bytes_operand columns = signed_operand(vec_i32_load(b + at));
        UNROLL
        for (size_t r = 0; r < n_rows; r++)
            sums[r][v] = vec_i32_dot_bytes(sums[r][v], rows[r], columns);
    }
}

ALWAYS_INLINE void multiply_tile(const struct int8_product *p, size_t row, size_t group,
                                 const size_t n_rows, const size_t n_vectors, const enum dot dot)
{
    const size_t group_bytes = p->n_segments * p->n_quads * QUAD_BYTES;
    const int8_t *b = p->b + group * group_bytes;
    const int32_t *start = p->start + group * INT8_GROUP;
    const size_t n_steps = dot == DOT_WORDS ? 2 : 1; /* per quad, each with four bytes of a */
    vec_i32 sums[MAX_ROWS][MAX_VECTORS];

    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        vec_u32 first = (vec_u32)vec_i32_set1(p->row_start ? p->row_start[row + r] : 0);
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            sums[r][v] = (vec_i32)(first + (vec_u32)vec_i32_load(start + v * VECTOR_LANES));
    }
    for (size_t segment = 0; segment < p->n_segments; segment++) {
        const uint8_t *a = p->a[segment] + row * p->lda;
        for (size_t i = 0; i < p->n_quads * n_steps; i++, b += QUAD_BYTES / n_steps)
            multiply_quad(a + i * INT8_QUAD, p->lda, b, group_bytes, n_rows, n_vectors, dot, sums);
    }
    UNROLL
    for (size_t v = 0; dot == DOT_PAIRS && v < n_vectors; v += GROUP_VECTORS)
        add_excess(p, row, group + v / GROUP_VECTORS, n_rows, v,
                   n_vectors < GROUP_VECTORS ? n_vectors : GROUP_VECTORS, sums);
    UNROLL
    for (size_t v = 0; v < n_vectors; v++) {
        size_t column = group * INT8_GROUP + v * VECTOR_LANES, left = p->n - column;
        if (column < p->n)
            store_sums(p->to, &p->requantization, p->row_biases ? p->row_biases + row : NULL,
                       column, &sums[0][v], MAX_VECTORS, n_rows, p->c, row * p->ldc + column,
                       p->ldc, left < VECTOR_LANES ? left : VECTOR_LANES);
    }
}

typedef void tile_fn(const struct int8_product *p, size_t row, size_t group);

#define DEFINE_TILE_OF(rows, vectors, name)                                                        \
    static void name(const struct int8_product *p, size_t row, size_t group)                       \
    {                                                                                              \
        if (VECTOR_HAS_DOT_PAIRS && p->excess)                                                     \
            multiply_tile(p, row, group, rows, vectors, DOT_PAIRS);                                \
        else if (VECTOR_HAS_DOT_PAIRS && p->has_words)                                             \
            multiply_tile(p, row, group, rows, vectors, DOT_WORDS);                                \
        else                                                                                       \
            multiply_tile(p, row, group, rows, vectors, DOT_32_BITS);                              \
    }
#define DEFINE_TILE(rows, groups)                                                                  \
    DEFINE_TILE_OF(rows, (groups)*GROUP_VECTORS, tile_##rows##_##groups)
#define DEFINE_HALF_GROUP(rows, groups) DEFINE_TILE_OF(rows, GROUP_VECTORS / 2, half_group_##rows)
#define TILE_ENTRY(rows, groups) [(groups)-1][(rows)-1] = tile_##rows##_##groups,
#define HALF_GROUP_ENTRY(rows, groups) [(rows)-1] = half_group_##rows,

/* clang-format off */
#if VECTOR_LANES == 4
#define EACH_ROWS(X, groups) X(1, groups) X(2, groups)
#else
#define SIX_ROWS(X, groups) \
    X(1, groups) X(2, groups) X(3, groups) X(4, groups) X(5, groups) X(6, groups)
#endif
#if VECTOR_LANES == 16 && defined(VECTOR_HAS_DOT_U8)
#define EACH_ROWS(X, groups) SIX_ROWS(X, groups) X(7, groups) X(8, groups)
#elif VECTOR_LANES > 4
#define EACH_ROWS SIX_ROWS
#endif
#if VECTOR_LANES == 16
#define TILES(X) EACH_ROWS(X, 1) EACH_ROWS(X, 2)
#else
#define TILES(X) EACH_ROWS(X, 1)
#endif
/* clang-format on */

/* The functions, indexed by the number of groups - 1 and the number of rows - 1. */
TILES(DEFINE_TILE)
DEFINE_TILE_OF(1, MAX_VECTORS, single_row_tile)
static tile_fn *const tiles[GROUPS][MAX_ROWS] = {TILES(TILE_ENTRY)};

/* The functions for a last group that is at most half full, indexed by the number of rows - 1. */
#if VECTOR_HAS_DOT_PAIRS
EACH_ROWS(DEFINE_HALF_GROUP, 0)
static tile_fn *const half_group_tiles[MAX_ROWS] = {EACH_ROWS(HALF_GROUP_ENTRY, 0)};
#endif

#ifdef VECTOR_HAS_TILES
#define INT8_TILE_SUMS 4 /* tiles of sums, one per group; the remaining tiles hold A and B */

/* Stores the sums of n_groups groups. noinline, since each of four callers would get a copy. */
__attribute__((noinline)) static void finish_tile(const struct int8_product *p, size_t row,
                                                  size_t group, size_t n_groups,
                                                  vec_i32 sums[TILE_ROWS][INT8_TILE_SUMS])
{
    const float *const *biases = p->row_biases ? p->row_biases + row : NULL;
    for (size_t v = 0; v < n_groups; v++) {
        size_t column = (group + v) * INT8_GROUP, left = p->n - column;
        for (size_t r = 0; r < p->tile_rows && p->row_start; r++)
            sums[r][v] = (vec_i32)((vec_u32)sums[r][v] + (uint32_t)p->row_start[row + r]);
        store_sums(p->to, &p->requantization, biases, column, &sums[0][v], INT8_TILE_SUMS,
                   p->tile_rows, p->c, row * p->ldc + column, p->ldc,
                   left < VECTOR_LANES ? left : VECTOR_LANES);
    }
}

/* Computes the rows of a tile for n_groups groups. n_groups is a constant in all calls. */
ALWAYS_INLINE void run_tile(const struct int8_product *p, size_t row, size_t group,
                            const size_t n_groups)
{
    const size_t group_bytes = p->n_segments * p->n_quads * QUAD_BYTES;
    const int8_t *b = p->b + group * group_bytes;
    vec_i32 sums[TILE_ROWS][INT8_TILE_SUMS];

    tiles_load(p->start + group * INT8_GROUP, 0, TILE_SUMS, n_groups);
    for (size_t segment = 0; segment < p->n_segments; segment++) {
        const uint8_t *a = p->a[segment] + row * p->lda;
        for (size_t quad = 0, n; quad < p->n_quads; quad += n, b += n * QUAD_BYTES) {
            n = p->n_quads - quad < TILE_PAIRS ? p->n_quads - quad : TILE_PAIRS;
            tiles_multiply(TILE_U8_I8,
                           &(struct tile_terms){a + quad * INT8_QUAD, p->lda, (const char *)b,
                                                QUAD_BYTES, group_bytes},
                           n_groups, n);
        }
    }
    tiles_store(sums, sizeof *sums, TILE_SUMS, n_groups);
    finish_tile(p, row, group, n_groups, sums);
}

/* Multiplies all rows. The last tile overlaps the one before, so that it is full. */
static void multiply_by_tiles(const struct int8_product *p)
{
    tiles_prepare(p->tile_rows, p->n_quads);
    for (size_t group = p->begin; group < p->end; group += INT8_TILE_SUMS)
        for (size_t row = 0; row < p->m; row += p->tile_rows) {
            size_t last = p->m - p->tile_rows, at = row < last ? row : last;
            if (p->end - group >= 4)
                run_tile(p, at, group, 4);
            else if (p->end - group == 3)
                run_tile(p, at, group, 3);
            else if (p->end - group == 2)
                run_tile(p, at, group, 2);
            else
                run_tile(p, at, group, 1);
        }
}
#endif

static void multiply(const struct int8_product *p)
{
#ifdef VECTOR_HAS_TILES
    if (p->tile_rows > 0) {
        multiply_by_tiles(p);
        return;
    }
#endif
    size_t group = p->begin, n_groups;
    for (; SINGLE_ROW_GROUPS > GROUPS && p->m == 1 && group + SINGLE_ROW_GROUPS <= p->end;
         group += SINGLE_ROW_GROUPS)
        single_row_tile(p, 0, group);
    for (; group < p->end; group += n_groups) {
        n_groups = group + GROUPS <= p->end ? GROUPS : 1;
        tile_fn *const *by_rows = tiles[n_groups - 1];
#if VECTOR_HAS_DOT_PAIRS
        if (group * INT8_GROUP + INT8_GROUP / 2 >= p->n)
            by_rows = half_group_tiles;
#endif
        for (size_t row = 0, n; row < p->m; row += n) {
            n = choose_tile_rows(p->m - row);
            by_rows[n - 1](p, row, group);
        }
    }
}

static void multiply_wide(const struct int8_wide_product *p)
{
    size_t n_quads = int8_n_quads(p->k);
    for (size_t group = p->begin; group < p->end; group++) {
        const int8_t *b = p->b + group * n_quads * QUAD_BYTES;
        for (size_t at = 0; at < p->m * GROUP_VECTORS; at++) {
            size_t row = at / GROUP_VECTORS, v = at % GROUP_VECTORS;
            size_t column = group * INT8_GROUP + v * VECTOR_LANES;
            const int32_t *a = p->a + row * p->k;
            vec_u32 sum = (vec_u32)vec_i32_set1(p->row_start[row]);
            for (size_t k = 0; k < p->k; k++) {
                vec_i32 quad = vec_i32_load(b + k / INT8_QUAD * QUAD_BYTES + v * sizeof quad);
                vec_u32 last = (vec_u32)quad << (24 - 8 * (int)(k % INT8_QUAD));
                sum += ((vec_u32){0} + (uint32_t)a[k]) * (vec_u32)((vec_i32)last >> 24);
            }
            if (column < p->n)
                vec_i32_store_first(p->c + row * p->n + column, (vec_i32)sum,
                                    p->n - column < VECTOR_LANES ? p->n - column : VECTOR_LANES);
        }
    }
}

static bool narrow(size_t m, size_t k, const int32_t *from, uint8_t *to, int32_t *matrix_min,
                   int32_t *row_sums)
{
    size_t row_bytes = int8_n_quads(k) * INT8_QUAD;
    int32_t low = m * k > 0 ? from[0] : 0, high = low;
    for (size_t row = 0; row < m; row++) {
        uint32_t sum = 0;
        for (const int32_t *x = from + row * k; x < from + (row + 1) * k; x++) {
            low = *x < low ? *x : low;
            high = *x > high ? *x : high;
            sum += (uint32_t)*x;
        }
        row_sums[row] = (int32_t)sum;
    }
    *matrix_min = low;
    if ((uint32_t)high - (uint32_t)low > UINT8_MAX)
        return false;
    for (size_t row = 0; row < m; row++) {
        for (size_t i = 0; i < k; i++)
            to[row * row_bytes + i] = (uint8_t)((uint32_t)from[row * k + i] - (uint32_t)low);
        memset(to + row * row_bytes + k, 0, row_bytes - k);
    }
    return true;
}

static void widen(size_t n, const uint8_t *restrict from, uint16_t *restrict to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}

const struct int8_kernels LEVEL_NAME(gemm_int8, LEVEL) = {
    .multiply = multiply,
    .depthwise = depthwise,
    .lane_taps = LANE_TAPS,
    .multiply_wide = multiply_wide,
    .narrow = narrow,
    .widen = widen,
#if VECTOR_HAS_DOT_PAIRS
    .winograd = winograd,
#endif
    .adds_pairs = VECTOR_HAS_DOT_PAIRS,
#ifdef VECTOR_HAS_TILES
    .tiles_end = tiles_end,
#endif
};
