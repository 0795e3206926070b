/* Implements the public API that describes the build and its libraries: ops, kernels, types,
 * versions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "ir/xml_reader.h"
#include "irrun.h"
#include "kernels/blas.h"
#include "kernels/cpu.h"
#include "kernels/kernels.h"
#include "ops/op.h"

bool irrun_supported_op(size_t index, struct irrun_supported_op *op)
{
    if (index >= n_op_defs)
        return false;
    const struct op_def *def = op_def_sorted(index);
    *op = (struct irrun_supported_op){
        .type = def->type,
        .opset_first = def->opset,
        .opset_last = def->opset_last ? def->opset_last : OPSET_LAST,
        .types = op_types(def),
    };
    return true;
}

const char *irrun_kernel_family(size_t index)
{
    return index < n_kernel_families ? kernel_families[index] : NULL;
}

const char *irrun_simd_level(size_t index)
{
    return index < N_SIMD ? simd_name((enum simd)index) : NULL;
}

const char *irrun_simd_used(const char *simd, struct irrun_error *err)
{
    enum simd level;
    error_clear(err);
    return kernels_level(simd, &level, err) ? simd_name(level) : NULL;
}

static struct irrun_build build; /* set once */

static void describe_build(void)
{
#ifdef __clang__
    build.compiler = "clang " __clang_version__;
#else
    build.compiler = "gcc " __VERSION__;
#endif
    build.blas = blas_identity();
    build.expat = xml_library_version();
}

const struct irrun_build *irrun_build(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, describe_build);
    return &build;
}

const char *irrun_version(void)
{
    return IRRUN_VERSION;
}

void irrun_hold_blas_to_one_thread(void)
{
    blas_limit_to_one_thread();
}
