/* Finds a level by name, and fills struct kernels with the kernels of that level. A level that the
 * CPU or the build lacks is an error, not replaced by a lower level.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "kernels/blas.h"
#include "kernels/kernels.h"

#define FAMILY_NAME(family, type, level) #family,
const char *const kernel_families[] = {KERNEL_FAMILIES(FAMILY_NAME, , , )};
const size_t n_kernel_families = sizeof kernel_families / sizeof kernel_families[0];

static bool hint_levels(struct irrun_error *err)
{
    char names[128] = "";
    size_t length = 0;
    for (int i = 0; i < N_SIMD && length < sizeof names; i++)
        if (simd_is_supported((enum simd)i))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       length > 0 ? ", " : "", simd_name((enum simd)i));
    return fail_hint(err, "the levels available here are %s", names);
}

bool kernels_level(const char *name, enum simd *level, struct irrun_error *err)
{
    *level = simd_best();
    if (!name || strcmp(name, "auto") == 0)
        return true;
    for (int i = 0; i < N_SIMD; i++) {
        if (strcmp(name, simd_name((enum simd)i)) != 0)
            continue;
        *level = (enum simd)i;
        if (simd_is_supported(*level))
            return true;
        fail(err, IRRUN_USAGE, "this machine lacks %s", name);
        return hint_levels(err);
    }
    fail(err, IRRUN_USAGE, "unknown SIMD level '%s'", name);
    return hint_levels(err);
}

void kernels_fill(struct kernels *kernels, enum simd simd)
{
#define KERNEL_OF(family, type, level) .family = &family##_##level,
#define SIMD_LEVEL(id, name, architecture, vectors, bytes, floats, flags, test)                    \
    IF_##architecture(                                                                             \
        [SIMD_##id] = {.simd = SIMD_##id, KERNEL_FAMILIES(KERNEL_OF, vectors, bytes, floats)}, )
    static const struct kernels levels[N_SIMD] = {
#include "kernels/levels.def"
    };
    *kernels = levels[simd];
}

bool kernels_choose(struct kernels *kernels, enum irrun_gemm gemm, const char *simd,
                    struct irrun_error *err)
{
    enum simd level;
    if (!kernels_level(simd, &level, err))
        return false;
    kernels_fill(kernels, level);
    kernels->gemm = gemm;
    return gemm != IRRUN_GEMM_CBLAS || blas_load(err);
}
