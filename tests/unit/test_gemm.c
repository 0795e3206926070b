/* kernels/gemm: every layout of both implementations against plain sums, and integer overflow.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/gemm.h"
#include "kernels/gemm_integer.h"

enum { MAX = 40, LD = 43 };

static uint32_t random_state = 7;

static uint32_t next_below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

/* Small dyadic numbers: sums of their products are exact in any order. */
static float next_number(void)
{
    return (float)((int)next_below(33) - 16) / 8;
}

struct problem {
    float a[LD * LD], b[LD * LD], c[LD * LD], expected[LD * LD];
    double a64[LD * LD], b64[LD * LD], c64[LD * LD];
    struct gemm_f32 product;
};

static void solve(struct problem *p)
{
    const struct gemm_f32 *g = &p->product;
    for (size_t i = 0; i < g->m; i++) {
        for (size_t j = 0; j < g->n; j++) {
            double sum = g->is_added ? (double)p->c[i * g->ldc + j] : 0;
            for (size_t k = 0; k < g->k; k++)
                sum += (double)p->a[g->a_transposed ? k * g->lda + i : i * g->lda + k] *
                       (double)p->b[g->b_transposed ? j * g->ldb + k : k * g->ldb + j];
            p->expected[i * g->ldc + j] = (float)sum;
        }
    }
}

static void make_problem(struct problem *p, uint32_t m, uint32_t n, uint32_t k, uint32_t form)
{
    for (size_t i = 0; i < LD * LD; i++) {
        p->a64[i] = p->a[i] = next_number();
        p->b64[i] = p->b[i] = next_number();
        p->c64[i] = p->expected[i] = p->c[i] = (form & 4) ? next_number() : NAN;
    }
    bool a_transposed = form & 1, b_transposed = form & 2, is_tight = form & 8;
    p->product = (struct gemm_f32){
        .m = m,
        .n = n,
        .k = k,
        .a = p->a,
        .b = p->b,
        .c = p->c,
        .a_transposed = a_transposed,
        .b_transposed = b_transposed,
        .is_added = form & 4,
        .lda = is_tight ? (a_transposed ? m : k) : LD,
        .ldb = is_tight ? (b_transposed ? k : n) : LD,
        .ldc = is_tight ? n : LD,
    };
    solve(p);
}

/* Compares all of C, also the elements between its rows. */
static void assert_solved(const struct problem *p, const char *name)
{
    const struct gemm_f32 *g = &p->product;
    for (size_t i = 0; i < LD * LD; i++) {
        if (p->c[i] == p->expected[i] || (isnan(p->c[i]) && isnan(p->expected[i])))
            continue;
        fail_test("%s: %zu x %zu x %zu, transposed %d %d, added %d: [%zu] is %g, not %g\n", name,
                  g->m, g->n, g->k, g->a_transposed, g->b_transposed, g->is_added, i,
                  (double)p->c[i], (double)p->expected[i]);
    }
}

static void check_f32(struct problem *p, gemm_f32_fn *gemm, const char *name)
{
    float before[LD * LD];
    for (size_t i = 0; i < LD * LD; i++)
        before[i] = p->c[i];
    gemm(&p->product);
    assert_solved(p, name);
    for (size_t i = 0; i < LD * LD; i++)
        p->c[i] = before[i];
}

static void check_f64(struct problem *p, gemm_f64_fn *gemm, const char *name)
{
    const struct gemm_f32 *g = &p->product;
    double c[LD * LD];
    for (size_t i = 0; i < LD * LD; i++)
        c[i] = p->c64[i];
    gemm(&(struct gemm_f64){g->m, g->n, g->k, p->a64, g->lda, g->a_transposed, p->b64, g->ldb,
                            g->b_transposed, c, g->ldc, g->is_added});
    for (size_t i = 0; i < LD * LD; i++)
        p->c[i] = (float)c[i];
    assert_solved(p, name);
}

static void check_problem(uint32_t m, uint32_t n, uint32_t k, uint32_t form)
{
    static struct problem problem;
    make_problem(&problem, m, n, k, form);
    check_f32(&problem, gemm_plain_f32, "plain f32");
    check_f32(&problem, gemm_cblas_f32, "cblas f32");
    check_f64(&problem, gemm_plain_f64, "plain f64");
    check_f64(&problem, gemm_cblas_f64, "cblas f64");
}

static void every_layout_gives_the_sums(void **state)
{
    (void)state;
    for (uint32_t form = 0; form < 16; form++)
        for (int i = 0; i < 60; i++)
            check_problem(next_below(MAX), next_below(MAX), next_below(MAX), form);
}

static void vectors_and_empty_sums_too(void **state)
{
    (void)state;
    for (uint32_t form = 0; form < 16; form++) {
        for (uint32_t k = 0; k < 20; k++) {
            check_problem(1, 1 + next_below(MAX - 1), k, form);
            check_problem(1 + next_below(MAX - 1), 1, k, form);
            check_problem(1, 1, k, form);
        }
        check_problem(0, 5, 5, form);
        check_problem(5, 0, 5, form);
        check_problem(5, 7, 0, form);
    }
}

/* The bits of a row must not depend on the number of rows. */
static void a_row_does_not_depend_on_the_others(void **state)
{
    (void)state;
    enum { M = 9, N = 300, K = 70 };
    static float a[M * K], b[N * K], all[M * N], one[N];
    for (size_t i = 0; i < M * K; i++)
        a[i] = sinf((float)i);
    for (size_t i = 0; i < N * K; i++)
        b[i] = cosf((float)i);
    for (int b_transposed = 0; b_transposed < 2; b_transposed++) {
        size_t ldb = b_transposed ? K : N;
        gemm_plain_f32(
            &(struct gemm_f32){M, N, K, a, K, false, b, ldb, b_transposed, all, N, false});
        for (size_t i = 0; i < M; i++) {
            gemm_plain_f32(&(struct gemm_f32){1, N, K, a + i * K, K, false, b, ldb, b_transposed,
                                              one, N, false});
            assert_memory_equal(one, all + i * N, sizeof one);
        }
    }
}

static void integers_wrap(void **state)
{
    (void)state;
    static const uint8_t a[] = {200, 100, 3, 4, 5, 255}; /* [2][3] */
    static const uint8_t b[] = {2, 1, 3, 1, 255, 2};     /* [3][2] */
    static const uint8_t b_turned[] = {2, 3, 255, 1, 1, 2};
    static const uint8_t expected[] = {(uint8_t)(400 + 300 + 765), (uint8_t)(200 + 100 + 6),
                                       (uint8_t)(8 + 15 + 255 * 255), (uint8_t)(4 + 5 + 510)};
    uint8_t c[4];
    gemm_integer(&(struct gemm_integer){2, 2, 3, a, false, b, false, c}, 1);
    assert_memory_equal(c, expected, sizeof c);
    gemm_integer(&(struct gemm_integer){2, 2, 3, a, false, b_turned, true, c}, 1);
    assert_memory_equal(c, expected, sizeof c);
    int64_t x[] = {INT64_MAX, INT64_MAX}, y[] = {2, 1}, z;
    gemm_integer(&(struct gemm_integer){1, 1, 2, x, false, y, false, &z}, 8);
    assert_true(z == INT64_MAX - 2);
    int16_t u[] = {-300, 200}, v[] = {7, -9}, w;
    gemm_integer(&(struct gemm_integer){1, 1, 2, u, true, v, true, &w}, 2);
    assert_int_equal(w, -3900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_gives_the_sums),
        cmocka_unit_test(vectors_and_empty_sums_too),
        cmocka_unit_test(a_row_does_not_depend_on_the_others),
        cmocka_unit_test(integers_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
