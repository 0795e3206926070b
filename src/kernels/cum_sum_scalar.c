/* Plain loops of the running sums: of a dense line, or of some neighbours at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cum_sum.h"

#define LANES 32 /* sums held at a time */

/* A is the type of the sums. Integers are added as unsigned ones: those wrap. */
#define LOOP(T, A, suffix)                                                                         \
    static void sum_line_##suffix(const T *from, T *to, size_t n, bool is_exclusive,               \
                                  bool is_reverse)                                                 \
    {                                                                                              \
        A sum = 0;                                                                                 \
        for (size_t i = 0; i < n; i++) {                                                           \
            size_t at = is_reverse ? n - 1 - i : i;                                                \
            A before = sum;                                                                        \
            sum = (A)(sum + (A)from[at]);                                                          \
            to[at] = (T)(is_exclusive ? before : sum);                                             \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void sum_##suffix(const void *in, void *out, size_t n, size_t n_inner,                  \
                             bool is_exclusive, bool is_reverse)                                   \
    {                                                                                              \
        const T *from = in;                                                                        \
        T *to = out;                                                                               \
        if (n_inner == 1) {                                                                        \
            sum_line_##suffix(from, to, n, is_exclusive, is_reverse);                              \
            return;                                                                                \
        }                                                                                          \
        for (size_t first = 0; first < n_inner; first += LANES) {                                  \
            size_t n_lanes = n_inner - first < LANES ? n_inner - first : LANES;                    \
            A sums[LANES] = {0};                                                                   \
            for (size_t i = 0; i < n; i++) {                                                       \
                size_t row = (is_reverse ? n - 1 - i : i) * n_inner + first;                       \
                for (size_t j = 0; j < n_lanes; j++) {                                             \
                    A before = sums[j];                                                            \
                    sums[j] = (A)(before + (A)from[row + j]);                                      \
                    to[row + j] = (T)(is_exclusive ? before : sums[j]);                            \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

LOOP(float, double, f32)
LOOP(double, double, f64)
LOOP(uint8_t, uint8_t, u8)
LOOP(uint16_t, uint16_t, u16)
LOOP(uint32_t, uint32_t, u32)
LOOP(uint64_t, uint64_t, u64)

cum_sum_fn *cum_sum_scalar(enum irrun_dtype dtype)
{
    static cum_sum_fn *const loops[IRRUN_N_DTYPES] = {
        [IRRUN_F32] = sum_f32, [IRRUN_F64] = sum_f64, [IRRUN_I8] = sum_u8, [IRRUN_I16] = sum_u16,
        [IRRUN_I32] = sum_u32, [IRRUN_I64] = sum_u64, [IRRUN_U8] = sum_u8, [IRRUN_U16] = sum_u16,
        [IRRUN_U32] = sum_u32, [IRRUN_U64] = sum_u64,
    };
    return loops[dtype];
}
