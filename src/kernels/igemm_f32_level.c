/* The micro-kernels of igemm_f32.h for every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#define MAX_VECTORS 8

/* The mask bits of vector v. */
ALWAYS_INLINE unsigned lane_bits(const unsigned char *mask, size_t v)
{
    size_t first = v * VECTOR_LANES;
    unsigned lanes = mask[first / 8];
    if (VECTOR_LANES > 8)
        lanes |= (unsigned)mask[first / 8 + 1] << 8;
    return lanes >> first % 8 & ((1U << VECTOR_LANES) - 1);
}

/* Vector v of a row of B. Masked elements may be before the memory of B. */
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

/* All callers pass constants for mr, n_vectors and masking. */
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
            vec weight = vec_set1(a[r]);
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

/* Of the registers mr * vectors are sums, B takes as many as there are vectors, and A one; nr is a
 * multiple of 8. */
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

#define UNMASKED_ENTRY(rows, vectors) [rows] = unmasked_##rows,
#define MASKED_ENTRY(rows, vectors) [rows] = masked_##rows,
#define MASKED_LOADS_ENTRY(rows, vectors) [rows] = masked_loads_##rows,
#define NR_ENTRY(rows, vectors) [rows] = (vectors)*VECTOR_LANES,

const struct igemm_microkernels LEVEL_NAME(igemm_f32, LEVEL) = {
    .run = {{MICROKERNELS(UNMASKED_ENTRY)},
            {MICROKERNELS(MASKED_ENTRY)},
            {MICROKERNELS(MASKED_LOADS_ENTRY)}},
    .nr = {MICROKERNELS(NR_ENTRY)},
};
