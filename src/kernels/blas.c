/* Loads the CBLAS library, and identifies the implementation by its symbols and its path.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/blas.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Debian's BLIS exports none of its own symbols, but its directory is named after it. */
static const struct {
    const char *symbol, *directory, *name;
    bool is_fast;
} libraries[] = {
    {"openblas_get_config", "openblas", "OpenBLAS", true},
    {"bli_info_get_version_str", "blis", "BLIS", true},
    {"MKL_Get_Version", "mkl", "MKL", true},
    {"ATL_buildinfo", "atlas", "ATLAS", false},
};
#define N_LIBRARIES (sizeof libraries / sizeof libraries[0])

/* Set once, when the library is loaded. */
static struct {
    char text[128];
    bool is_fast, is_loaded;
    void *handle; /* NULL: unknown; never closed */
    char problem[256];
} found;

static struct {
    pthread_mutex_t lock;
    bool is_ready;   /* loaded, or loading has failed */
    bool is_limited; /* whether the library may use only one thread */
} threads = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns the last two components of a path: "openblas-pthread/libblas.so.3". */
static const char *last_two_components(const char *path)
{
    const char *end = path + strlen(path);
    for (int n_slashes = 0; end > path && (end[-1] != '/' || ++n_slashes < 2);)
        end--;
    return end;
}

static const char *find_name(const char *file, bool *is_fast)
{
    for (size_t i = 0; i < N_LIBRARIES; i++) {
        if (!dlsym(found.handle, libraries[i].symbol) && !strstr(file, libraries[i].directory))
            continue;
        *is_fast = libraries[i].is_fast;
        return libraries[i].name;
    }
    return strstr(file, "/libblas.") || strstr(file, "/libcblas.") ? "reference" : "other";
}

/* Returns the address of cblas_sgemm, NULL if it cannot be loaded. */
static void *load_sgemm(void)
{
#ifdef IRRUN_BLAS_LIBRARY
    void *library = dlopen(IRRUN_BLAS_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    void *sgemm = library ? dlsym(library, "cblas_sgemm") : NULL;
    const char *problem = sgemm ? NULL : dlerror();
    if (problem)
        snprintf(found.problem, sizeof found.problem, "%s", problem);
#else
    void *library = dlopen(NULL, RTLD_LAZY);
    void *sgemm = library ? dlsym(library, "cblas_sgemm") : NULL;
#endif
    return sgemm;
}

static void identify_library(const void *sgemm)
{
    Dl_info info;
    if (!sgemm || dladdr(sgemm, &info) == 0 || !info.dli_fname)
        return;
    /* Look only at symbols of this library and its dependencies, because a second BLAS may be
     * loaded. */
    found.handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!found.handle)
        return;
    char path[PATH_MAX];
    const char *file = last_two_components(realpath(info.dli_fname, path) ? path : info.dli_fname);
    const char *name = find_name(file, &found.is_fast);
    snprintf(found.text, sizeof found.text, "%s (%s)", name, file);
}

static blas_function_fn *find_function(const char *symbol)
{
    void *address = found.handle ? dlsym(found.handle, symbol) : NULL;
    blas_function_fn *result;
    memcpy(&result, &address, sizeof result);
    return result;
}

static void set_one_thread(void)
{
    blas_function_fn *openblas = find_function("openblas_set_num_threads");
    blas_function_fn *openblas_kind = find_function("openblas_get_parallel");
    blas_function_fn *openblas_end = find_function("blas_thread_shutdown_");
    blas_function_fn *blis = find_function("bli_thread_set_num_threads");
    blas_function_fn *mkl = find_function("MKL_Set_Num_Threads");
    if (openblas)
        ((void (*)(int))openblas)(1);
    /* 1: this OpenBLAS was built with its own threads. If it uses OpenMP, the OpenMP runtime ends
     * the threads. */
    if (openblas && openblas_kind && openblas_end && ((int (*)(void))openblas_kind)() == 1)
        ((int (*)(void))openblas_end)();
    if (blis)
        ((void (*)(int64_t))blis)(1);
    if (mkl)
        ((void (*)(int))mkl)(1);
}

static void load(void)
{
    void *sgemm = load_sgemm();
    found.is_loaded = sgemm != NULL;
#ifndef IRRUN_BLAS_LIBRARY
    found.is_loaded = true; /* even if the program has no dynamic symbols */
#endif
    snprintf(found.text, sizeof found.text, found.is_loaded ? "unknown" : "none");
    identify_library(sgemm);
    pthread_mutex_lock(&threads.lock);
    if (threads.is_limited)
        set_one_thread();
    threads.is_ready = true;
    pthread_mutex_unlock(&threads.lock);
}

static void load_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
}

void blas_limit_to_one_thread(void)
{
    pthread_mutex_lock(&threads.lock);
    if (threads.is_ready && !threads.is_limited)
        set_one_thread();
    threads.is_limited = true;
    pthread_mutex_unlock(&threads.lock);
}

bool blas_load(struct irrun_error *err)
{
    load_once();
    if (found.is_loaded)
        return true;
    fail(err, IRRUN_SYSTEM, "cannot load CBLAS: %s", found.problem);
    return fail_hint(err, "install one, or choose another --gemm");
}

blas_function_fn *blas_function(const char *name)
{
    load_once();
    return find_function(name);
}

const char *blas_identity(void)
{
    load_once();
    return found.text;
}

bool blas_is_fast(void)
{
    load_once();
    return found.is_fast;
}
