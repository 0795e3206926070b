/* The micro-kernels of igemm_f32.h, compiled for each CPU level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#include "kernels/igemm_store_body.h"
#include "kernels/igemm_width_3_body.h"
#include "kernels/winograd_body.h"

#define MAX_VECTORS 8
#define LINE_FLOATS 16 /* floats in a cache line */

/* Returns the mask bits for the lanes of vector v. */
ALWAYS_INLINE unsigned lane_bits(const unsigned char *mask, size_t v)
{
    size_t first = v * VECTOR_LANES;
    unsigned lanes = mask[first / 8];
    if (VECTOR_LANES > 8)
        lanes |= (unsigned)mask[first / 8 + 1] << 8;
    return lanes >> first % 8 & ((1U << VECTOR_LANES) - 1);
}

/* Loads vector v of a row of B. The address of masked elements may lie before the buffer of B. */
ALWAYS_INLINE vec load_b(const struct igemm_args *args, const struct indirection *row, size_t v,
                         enum igemm_masking masking)
{
    intptr_t distance = (intptr_t)row->offset * (intptr_t)sizeof(float);
    const void *at =
        (const void *)((uintptr_t)args->b + (uintptr_t)distance + v * VECTOR_LANES * sizeof(float));
    const unsigned char *mask = args->masks + row->mask;
    if (masking == IGEMM_MASKED_LOADS)
        return vec_load_where(at, lane_bits(mask, v));
    return masking == IGEMM_MASKED ? vec_where(vec_load(at), lane_bits(mask, v)) : vec_load(at);
}

/* Computes a tile. mr, n_vectors and masking are constants in all calls. */
ALWAYS_INLINE void run_igemm(const struct igemm_args *args, size_t mr, size_t n_vectors,
                             enum igemm_masking masking)
{
    vec sums[IGEMM_MAX_MR][MAX_VECTORS], b[MAX_VECTORS];
    const float *a = args->a;

    UNROLL
    for (size_t r = 0; r < mr; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            sums[r][v] = vec_zero();
    }
    for (size_t k = 0; k < args->k; k++, a += mr) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            b[v] = load_b(args, args->indirection + k, v, masking);
        UNROLL
        for (size_t r = 0; r < mr; r++) {
            vec weight = vec_set1_at(a + r);
            UNROLL
            for (size_t v = 0; v < n_vectors; v++)
                sums[r][v] = vec_fma(weight, b[v], sums[r][v]);
        }
    }
    UNROLL
    for (size_t r = 0; r < mr; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++) {
            float *to = args->c + (r * n_vectors + v) * VECTOR_LANES;
            vec sum = args->is_added ? vec_add(vec_load(to), sums[r][v]) : sums[r][v];
            vec_store(to, args->bias ? vec_add(vec_set1(args->bias[r]), sum) : sum);
        }
    }
}

/* The sums take mr * vectors registers, B takes one per vector, and A takes one. nr is a multiple
 * of 8. */
#if VECTOR_REGISTERS == 32 && VECTOR_LANES == 16
#define MICROKERNELS(X)                                                                            \
    X(1, 8)                                                                                        \
    X(2, 6) X(3, 6) X(4, 4) X(5, 4) X(6, 4) X(7, 3) X(8, 3) X(9, 2) X(10, 2) X(11, 2) X(12, 2)
#elif VECTOR_REGISTERS == 16 && VECTOR_LANES == 8
#define MICROKERNELS(X) X(1, 7) X(2, 4) X(3, 3) X(4, 2) X(5, 2) X(6, 2)
#else
#define MICROKERNELS(X) X(1, 6) X(2, 4) X(3, 2) X(4, 2) X(5, 2) X(6, 2)
#endif

#define DEFINE_MICROKERNEL(rows, vectors)                                                          \
    static void unmasked_##rows(const struct igemm_args *args)                                     \
    {                                                                                              \
        run_igemm(args, rows, vectors, IGEMM_UNMASKED);                                            \
    }                                                                                              \
    static void masked_##rows(const struct igemm_args *args)                                       \
    {                                                                                              \
        run_igemm(args, rows, vectors, IGEMM_MASKED);                                              \
    }                                                                                              \
    static void masked_loads_##rows(const struct igemm_args *args)                                 \
    {                                                                                              \
        run_igemm(args, rows, vectors, IGEMM_MASKED_LOADS);                                        \
    }
MICROKERNELS(DEFINE_MICROKERNEL)

/* Computes a tile. All parameters but args are constants in all calls. The asm keeps an address
 * for each row; without it, gcc would add the offset of each term to each position. */
ALWAYS_INLINE void run_channels(const struct igemm_channels_args *args, size_t mr, size_t n_vectors,
                                bool are_pairs, bool prefetches, bool pools)
{
    vec sums[IGEMM_MAX_MR][IGEMM_MAX_VECTORS], weights[IGEMM_MAX_VECTORS];
    const float *rows[IGEMM_MAX_MR], *b = args->b;

    UNROLL
    for (size_t r = 0; r < mr; r++) {
        rows[r] = args->a + args->positions[r];
        __asm__("" : "+r"(rows[r]));
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            sums[r][v] = vec_zero();
    }
    for (size_t k = 0; k < args->k; k++, b += n_vectors * VECTOR_LANES) {
        ptrdiff_t offset = args->indirection[k].offset;
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            weights[v] = vec_load(b + v * VECTOR_LANES);
        if (prefetches) {
            UNROLL
            for (size_t i = 0; i < n_vectors * VECTOR_LANES; i += LINE_FLOATS)
                __builtin_prefetch((const void *)((uintptr_t)(b + i) + args->ahead), 0, 2);
        }
        UNROLL
        for (size_t r = 0; r < mr; r++) {
            vec input = vec_set1_at(rows[r] + offset);
            UNROLL
            for (size_t v = 0; v < n_vectors; v++)
                sums[r][v] = add_product(sums[r][v], weights[v], input, are_pairs);
        }
    }
    (pools ? store_maxima : store_channels)(args, mr, n_vectors, sums);
}

#ifdef VECTOR_HAS_TILES
/* Returns the distance in bytes between positions if a tile can load them, otherwise 0. */
ALWAYS_INLINE size_t find_stride(const int32_t *positions, size_t n)
{
    const int32_t stride = positions[n > 1] - positions[0];
    bool is_constant = stride > 0 || n == 1;
    for (size_t r = 2; r < n; r++)
        is_constant &= positions[r] - positions[r - 1] == stride;
    return !is_constant ? 0 : n > 1 ? (size_t)stride * sizeof(float) : sizeof(vec);
}

/* Returns the address of n input pairs for each of n_rows positions: in place if stride > 0,
 * otherwise in `copy`. */
ALWAYS_INLINE const void *find_inputs(const float *from, const int32_t *positions, size_t n_rows,
                                      size_t stride, size_t n, vec *copy)
{
    for (size_t r = 0; r < n_rows && stride == 0; r++)
        copy[r] = vec_load_first(from + positions[r], n);
    return stride > 0 ? (const void *)(from + positions[0]) : copy;
}

/* Adds all terms to the tiles of sums of n_rows positions or, if has_second, of 2 * n_rows
 * positions. */
ALWAYS_INLINE void add_runs(const struct igemm_channels_args *args, const int32_t *positions,
                            size_t n_rows, size_t n_vectors, bool has_second)
{
    const int32_t *second = positions + n_rows;
    size_t stride = find_stride(positions, n_rows);
    vec copies[2][TILE_ROWS];
    if (has_second && stride != find_stride(second, n_rows))
        stride = 0;
    struct tile_terms terms = {
        .inputs_bytes = stride > 0 ? stride : sizeof(vec),
        .weights = (const void *)args->b,
        .weights_bytes = n_vectors * sizeof(vec),
        .next_bytes = sizeof(vec),
    };
    for (size_t k = 0; k < args->k; k += args->run) {
        const float *from = args->a + args->indirection[k].offset;
        for (size_t i = 0, n; i < args->run; i += n, from += n) {
            n = args->run - i < TILE_PAIRS ? args->run - i : TILE_PAIRS;
            terms.inputs = find_inputs(from, positions, n_rows, stride, n, copies[0]);
            if (has_second)
                tiles_multiply_both(&terms, find_inputs(from, second, n_rows, stride, n, copies[1]),
                                    n_vectors);
            else
                tiles_multiply(TILE_BF16, &terms, n_vectors, n);
            terms.weights += n * terms.weights_bytes;
        }
    }
}

/* Clamps the sums of n positions. */
ALWAYS_INLINE void clamp_sums(float *c, size_t ldc, size_t n, size_t n_vectors, const float *bounds)
{
    for (size_t r = 0; r < n; r++)
        for (size_t v = 0; v < n_vectors; v++) {
            float *at = c + r * ldc + v * VECTOR_LANES;
            vec_store(at, vec_max_min(vec_load(at), vec_set1(bounds[0]), vec_set1(bounds[1])));
        }
}

/* Computes all positions, two tiles of positions at a time if there are enough tile registers.
 * n_vectors is a constant in all calls. */
ALWAYS_INLINE void run_tiles(const struct igemm_channels_args *args, size_t n_vectors)
{
    const size_t row_bytes = args->ldc * sizeof(float), from_bytes = args->is_added ? row_bytes : 0;
    for (size_t begin = 0, n; begin < args->n; begin += n) {
        size_t left = args->n - begin, n_rows = left < TILE_ROWS ? left : TILE_ROWS;
        bool has_second = n_vectors <= 2 && left >= 2 * TILE_ROWS && args->run % TILE_PAIRS == 0;
        float *c = args->c + begin * args->ldc, *second = c + TILE_ROWS * args->ldc;
        n = has_second ? 2 * TILE_ROWS : n_rows;
        tiles_prepare(n_rows, args->run);
        tiles_load(args->is_added ? c : args->bias, from_bytes, TILE_SUMS, n_vectors);
        if (has_second)
            tiles_load(args->is_added ? second : args->bias, from_bytes, TILE_SECOND_SUMS,
                       n_vectors);
        add_runs(args, args->positions + begin, n_rows, n_vectors, has_second);
        tiles_store(c, row_bytes, TILE_SUMS, n_vectors);
        if (has_second)
            tiles_store(second, row_bytes, TILE_SECOND_SUMS, n_vectors);
        if (args->bounds)
            clamp_sums(c, args->ldc, n, n_vectors, args->bounds);
    }
}

static void tiles_1(const struct igemm_channels_args *args)
{
    run_tiles(args, 1);
}
static void tiles_2(const struct igemm_channels_args *args)
{
    run_tiles(args, 2);
}
static void tiles_3(const struct igemm_channels_args *args)
{
    run_tiles(args, 3);
}
#endif

/* The registers hold the sums, one row of weights, one broadcast input and, without FMA, a
 * product. Nine row addresses fit into the general-purpose registers of x86-64; more would be
 * loaded for each term, which matters less with a single vector. */
/* clang-format off */
#define ROWS_4(X, vectors) X(vectors, 1) X(vectors, 2) X(vectors, 3) X(vectors, 4)
#define ROWS_6(X, vectors) ROWS_4(X, vectors) X(vectors, 5) X(vectors, 6)
#define ROWS_8(X, vectors) ROWS_6(X, vectors) X(vectors, 7) X(vectors, 8)
#define ROWS_9(X, vectors) ROWS_8(X, vectors) X(vectors, 9)
#define ROWS_12(X, vectors) ROWS_9(X, vectors) X(vectors, 10) X(vectors, 11) X(vectors, 12)
#if VECTOR_REGISTERS == 32
#define CHANNELS(X) ROWS_12(X, 1) ROWS_9(X, 2) ROWS_8(X, 3)
#define PREFETCHING(X) ROWS_8(X, 3)
#elif VECTOR_HAS_FMA
#define CHANNELS(X) ROWS_12(X, 1) ROWS_6(X, 2) ROWS_4(X, 3)
#define PREFETCHING(X) ROWS_6(X, 2) ROWS_4(X, 3)
#else
#define CHANNELS(X) ROWS_12(X, 1) ROWS_6(X, 2)
#define PREFETCHING(X) ROWS_6(X, 2)
#endif
#define POOLED(X) X(1, 4) X(1, 8) X(1, 12) X(2, 4) POOLED_MORE(X)
#if VECTOR_REGISTERS == 32
#define POOLED_MORE(X) X(2, 8) X(3, 4) X(3, 8)
#elif VECTOR_HAS_FMA
#define POOLED_MORE(X) X(3, 4)
#else
#define POOLED_MORE(X)
#endif
/* clang-format on */

#define DEFINE_CHANNELS(vectors, rows)                                                             \
    static void channels_##vectors##_##rows(const struct igemm_channels_args *args)                \
    {                                                                                              \
        run_channels(args, rows, vectors, false, false, false);                                    \
    }
CHANNELS(DEFINE_CHANNELS)

#define DEFINE_POOLED(vectors, rows)                                                               \
    static void pooled_##vectors##_##rows(const struct igemm_channels_args *args)                  \
    {                                                                                              \
        run_channels(args, rows, vectors, false, false, true);                                     \
    }
POOLED(DEFINE_POOLED)

/* Prefetch instructions take 2 to 8 % of the time, so only the functions for large matrices
 * prefetch. */
#define DEFINE_PREFETCHING(vectors, rows)                                                          \
    static void prefetching_##vectors##_##rows(const struct igemm_channels_args *args)             \
    {                                                                                              \
        run_channels(args, rows, vectors, false, true, false);                                     \
    }
PREFETCHING(DEFINE_PREFETCHING)

ALWAYS_INLINE void run_width_3(const struct igemm_channels_args *args, size_t mr, size_t stride,
                               bool are_pairs)
{
    vec sums[IGEMM_MAX_MR][IGEMM_MAX_VECTORS];
    add_width_3(args, mr, stride, are_pairs, sums);
    store_channels(args, mr, 1, sums);
}

#define DEFINE_WIDTH_3(stride, rows)                                                               \
    static void width_3_##stride##_##rows(const struct igemm_channels_args *args)                  \
    {                                                                                              \
        run_width_3(args, rows, stride, false);                                                    \
    }
ROWS_12(DEFINE_WIDTH_3, 1)
ROWS_12(DEFINE_WIDTH_3, 2)

#ifdef VECTOR_HAS_BF16
#define DEFINE_PAIRS(vectors, rows)                                                                \
    static void pairs_##vectors##_##rows(const struct igemm_channels_args *args)                   \
    {                                                                                              \
        run_channels(args, rows, vectors, true, false, false);                                     \
    }
CHANNELS(DEFINE_PAIRS)

#define DEFINE_PAIRS_POOLED(vectors, rows)                                                         \
    static void pairs_pooled_##vectors##_##rows(const struct igemm_channels_args *args)            \
    {                                                                                              \
        run_channels(args, rows, vectors, true, false, true);                                      \
    }
POOLED(DEFINE_PAIRS_POOLED)

#define DEFINE_PAIRS_WIDTH_3(stride, rows)                                                         \
    static void pairs_width_3_##stride##_##rows(const struct igemm_channels_args *args)            \
    {                                                                                              \
        run_width_3(args, rows, stride, true);                                                     \
    }
ROWS_12(DEFINE_PAIRS_WIDTH_3, 1)
ROWS_12(DEFINE_PAIRS_WIDTH_3, 2)
#endif

#define CHANNELS_ENTRY(vectors, rows) [vectors][rows] = channels_##vectors##_##rows,
#define PREFETCHING_ENTRY(vectors, rows) [vectors][rows] = prefetching_##vectors##_##rows,
#define POOLED_ENTRY(vectors, rows) [vectors][rows] = pooled_##vectors##_##rows,
#define WIDTH_3_ENTRY(stride, rows) [stride][rows] = width_3_##stride##_##rows,
#define PAIRS_ENTRY(vectors, rows) [vectors][rows] = pairs_##vectors##_##rows,
#define PAIRS_POOLED_ENTRY(vectors, rows) [vectors][rows] = pairs_pooled_##vectors##_##rows,
#define PAIRS_WIDTH_3_ENTRY(stride, rows) [stride][rows] = pairs_width_3_##stride##_##rows,
#define UNMASKED_ENTRY(rows, vectors) [rows] = unmasked_##rows,
#define MASKED_ENTRY(rows, vectors) [rows] = masked_##rows,
#define MASKED_LOADS_ENTRY(rows, vectors) [rows] = masked_loads_##rows,
#define NR_ENTRY(rows, vectors) [rows] = (vectors)*VECTOR_LANES,

const struct igemm_microkernels LEVEL_NAME(igemm_f32, LEVEL) = {
    .run = {{MICROKERNELS(UNMASKED_ENTRY)},
            {MICROKERNELS(MASKED_ENTRY)},
            {MICROKERNELS(MASKED_LOADS_ENTRY)}},
    .nr = {MICROKERNELS(NR_ENTRY)},
    .channels = {CHANNELS(CHANNELS_ENTRY)},
    .prefetching = {PREFETCHING(PREFETCHING_ENTRY)},
    .pooled = {POOLED(POOLED_ENTRY)},
    .width_3 = {ROWS_12(WIDTH_3_ENTRY, 1) ROWS_12(WIDTH_3_ENTRY, 2)},
#ifdef VECTOR_HAS_BF16
    .pairs = {.channels = {CHANNELS(PAIRS_ENTRY)},
              .pooled = {POOLED(PAIRS_POOLED_ENTRY)},
              .width_3 = {ROWS_12(PAIRS_WIDTH_3_ENTRY, 1) ROWS_12(PAIRS_WIDTH_3_ENTRY, 2)},
              .round = vec_round_pairs,
              .round_rows = vec_round_rows,
              .round_planes = vec_round_planes,
#ifdef VECTOR_HAS_TILES
              .tiles = {{NULL, tiles_1, tiles_2, tiles_3}, tiles_end}
#endif
    },
#endif
    .winograd_input = winograd_input,
    .winograd_output = winograd_output,
    .lanes = VECTOR_LANES,
#ifdef VECTOR_HAS_TILES
    /* Cores with AMX multiply two 512-bit vectors per cycle, but do not load and store twice as
     * fast. So broadcast inputs and Winograd's elements, which are in L2, cost relatively more. */
    .costs = {1.4, 160, 10},
#else
    .costs = {1.05, 40, 5},
#endif
    .half_width = HALF_WIDTH_OF(igemm_f32),
    .transpose = LEVEL_NAME(transpose_f32, VECTOR_LEVEL),
};
