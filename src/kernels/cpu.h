/* The levels of levels.def in this build, and those of the CPU.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_CPU_H
#define IRRUN_KERNELS_CPU_H

#include <stdbool.h>
#include <stddef.h>

#define IF_any(...) __VA_ARGS__
#if defined(__x86_64__)
#define IF_x86_64(...) __VA_ARGS__
#else
#define IF_x86_64(...)
#endif
#if defined(__aarch64__)
#define IF_aarch64(...) __VA_ARGS__
#else
#define IF_aarch64(...)
#endif

/* Those of this build. */
enum simd {
#define SIMD_LEVEL(id, name, architecture, flags, test) IF_##architecture(SIMD_##id, )
#include "kernels/levels.def"
    N_SIMD
};

/* "scalar", "sse4.1", … */
const char *simd_name(enum simd simd);

/* Whether the CPU has the level and the system saves its registers. Asks the CPU once per process:
 * under a hypervisor every CPUID costs microseconds. */
bool simd_is_there(enum simd simd);

/* The last level that the CPU has. */
enum simd simd_best(void);

#endif
