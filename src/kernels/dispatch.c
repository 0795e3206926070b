/* Fills struct kernels from kernels.def for a level. A level that is lacking is refused, never
 * replaced.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/blas.h"
#include "kernels/cpu.h"
#include "kernels/kernels.h"

const struct kernel_row kernel_rows[] = {
#define KERNEL(family, level) IF_BUILT_##level({#family, SIMD_##level}, )
#include "kernels/kernels.def"
};
const size_t n_kernel_rows = sizeof kernel_rows / sizeof kernel_rows[0];

const char *const kernel_families[] = {
#define FAMILY(family, type) #family,
#include "kernels/kernels.def"
};
const size_t n_kernel_families = sizeof kernel_families / sizeof kernel_families[0];

bool kernels_level(enum irrun_simd simd, enum irrun_simd *level, struct irrun_error *err)
{
    enum irrun_simd cpu = cpu_simd(), built = IRRUN_SIMD_SCALAR;
    IF_BUILT_X86(built = IRRUN_SIMD_AVX512;)
    enum irrun_simd best = cpu < built ? cpu : built;
    *level = simd == IRRUN_SIMD_AUTO ? best : simd;
    if (simd <= best)
        return true;
    fail(err, IRRUN_USAGE, "%s lacks %s", simd > built ? "this build" : "this CPU",
         simd_name(simd));
    return fail_hint(err, "the highest level here is %s", simd_name(best));
}

void kernels_fill(struct kernels *kernels, enum irrun_simd simd)
{
    memset(kernels, 0, sizeof *kernels);
    kernels->simd = simd;
#define KERNEL(family, level)                                                                      \
    IF_BUILT_##level(if (simd >= SIMD_##level) kernels->family = &family##_##level;)
#include "kernels/kernels.def"
}

bool kernels_choose(struct kernels *kernels, enum irrun_gemm gemm, enum irrun_simd simd,
                    struct irrun_error *err)
{
    enum irrun_simd level;
    if (!kernels_level(simd, &level, err))
        return false;
    kernels_fill(kernels, level);
    kernels->gemm = gemm;
    return gemm != IRRUN_GEMM_CBLAS || blas_load(err);
}
