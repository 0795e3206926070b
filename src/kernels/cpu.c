/* Asks an x86-64 CPU by CPUID and XGETBV; any other CPU is scalar.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cpu.h"

#include <pthread.h>

static enum irrun_simd found = IRRUN_SIMD_SCALAR;

#if defined(__x86_64__)
#include <cpuid.h>

/* Bits of CPUID, leaf 1, register C. */
#define BIT_SSE41 (1U << 19)
#define BIT_FMA (1U << 12)
#define BIT_POPCNT (1U << 23)
#define BIT_OSXSAVE (1U << 27)
#define BIT_AVX (1U << 28)
#define BIT_F16C (1U << 29)
/* Leaf 7, register B. */
#define BIT_AVX2 (1U << 5)
#define BIT_AVX512F (1U << 16)
#define BIT_AVX512DQ (1U << 17)
#define BIT_AVX512BW (1U << 30)
#define BIT_AVX512VL (1U << 31)
/* Register XCR0: what the system saves. */
#define STATE_YMM 0x06U /* xmm and the upper halves of ymm */
#define STATE_ZMM 0xE6U /* … and masks, the upper halves of zmm, zmm16 to zmm31 */

static bool has_all(unsigned bits, unsigned wanted)
{
    return (bits & wanted) == wanted;
}

static unsigned saved_state(void)
{
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static void detect(void)
{
    unsigned a, b, c, d, last_leaf, leaf_1c, leaf_7b;
    __cpuid(0, last_leaf, b, c, d);
    __cpuid(1, a, b, leaf_1c, d);
    if (!has_all(leaf_1c, BIT_SSE41))
        return;
    found = IRRUN_SIMD_SSE41;
    if (last_leaf < 7 || !has_all(leaf_1c, BIT_OSXSAVE | BIT_AVX | BIT_POPCNT | BIT_FMA | BIT_F16C))
        return;
    unsigned state = saved_state();
    __cpuid_count(7, 0, a, leaf_7b, c, d);
    if (!has_all(state, STATE_YMM) || !has_all(leaf_7b, BIT_AVX2))
        return;
    found = IRRUN_SIMD_AVX2;
    if (has_all(state, STATE_ZMM) &&
        has_all(leaf_7b, BIT_AVX512F | BIT_AVX512DQ | BIT_AVX512BW | BIT_AVX512VL))
        found = IRRUN_SIMD_AVX512;
}
#else
static void detect(void)
{
}
#endif

enum irrun_simd cpu_simd(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, detect);
    return found;
}

const char *simd_name(enum irrun_simd simd)
{
    static const char *const names[] = {
        [IRRUN_SIMD_AUTO] = "auto", [IRRUN_SIMD_SCALAR] = "scalar", [IRRUN_SIMD_SSE41] = "sse4.1",
        [IRRUN_SIMD_AVX2] = "avx2", [IRRUN_SIMD_AVX512] = "avx512",
    };
    return names[simd];
}
