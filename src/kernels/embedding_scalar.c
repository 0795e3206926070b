/* Plain loops over rows of a table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/embedding.h"

/* Added in W, which wraps for integers; divided in D. */
#define LOOPS(T, W, D, suffix)                                                                     \
    static void add_##suffix(void *sum, const void *row, const void *weight, size_t n)             \
    {                                                                                              \
        T *to = sum;                                                                               \
        const T *from = row;                                                                       \
        W factor = weight ? (W) * (const T *)weight : 1;                                           \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = (T)((W)to[i] + (W)from[i] * factor);                                           \
    }                                                                                              \
    static void divide_##suffix(void *sum, size_t count, size_t n)                                 \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            ((T *)sum)[i] = (T)((D)((T *)sum)[i] / (D)count);                                      \
    }

LOOPS(float, float, float, f32)
LOOPS(double, double, double, f64)
LOOPS(int8_t, uint32_t, int64_t, i8)
LOOPS(int16_t, uint32_t, int64_t, i16)
LOOPS(int32_t, uint32_t, int64_t, i32)
LOOPS(int64_t, uint64_t, int64_t, i64)
LOOPS(uint8_t, uint32_t, uint64_t, u8)
LOOPS(uint16_t, uint32_t, uint64_t, u16)
LOOPS(uint32_t, uint32_t, uint64_t, u32)
LOOPS(uint64_t, uint64_t, uint64_t, u64)

#define FNS(suffix)                                                                                \
    {                                                                                              \
        add_##suffix, divide_##suffix                                                              \
    }

struct embedding_fns embedding_scalar(enum irrun_dtype dtype)
{
    static const struct embedding_fns fns[IRRUN_N_DTYPES] = {
        [IRRUN_F32] = FNS(f32), [IRRUN_F64] = FNS(f64), [IRRUN_I8] = FNS(i8),
        [IRRUN_I16] = FNS(i16), [IRRUN_I32] = FNS(i32), [IRRUN_I64] = FNS(i64),
        [IRRUN_U8] = FNS(u8),   [IRRUN_U16] = FNS(u16), [IRRUN_U32] = FNS(u32),
        [IRRUN_U64] = FNS(u64),
    };
    return fns[dtype];
}
