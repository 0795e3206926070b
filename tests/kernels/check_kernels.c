/* Checks every family of kernels.h at every level of levels.def that this CPU has. Each family has
 * its own file.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   check_kernels [--seed=N] [--speed] [FAMILY...]
 *
 * Prints TAP; with --speed also the times. */
#include "check_kernels.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kernels/cpu.h"

/* The check of a family of kernels.h that has no row here fails. */
static const struct {
    const char *family;
    check_fn *check;
    measure_fn *measure;
    size_t parameter; /* of select: bytes of an element */
} checks[] = {
    {"select_x8", check_select, measure_select, 1},
    {"select_x16", check_select, measure_select, 2},
    {"select_x32", check_select, measure_select, 4},
    {"select_x64", check_select, measure_select, 8},
    {"packed_gemm", check_packed_gemm, measure_packed_gemm, 0},
    {"gemm_rows", check_gemm_rows, measure_gemm_rows, 0},
    {"igemm_f32", check_igemm, measure_igemm, 0},
    {"quantize", check_quantize, measure_quantize, 0},
    {"gemm_int8", check_gemm_int8, measure_gemm_int8, 0},
    {"compressed_gemm", check_compressed_gemm, measure_compressed_gemm, 0},
    {"quantized_gemm", check_quantized_gemm, measure_quantized_gemm, 0},
    {"elementwise_f32", check_elementwise, measure_elementwise, 0},
    {"softmax_f32", check_softmax, measure_softmax, 0},
    {"fused_f32", check_fused, measure_fused, 0},
    {"transpose_f32", check_transpose, measure_transpose, 0},
    {"reduce", check_reduce, measure_reduce, 0},
    {"affine", check_affine, measure_affine, 0},
    {"depthwise_f32", check_depthwise, measure_depthwise, 0},
    {"peak", check_peak, measure_peak, 0},
};

/* ---- the current trial ---- */

static char variant_name[64], description[256];
static uint64_t seed;

void trial_says(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(description, sizeof description, format, args);
    va_end(args);
}

bool trial_fail(const char *format, ...)
{
    va_list args;
    printf("# %s: %s: ", variant_name, description);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    return false;
}

/* Handles an access to a page that a kernel must not touch. */
static void report_crash(int signal_number)
{
    char text[512];
    int n = snprintf(text, sizeof text, "\n# %s: %s: signal %d (seed %" PRIu64 ")\nBail out!\n",
                     variant_name, description, signal_number, seed);
    if (n > 0 && write(STDOUT_FILENO, text, (size_t)n) == n)
        _exit(1);
    _exit(2);
}

static void catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    struct sigaction action = {.sa_handler = report_crash};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

/* ---- random numbers: splitmix64 ---- */

static uint64_t random_state;

static uint64_t random_bits(void)
{
    uint64_t z = random_state += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

uint32_t random_below(uint32_t limit)
{
    return (uint32_t)((random_bits() >> 32) * limit >> 32);
}

void random_fill(void *bytes, size_t n)
{
    unsigned char *to = bytes;
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        uint64_t bits = random_bits();
        memcpy(to + i, &bits, n - i < sizeof bits ? n - i : sizeof bits);
    }
}

float random_float(float scale)
{
    return ((float)random_below(1U << 24) / (float)(1 << 23) - 1.0F) * scale;
}

/* ---- memory between two inaccessible pages ---- */

struct guarded guarded_new(size_t n_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inner = (n_bytes + page - 1) / page * page + page;
    struct guarded guarded = {.n_bytes = inner, .mapped_bytes = inner + 2 * page};
    void *pages = mmap(NULL, guarded.mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect((char *)pages + page, inner, PROT_READ | PROT_WRITE) != 0) {
        puts("Bail out! no memory");
        exit(1);
    }
    guarded.pages = pages;
    return guarded;
}

void guarded_free(struct guarded *guarded)
{
    munmap(guarded->pages, guarded->mapped_bytes);
}

unsigned char *guarded_first(const struct guarded *guarded)
{
    return guarded->pages + (guarded->mapped_bytes - guarded->n_bytes) / 2;
}

unsigned char *guarded_last(const struct guarded *guarded, size_t n_bytes)
{
    return guarded_first(guarded) + guarded->n_bytes - n_bytes;
}

/* ---- all variants ---- */

static size_t find_check(const char *family)
{
    size_t i = 0;
    while (i < sizeof checks / sizeof checks[0] && strcmp(checks[i].family, family) != 0)
        i++;
    return i;
}

static bool try_variant(const char *family, enum simd simd, bool measures)
{
    struct kernels reference, variant;
    size_t i = find_check(family);
    description[0] = '\0';
    if (i == sizeof checks / sizeof checks[0])
        return trial_fail("no check is written for this family");
    kernels_fill(&reference, SIMD_scalar);
    kernels_fill(&variant, simd);
    struct trial trial = {&reference, &variant, checks[i].parameter};
    random_state = seed;
    if (!checks[i].check(&trial))
        return false;
    if (measures)
        checks[i].measure(&trial);
    return true;
}

static bool is_wanted(const char *family, int n_wanted, char **wanted)
{
    for (int i = 0; i < n_wanted; i++)
        if (strcmp(wanted[i], family) == 0)
            return true;
    return n_wanted == 0;
}

static bool try_all(bool measures, int n_wanted, char **wanted)
{
    size_t n = 0, n_failed = 0;
    for (size_t i = 0; i < n_kernel_families * N_SIMD; i++) {
        const char *family = kernel_families[i / N_SIMD];
        enum simd simd = (enum simd)(i % N_SIMD);
        if (!is_wanted(family, n_wanted, wanted))
            continue;
        snprintf(variant_name, sizeof variant_name, "%s %s", family, simd_name(simd));
        n++;
        if (!simd_is_supported(simd)) {
            printf("ok %zu %s # skip this CPU lacks the level\n", n, variant_name);
            continue;
        }
        bool is_good = try_variant(family, simd, measures);
        printf("%sok %zu %s\n", is_good ? "" : "not ", n, variant_name);
        fflush(stdout);
        n_failed += !is_good;
    }
    printf("1..%zu\n", n);
    if (n_failed > 0)
        printf("# %zu of %zu variants differ; repeat with --seed=%" PRIu64 "\n", n_failed, n, seed);
    return n > 0 && n_failed == 0;
}

int main(int argc, char **argv)
{
    bool measures = false;
    int first = 1;
    seed = (uint64_t)time(NULL);
    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
        if (strcmp(argv[first], "--speed") == 0) {
            measures = true;
        } else if (strncmp(argv[first], "--seed=", 7) == 0) {
            seed = strtoull(argv[first] + 7, NULL, 10);
        } else {
            fputs("usage: check_kernels [--seed=N] [--speed] [FAMILY...]\n", stderr);
            return 2;
        }
    }
    printf("# seed %" PRIu64 ", best level of this CPU: %s\n", seed, simd_name(simd_best()));
    catch_crashes();
    return try_all(measures, argc - first, argv + first) ? 0 : 1;
}
