/* What the CPU can do, in levels: each holds all below it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_CPU_H
#define IRRUN_KERNELS_CPU_H

#include "irrun.h"

/* The highest level that the CPU has and the system saves the registers of:
 *
 *   sse41   SSE4.1
 *   avx2    AVX2, FMA, F16C
 *   avx512  AVX-512 F, BW, VL, DQ
 *
 * Asks the CPU once per process: under a hypervisor every question costs microseconds. */
enum irrun_simd cpu_simd(void);

/* "auto", "scalar", "sse4.1", "avx2", "avx512". */
const char *simd_name(enum irrun_simd simd);

#endif
