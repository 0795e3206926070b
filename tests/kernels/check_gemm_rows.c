/* Checks products of few rows against sums in double, in memory that ends at an unmapped page. The
 * bits of a row must not depend on the number of rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"

enum { MAX_M = 7, MAX_N = 100, MAX_LDC = MAX_N + 2 };

/* c: the memory of C. If ldc > n, each row has one more column on either side, which must not
 * change. */
static bool compare(const struct gemm_f32 *p, const float *c, const float *before)
{
    for (size_t i = 0; i < p->m * p->ldc; i++) {
        size_t row = i / p->ldc, column = i % p->ldc - (p->ldc > p->n);
        bool is_inside = column < p->n;
        double sum = p->is_added || !is_inside ? (double)before[i] : 0, magnitude = fabs(sum);
        for (size_t k = 0; k < p->k && is_inside; k++) {
            size_t at = p->b_transposed ? column * p->ldb + k : k * p->ldb + column;
            double term = (double)p->a[row * p->lda + k] * (double)p->b[at];
            sum += term;
            magnitude += fabs(term);
        }
        if (fabs((double)c[i] - sum) > (is_inside ? 1e-6 * magnitude : 0))
            return trial_fail("row %zu, column %zu: %.9g, expected %.9g", row, column, (double)c[i],
                              sum);
    }
    return true;
}

static void fill(float *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = random_float(1.0F);
}

static bool try_product(const struct trial *trial, size_t m, size_t n, size_t k, unsigned form)
{
    static float before[MAX_M * MAX_LDC], alone[MAX_N];
    size_t a_bytes = m * k * sizeof(float), b_bytes = n * k * sizeof(float);
    size_t gap = form & 4 ? 1 : 0, ldc = n + 2 * gap, c_bytes = m * ldc * sizeof(float);
    struct guarded a = guarded_new(a_bytes), b = guarded_new(b_bytes), c = guarded_new(c_bytes);
    float *a_last = (void *)guarded_last(&a, a_bytes), *b_last = (void *)guarded_last(&b, b_bytes);
    float *c_last = (void *)guarded_last(&c, c_bytes);
    struct gemm_f32 product = {.m = m,
                               .n = n,
                               .k = k,
                               .a = a_last,
                               .lda = k,
                               .b = b_last,
                               .ldb = form & 1 ? k : n,
                               .b_transposed = form & 1,
                               .c = c_last + gap,
                               .ldc = ldc,
                               .is_added = form & 2};
    trial_says("%zu x %zu x %zu, form %u", m, n, k, form);
    fill(a_last, m * k);
    fill(b_last, n * k);
    fill(c_last, m * ldc);
    memcpy(before, c_last, c_bytes);
    trial->variant->gemm_rows(&product);
    bool is_good = compare(&product, c_last, before);
    struct gemm_f32 last = product;
    last.m = 1;
    last.a += (m - 1) * k;
    last.c = memcpy(alone, before + (m - 1) * ldc + gap, n * sizeof(float));
    trial->variant->gemm_rows(&last);
    if (is_good && memcmp(alone, product.c + (m - 1) * ldc, n * sizeof(float)) != 0)
        is_good = trial_fail("the last row alone differs");
    guarded_free(&a);
    guarded_free(&b);
    guarded_free(&c);
    return is_good;
}

bool check_gemm_rows(const struct trial *trial)
{
    for (unsigned i = 0; i < 1200; i++)
        if (!try_product(trial, 1 + random_below(MAX_M), 1 + random_below(MAX_N),
                         random_below(i < 1150 ? 80 : 600), i % 8))
            return false;
    return true;
}

struct work {
    const struct trial *trial;
    struct gemm_f32 product;
};

static void multiply(const void *context)
{
    const struct work *work = context;
    work->trial->variant->gemm_rows(&work->product);
}

void measure_gemm_rows(const struct trial *trial)
{
    enum { N = 1024, K = 64 };
    static float a[K], b[N * K], c[N];
    struct work work = {trial, {1, N, K, a, K, false, b, K, true, c, N, false}};
    measure_line("1 x 1024 x 64, b transposed", measure_s(multiply, &work), sizeof b);
    work.product.b_transposed = false;
    work.product.ldb = N;
    measure_line("1 x 1024 x 64", measure_s(multiply, &work), sizeof b);
}
