/* Tells a BLAS by the symbols it brings and the file it lies in; never by its speed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/blas_identity.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *symbol, *name;
} blas_marks[] = {
    {"openblas_get_config", "OpenBLAS"},
    {"bli_info_get_version_str", "BLIS"},
    {"MKL_Get_Version", "MKL"},
    {"ATL_buildinfo", "ATLAS"},
};

char *blas_identity(char *text, size_t size_bytes)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    void *product = program ? dlsym(program, "cblas_sgemm") : NULL;
    Dl_info info;
    const char *name = "reference";
    for (size_t i = 0; program && i < sizeof blas_marks / sizeof blas_marks[0]; i++)
        if (dlsym(program, blas_marks[i].symbol))
            name = blas_marks[i].name;
    if (!product || dladdr(product, &info) == 0 || !info.dli_fname) {
        snprintf(text, size_bytes, "unknown");
    } else {
        char *path = realpath(info.dli_fname, NULL);
        const char *file = path ? path : info.dli_fname;
        const char *slash = strrchr(file, '/');
        snprintf(text, size_bytes, "%s (%s)", name, slash ? slash + 1 : file);
        free(path);
    }
    if (program)
        dlclose(program);
    return text;
}
