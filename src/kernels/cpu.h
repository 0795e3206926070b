/* The SIMD levels of levels.def: lists the levels of this build, and detects which of them the CPU
 * supports.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_CPU_H
#define IRRUN_KERNELS_CPU_H

#include <stdbool.h>

/* IF_<architecture>(text) is the text in builds for that architecture, otherwise nothing. */
#define IF_any(...) __VA_ARGS__
#if defined(__x86_64__)
#define IF_x86_64(...) __VA_ARGS__
#else
#define IF_x86_64(...)
#endif
#if defined(COMPILER_HAS_AMX)
#define IF_x86_amx(...) __VA_ARGS__
#else
#define IF_x86_amx(...)
#endif
#if defined(__aarch64__)
#define IF_aarch64(...) __VA_ARGS__
#else
#define IF_aarch64(...)
#endif

/* The levels of this build, in ascending order. */
enum simd {
#define SIMD_LEVEL(id, name, architecture, ...) IF_##architecture(SIMD_##id, )
#include "kernels/levels.def"
    N_SIMD
};

/* Returns the name of a level: "scalar", "sse4.1", … */
const char *simd_name(enum simd simd);

/* Returns whether the CPU has the level and the operating system saves its registers. Queries the
 * CPU once per process, because under a hypervisor every CPUID costs microseconds. */
bool simd_is_supported(enum simd simd);

/* Returns the highest level that is supported. */
enum simd simd_best(void);

#endif
