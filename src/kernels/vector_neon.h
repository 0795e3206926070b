/* The vector functions of the kernels for NEON. vector_scalar.h specifies them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_NEON_H
#define IRRUN_KERNELS_VECTOR_NEON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/inline.h"

#ifdef __aarch64__
#include <arm_neon.h>

#define VECTOR_LANES 4
#define VECTOR_REGISTERS 32
#define VECTOR_HAS_FMA 1
#define VECTOR_HAS_F16
typedef float32x4_t vec;
typedef uint32x4_t vec_mask;
typedef uint8x16_t bits;

#include "kernels/vector_operators_body.h"

ALWAYS_INLINE vec vec_set1(float x)
{
    return vdupq_n_f32(x);
}
ALWAYS_INLINE vec vec_set1_at(const float *at)
{
    return vec_set1(*at);
}
ALWAYS_INLINE vec vec_load_f16(const void *at)
{
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(at)));
}
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return vfmaq_f32(c, a, b);
}
ALWAYS_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return vfmsq_f32(c, a, b);
}
ALWAYS_INLINE vec vec_abs(vec x)
{
    return vabsq_f32(x);
}
ALWAYS_INLINE vec vec_with_sign_of(vec magnitude, vec x)
{
    return vbslq_f32(vdupq_n_u32(UINT32_C(1) << 31), x, magnitude);
}
ALWAYS_INLINE vec vec_select(vec_mask mask, vec a, vec b)
{
    return vbslq_f32(mask, a, b);
}
/* Return b if either operand is NaN or both are zeros, unlike the fmin and fmax instructions. */
ALWAYS_INLINE vec vec_min(vec a, vec b)
{
    return vec_select(vec_less(a, b), a, b);
}
ALWAYS_INLINE vec vec_max(vec a, vec b)
{
    return vec_select(vec_greater(a, b), a, b);
}
ALWAYS_INLINE vec vec_sqrt(vec x)
{
    return vsqrtq_f32(x);
}
ALWAYS_INLINE vec vec_floor(vec x)
{
    return vrndmq_f32(x);
}
ALWAYS_INLINE vec vec_ceiling(vec x)
{
    return vrndpq_f32(x);
}
ALWAYS_INLINE vec vec_round(vec x)
{
    return vrndnq_f32(x);
}

/* Return elements 0, 2, 4 ... (vec_even) or 1, 3, 5 ... (vec_odd) of a, then those of b. */
ALWAYS_INLINE vec vec_even(vec a, vec b)
{
    return vuzp1q_f32(a, b);
}
ALWAYS_INLINE vec vec_odd(vec a, vec b)
{
    return vuzp2q_f32(a, b);
}

/* Transposes: lane i of row j becomes lane j of row i. */
ALWAYS_INLINE void vec_transpose(vec rows[VECTOR_LANES])
{
    vec a = vtrn1q_f32(rows[0], rows[1]), b = vtrn2q_f32(rows[0], rows[1]);
    vec c = vtrn1q_f32(rows[2], rows[3]), d = vtrn2q_f32(rows[2], rows[3]);
    rows[0] = vcombine_f32(vget_low_f32(a), vget_low_f32(c));
    rows[1] = vcombine_f32(vget_low_f32(b), vget_low_f32(d));
    rows[2] = vcombine_f32(vget_high_f32(a), vget_high_f32(c));
    rows[3] = vcombine_f32(vget_high_f32(b), vget_high_f32(d));
}

/* Interleaves the lanes of a and b: a0, b0, a1, b1 ... */
ALWAYS_INLINE void vec_interleave(vec a, vec b, vec to[2])
{
    to[0] = vzip1q_f32(a, b);
    to[1] = vzip2q_f32(a, b);
}

/* Stores the sum of the lanes of each of the four vectors. */
ALWAYS_INLINE void vec_store_sums(float to[4], vec a, vec b, vec c, vec d)
{
    vst1q_f32(to, vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d)));
}

ALWAYS_INLINE vec_mask mask_load_first(const void *at, size_t n)
{
    uint32_t bytes = 0;
    memcpy(&bytes, at, n);
    uint32x4_t lanes = vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(bytes))));
    return vtstq_u32(lanes, lanes);
}
ALWAYS_INLINE void mask_store_first(void *at, vec_mask mask, size_t n)
{
    uint16x4_t words = vmovn_u32(mask);
    uint8x8_t ones = vand_u8(vmovn_u16(vcombine_u16(words, words)), vdup_n_u8(1));
    uint32_t bytes = vget_lane_u32(vreinterpret_u32_u8(ones), 0);
    memcpy(at, &bytes, n);
}

/* Each lane of a and b holds two 16-bit integers. Adds both products to the lane of sum. */
ALWAYS_INLINE vec_i32 vec_i32_dot_i16(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    int16x8_t x = vreinterpretq_s16_s32((int32x4_t)a), y = vreinterpretq_s16_s32((int32x4_t)b);
    int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y)), high = vmull_high_s16(x, y);
    return sum + (vec_i32)vpaddq_s32(low, high);
}

/* Load and store one byte per lane. Stored values must be in 0 ... 255. */
ALWAYS_INLINE vec_i32 vec_i32_load_u8(const void *at)
{
    uint32_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return (vec_i32)vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(bytes))));
}
ALWAYS_INLINE void vec_i32_store_u8(void *at, vec_i32 x)
{
    uint16x4_t words = vmovn_u32((uint32x4_t)x);
    uint32_t bytes = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(words, words))), 0);
    memcpy(at, &bytes, sizeof bytes);
}

/* Returns, per element of `width` bytes, `then` if its condition (a byte) is not 0, and `other` if
 * it is 0. */
ALWAYS_INLINE bits bits_choose(const unsigned char *condition, bits then, bits other, size_t width)
{
    uint64_t few = 0;
    if (width == 1) {
        bits all = bits_load(condition);
        return vbslq_u8(vtstq_u8(all, all), then, other);
    }
    memcpy(&few, condition, sizeof(bits) / width);
    uint8x8_t bytes = vcreate_u8(few);
    int16x8_t by_2 = vmovl_s8(vreinterpret_s8_u8(vtst_u8(bytes, bytes)));
    if (width == 2)
        return vbslq_u8(vreinterpretq_u8_s16(by_2), then, other);
    int32x4_t by_4 = vmovl_s16(vget_low_s16(by_2));
    if (width == 4)
        return vbslq_u8(vreinterpretq_u8_s32(by_4), then, other);
    return vbslq_u8(vreinterpretq_u8_s64(vmovl_s32(vget_low_s32(by_4))), then, other);
}

#endif
#endif
