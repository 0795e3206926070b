/* The public API of what the build and its libraries have: ops, kernels, types, versions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <string.h>

#include "ir/xml_reader.h"
#include "irrun.h"
#include "kernels/blas.h"
#include "kernels/cpu.h"
#include "kernels/kernels.h"
#include "ops/op.h"

size_t irrun_n_supported_ops(void)
{
    return n_op_defs;
}

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

size_t irrun_n_kernels(void)
{
    return n_kernel_families;
}

bool irrun_kernel(size_t index, enum irrun_simd simd, struct irrun_kernel *kernel,
                  struct irrun_error *err)
{
    enum irrun_simd level;
    error_clear(err);
    if (index >= n_kernel_families || !kernels_level(simd, &level, err))
        return false;
    *kernel = (struct irrun_kernel){.family = kernel_families[index]};
    for (size_t i = 0; i < n_kernel_rows; i++) {
        if (strcmp(kernel_rows[i].family, kernel->family) != 0)
            continue;
        kernel->built |= 1U << kernel_rows[i].simd;
        if (kernel_rows[i].simd <= level)
            kernel->used = kernel_rows[i].simd;
    }
    return true;
}

static struct irrun_build build; /* written once */

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

const char *irrun_simd_name(enum irrun_simd simd)
{
    return simd_name(simd);
}

const char *irrun_version(void)
{
    return IRRUN_VERSION;
}

void irrun_hold_blas_to_one_thread(void)
{
    blas_hold_to_one_thread();
}
