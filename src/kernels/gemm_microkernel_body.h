/* The micro-kernels of packed_gemm.h, for vectors of any length. Include vector_<level>.h first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/packed_gemm.h"

#ifndef VECTOR_LANES
#error "include kernels/level.h first"
#endif

ALWAYS_INLINE vec load_weights(const unsigned char *at, bool is_f16)
{
#ifdef VECTOR_HAS_F16
    if (is_f16)
        return vec_load_f16(at);
#endif
    (void)is_f16;
    return vec_load((const float *)(const void *)at);
}

/* The minimum number of rows for which prefetching saves more time than it takes. */
#define PREFETCH_MIN_ROWS 4

ALWAYS_INLINE void prefetch_weights(const unsigned char *weights, size_t n_bytes, size_t ahead)
{
    UNROLL
    for (size_t i = 0; i < n_bytes; i += 64)
        __builtin_prefetch((const void *)((uintptr_t)weights + ahead + i), 0, 2);
}

#define MAX_VECTORS (PANEL_MAX_WIDTH * PANEL_GROUP / VECTOR_LANES)

/* The number of rows that share a base address: an x86-64 load can add 0, 1 or 2 strides to it.
 * With one base address for all rows, gcc computes the remaining addresses for each k, on the ports
 * that the FMAs need. */
#define ROWS_PER_ADDRESS 3
#define MAX_ADDRESSES ((GEMM_MAX_MR + ROWS_PER_ADDRESS - 1) / ROWS_PER_ADDRESS)

/* Adds the products of one k. This function keeps the elements of A for all rows in registers;
 * add_by_rows keeps all weights. */
ALWAYS_INLINE void add_by_vectors(vec sums[][MAX_VECTORS], const float *const a[], size_t lda,
                                  const unsigned char *weights, size_t mr, size_t n_vectors,
                                  bool is_f16)
{
    size_t vector_bytes = VECTOR_LANES * (is_f16 ? sizeof(uint16_t) : sizeof(float));
    vec inputs[GEMM_MAX_MR];
    UNROLL
    for (size_t r = 0; r < mr; r++)
        inputs[r] = vec_set1_at(a[r / ROWS_PER_ADDRESS] + r % ROWS_PER_ADDRESS * lda);
    UNROLL
    for (size_t v = 0; v < n_vectors; v++) {
        vec w = load_weights(weights + v * vector_bytes, is_f16);
        UNROLL
        for (size_t r = 0; r < mr; r++)
            sums[r][v] = vec_fma(inputs[r], w, sums[r][v]);
    }
}

ALWAYS_INLINE void add_by_rows(vec sums[][MAX_VECTORS], const float *const a[], size_t lda,
                               const unsigned char *weights, size_t mr, size_t n_vectors,
                               bool is_f16)
{
    size_t vector_bytes = VECTOR_LANES * (is_f16 ? sizeof(uint16_t) : sizeof(float));
    vec w[MAX_VECTORS];
    UNROLL
    for (size_t v = 0; v < n_vectors; v++)
        w[v] = load_weights(weights + v * vector_bytes, is_f16);
    UNROLL
    for (size_t r = 0; r < mr; r++) {
        vec input = vec_set1_at(a[r / ROWS_PER_ADDRESS] + r % ROWS_PER_ADDRESS * lda);
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            sums[r][v] = vec_fma(input, w[v], sums[r][v]);
    }
}

/* Reads *args before it writes C: for the compiler they may overlap. */
ALWAYS_INLINE void store_sums(const struct gemm_args *args, vec sums[][MAX_VECTORS], size_t mr,
                              size_t n_vectors)
{
    const size_t ld_add = args->ld_add, ldc = args->ldc;
    const float *add = args->add;
    float *c = args->c;
    UNROLL
    for (size_t r = 0; r < mr; r++, add += ld_add, c += ldc) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            vec_store(c + v * VECTOR_LANES, vec_add(vec_load(add + v * VECTOR_LANES), sums[r][v]));
    }
}

/* Computes a tile. mr and n_vectors are constants in all calls, so that the sums stay in
 * registers. */
ALWAYS_INLINE void run_gemm(const struct gemm_args *args, size_t mr, size_t n_vectors, bool is_f16)
{
    vec sums[GEMM_MAX_MR][MAX_VECTORS];
    size_t element_bytes = is_f16 ? sizeof(uint16_t) : sizeof(float);
    const size_t n_addresses = (mr + ROWS_PER_ADDRESS - 1) / ROWS_PER_ADDRESS;
    const unsigned char *weights = args->b;
    const float *a[MAX_ADDRESSES];

    UNROLL
    for (size_t i = 0; i < n_addresses; i++) {
        a[i] = args->a + i * ROWS_PER_ADDRESS * args->lda;
        __asm__("" : "+r"(a[i]));
    }
    UNROLL
    for (size_t r = 0; r < mr; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            sums[r][v] = vec_zero();
    }
    for (size_t k = 0; k < args->k; k++) {
        if (mr >= PREFETCH_MIN_ROWS && args->ahead > 0)
            prefetch_weights(weights, n_vectors * VECTOR_LANES * element_bytes, args->ahead);
        if (mr <= n_vectors)
            add_by_vectors(sums, a, args->lda, weights, mr, n_vectors, is_f16);
        else
            add_by_rows(sums, a, args->lda, weights, mr, n_vectors, is_f16);
        weights += n_vectors * VECTOR_LANES * element_bytes;
        UNROLL
        for (size_t i = 0; i < n_addresses; i++)
            a[i]++;
    }
    store_sums(args, sums, mr, n_vectors);
}

#ifdef VECTOR_HAS_BF16
/* Computes a tile with bf16 operands. Adds a pair of products to each sum at a time. */
ALWAYS_INLINE void run_gemm_bf16(const struct gemm_args *args, size_t mr, size_t n_vectors)
{
    vec sums[GEMM_MAX_MR][MAX_VECTORS];
    const unsigned char *weights = args->b;
    const bf16_pair *a = (const void *)args->a;
    size_t n_pairs = args->k / 2 + args->k % 2, step_bytes = n_vectors * sizeof(vec);

    UNROLL
    for (size_t r = 0; r < mr; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            sums[r][v] = vec_zero();
    }
    for (size_t k = 0; k < n_pairs; k++) {
        if (mr >= PREFETCH_MIN_ROWS && args->ahead > 0)
            prefetch_weights(weights, step_bytes, args->ahead);
        UNROLL
        for (size_t v = 0; v < n_vectors; v++) {
            vec w = vec_load((const float *)(const void *)(weights + v * sizeof(vec)));
            UNROLL
            for (size_t r = 0; r < mr; r++)
                sums[r][v] = vec_dot_pairs(sums[r][v], w, a[r * args->lda + k]);
        }
        weights += step_bytes;
    }
    store_sums(args, sums, mr, n_vectors);
}
#endif

#ifdef VECTOR_HAS_TILES
/* Computes n_groups groups of columns for at most 16 rows. If the last terms do not fill a tile,
 * the rest of A is copied and padded with zeros, as the packed weights are. */
ALWAYS_INLINE void run_gemm_tiles(const struct gemm_args *args, size_t n_groups)
{
    const size_t n_pairs = args->k / 2 + args->k % 2, rows = args->rows;
    vec last[TILE_ROWS];
    struct tile_terms terms = {
        .inputs_bytes = args->lda * sizeof(float),
        .weights = args->b,
        .weights_bytes = sizeof(vec),
        .next_bytes = args->b_group_bytes,
    };

    tiles_prepare(rows, TILE_PAIRS);
    tiles_load(args->add, args->ld_add * sizeof(float), TILE_SUMS, n_groups);
    for (size_t k = 0; k < n_pairs; k += TILE_PAIRS) {
        terms.inputs = args->a + k;
        if (n_pairs - k < TILE_PAIRS) {
            for (size_t r = 0; r < rows; r++)
                last[r] = vec_load_first(args->a + r * args->lda + k, n_pairs - k);
            terms.inputs = last;
            terms.inputs_bytes = sizeof(vec);
        }
        tiles_multiply(TILE_BF16, &terms, n_groups, TILE_PAIRS);
        terms.weights += TILE_PAIRS * sizeof(vec);
    }
    tiles_store(args->c, args->ldc * sizeof(float), TILE_SUMS, n_groups);
}

#define AMX(n_groups)                                                                              \
    static void amx_##n_groups(const struct gemm_args *args)                                       \
    {                                                                                              \
        run_gemm_tiles(args, n_groups);                                                            \
    }
AMX(1)
AMX(2)
AMX(3)
AMX(4)
AMX(5)
AMX(6)
#endif

/* ---- the table ---- */

#define TILE(nr_groups, rows)                                                                      \
    static void tile_f32_##nr_groups##_##rows(const struct gemm_args *args)                        \
    {                                                                                              \
        run_gemm(args, rows, (nr_groups)*PANEL_GROUP / VECTOR_LANES, false);                       \
    }                                                                                              \
    TILE_F16(nr_groups, rows)                                                                      \
    TILE_BF16(nr_groups, rows)

#ifdef VECTOR_HAS_F16
#define TILE_F16(nr_groups, rows)                                                                  \
    static void tile_f16_##nr_groups##_##rows(const struct gemm_args *args)                        \
    {                                                                                              \
        run_gemm(args, rows, (nr_groups)*PANEL_GROUP / VECTOR_LANES, true);                        \
    }
#else
#define TILE_F16(nr_groups, rows)
#endif

#ifdef VECTOR_HAS_BF16
#define TILE_BF16(nr_groups, rows)                                                                 \
    static void tile_bf16_##nr_groups##_##rows(const struct gemm_args *args)                       \
    {                                                                                              \
        run_gemm_bf16(args, rows, (nr_groups)*PANEL_GROUP / VECTOR_LANES);                         \
    }
#else
#define TILE_BF16(nr_groups, rows)
#endif
