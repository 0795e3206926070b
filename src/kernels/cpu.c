/* Detects the SIMD levels that the CPU and the operating system support: on x86-64 by CPUID and
 * XGETBV.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cpu.h"

#include <pthread.h>
#include <stdint.h>

#include "kernels/tiles.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bits of CPUID, leaf 1, register C. */
#define BIT_SSE41 (1U << 19)
#define BIT_FMA (1U << 12)
#define BIT_POPCNT (1U << 23)
#define BIT_OSXSAVE (1U << 27)
#define BIT_AVX (1U << 28)
#define BIT_F16C (1U << 29)
#define BITS_AVX_FMA_F16C (BIT_OSXSAVE | BIT_AVX | BIT_POPCNT | BIT_FMA | BIT_F16C)
/* Leaf 7, register B. */
#define BIT_AVX2 (1U << 5)
#define BIT_AVX512F (1U << 16)
#define BIT_AVX512DQ (1U << 17)
#define BIT_AVX512BW (1U << 30)
#define BIT_AVX512VL (1U << 31)
#define BITS_AVX512 (BIT_AVX512F | BIT_AVX512DQ | BIT_AVX512BW | BIT_AVX512VL)
/* Leaf 7, register C. */
#define BIT_AVX512_VNNI (1U << 11)
/* Leaf 7, register D. */
#define BITS_AMX (1U << 22 | 1U << 24 | 1U << 25) /* AMX-BF16, AMX-TILE, AMX-INT8 */
/* Leaf 7, subleaf 1, register A. */
#define BIT_AVX512_BF16 (1U << 5)
/* Register XCR0: the registers that the operating system saves on a context switch. */
#define STATE_YMM 0x06U      /* xmm and the upper halves of ymm */
#define STATE_ZMM 0xE6U      /* … and masks, the upper halves of zmm, zmm16 to zmm31 */
#define STATE_TILES 0x60000U /* tile configuration and tile data */

static bool has_all(unsigned bits, unsigned wanted)
{
    return (bits & wanted) == wanted;
}

static struct {
    unsigned leaf_1c, leaf_7b, leaf_7c, leaf_7d, leaf_7_1a, state;
} cpu;

static void query_cpu(void)
{
    unsigned a, b, c, d, last_leaf, last_subleaf = 0, high;
    __cpuid(0, last_leaf, b, c, d);
    __cpuid(1, a, b, cpu.leaf_1c, d);
    if (last_leaf >= 7)
        __cpuid_count(7, 0, last_subleaf, cpu.leaf_7b, cpu.leaf_7c, cpu.leaf_7d);
    if (last_subleaf >= 1)
        __cpuid_count(7, 1, cpu.leaf_7_1a, b, c, d);
    if (has_all(cpu.leaf_1c, BIT_OSXSAVE))
        __asm__("xgetbv" : "=a"(cpu.state), "=d"(high) : "c"(0));
}

static bool cpu_has(unsigned leaf_1c, unsigned leaf_7b, unsigned state)
{
    return has_all(cpu.leaf_1c, leaf_1c) && has_all(cpu.leaf_7b, leaf_7b) &&
           has_all(cpu.state, state);
}

static bool cpu_has_vnni(void)
{
    return has_all(cpu.leaf_7c, BIT_AVX512_VNNI);
}

static bool cpu_has_bf16(void)
{
    return has_all(cpu.leaf_7_1a, BIT_AVX512_BF16);
}

#ifdef COMPILER_HAS_AMX
/* ARCH_GET_XCOMP_SUPP and ARCH_REQ_XCOMP_PERM; headers before Linux 5.16 do not define them. */
#define GET_SUPPORTED 0x1021
#define REQUEST_PERMISSION 0x1023
#define TILE_DATA 18 /* bit number of tile data in XCR0 */

static bool cpu_has_amx(void)
{
    return has_all(cpu.leaf_7d, BITS_AMX);
}

static bool system_has_tiles(void)
{
    uint64_t supported = 0;
    return syscall(SYS_arch_prctl, GET_SUPPORTED, &supported) == 0 && supported >> TILE_DATA & 1;
}

_Thread_local struct tiles_configured tiles_configured;

static bool is_permitted;

static void request_permission(void)
{
    is_permitted = syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

bool tiles_request(tiles_end_fn *end)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (end)
        pthread_once(&once, request_permission);
    return end && is_permitted;
}
#endif
#else
static void query_cpu(void)
{
}
#endif

#ifndef COMPILER_HAS_AMX
bool tiles_request(tiles_end_fn *end)
{
    (void)end;
    return false;
}
#endif

static bool is_supported[N_SIMD];

static void detect_levels(void)
{
    query_cpu();
#define SIMD_LEVEL(id, name, architecture, vectors, bytes, floats, flags, test)                    \
    IF_##architecture(is_supported[SIMD_##id] = test;)
#include "kernels/levels.def"
}

bool simd_is_supported(enum simd simd)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, detect_levels);
    return is_supported[simd];
}

enum simd simd_best(void)
{
    int simd = N_SIMD - 1;
    while (!simd_is_supported((enum simd)simd))
        simd--;
    return (enum simd)simd;
}

const char *simd_name(enum simd simd)
{
    static const char *const names[] = {
#define SIMD_LEVEL(id, name, architecture, ...) IF_##architecture(name, )
#include "kernels/levels.def"
    };
    return names[simd];
}
