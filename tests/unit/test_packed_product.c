/* Products that pack their second operand in every run, against sums in double: every layout, odd
 * sizes, with a bias and an epilogue.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/cpu.h"
#include "ops/product.h"

enum { MAX_SIZE = 150, GUARDS = 70 };

static uint32_t random_state = 3;

static size_t below(size_t limit)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % limit;
}

static void fill(float *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        numbers[i] = ((float)below(4001) - 2000) / 2000;
}

/* Adds the products to *sum, their magnitudes to *magnitude. */
static void add_products(const struct product *p, const float *a, const float *b, size_t i,
                         size_t j, double *sum, double *magnitude)
{
    for (size_t k = 0; k < p->k; k++) {
        double term = (double)a[p->a_transposed ? k * p->m + i : i * p->k + k] *
                      (double)b[p->b_transposed ? j * p->k + k : k * p->n + j];
        *sum += term;
        *magnitude += fabs(term);
    }
}

static void multiply_and_compare(struct product *p, const struct kernels *kernels)
{
    static float a[MAX_SIZE * MAX_SIZE], b[MAX_SIZE * MAX_SIZE],
        c[5 + MAX_SIZE * MAX_SIZE + GUARDS], bias[MAX_SIZE];
    static float added[5 + MAX_SIZE * MAX_SIZE];
    struct irrun_error err;
    struct prepare prepare = {.kernels = kernels, .err = &err};
    fill(a, p->m * p->k);
    fill(b, p->k * p->n);
    fill(bias, p->n);
    fill(added, 5 + p->m * p->n);
    for (size_t i = 0; i < 5 + MAX_SIZE * MAX_SIZE + GUARDS; i++)
        c[i] = NAN;
    assert_true(product_plan(&prepare, p));
    assert_true(product_is_packed(p) == (p->m >= 16 && (p->n >= 16 || p->a_transposed)));
    if (!product_is_packed(p))
        return;
    char *scratch = aligned_alloc(64, p->b_bytes + p->transposed_bytes);
    size_t n_all = 5 + p->m * p->n; /* 5 elements of the epilogue precede the product */
    struct fused_instruction program[] = {{c, UINT32_MAX, FUSED_LOAD},
                                          {added, UINT32_MAX, FUSED_ADD},
                                          {c, UINT32_MAX, FUSED_STORE},
                                          {.code = FUSED_END}};
    struct epilogue_operand operands[] = {
        {0, sizeof *c, 1, n_all}, {1, sizeof *c, 1, n_all}, {2, sizeof *c, 1, n_all}};
    struct epilogue epilogue = {.fused = kernels->fused_f32,
                                .program = program,
                                .operands = operands,
                                .n_program = 4,
                                .n_operands = 3,
                                .bias = bias};
    product_pack_b(p, b, product_all_panels(p), scratch);
    product_run(
        p, &(struct product_rows){.m = p->m, .a = a, .c = c + 5, .epilogue = &epilogue, .first = 5},
        product_all_panels(p), scratch, scratch + p->b_bytes);
    free(scratch);
    for (size_t i = 0; i < p->m * p->n; i++) {
        double first = (double)bias[i % p->n], last = (double)added[5 + i];
        double want = first + last, magnitude = fabs(first) + fabs(last);
        add_products(p, a, b, i / p->n, i % p->n, &want, &magnitude);
        /* A product and k + 1 sums, in any order, each have an error of 2^-24 of the magnitudes. */
        if (!(fabs((double)c[5 + i] - want) <= (double)(p->k + 2) * 0x1p-24 * magnitude))
            fail_test("%zux%zux%zu %d%d: [%zu] is %g, not %g\n", p->m, p->k, p->n, p->a_transposed,
                      p->b_transposed, i, (double)c[5 + i], want);
    }
    for (size_t i = 0; i < GUARDS; i++)
        assert_true(isnan(c[n_all + i]) && isnan(c[i % 5]));
}

static void every_layout_gives_the_product(void **state)
{
    (void)state;
    for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
        struct kernels kernels;
        if (!simd_is_supported(simd))
            continue;
        kernels_fill(&kernels, simd);
        kernels.gemm = IRRUN_GEMM_PACKED;
        for (int round = 0; round < 120; round++)
            multiply_and_compare(&(struct product){.dtype = IRRUN_F32,
                                                   .m = 12 + below(MAX_SIZE - 12),
                                                   .n = 12 + below(MAX_SIZE - 12),
                                                   .k = 1 + below(MAX_SIZE - 1),
                                                   .a_transposed = round & 1,
                                                   .b_transposed = round & 2},
                                 &kernels);
    }
}

static void what_does_not_pay_or_fit_is_not_packed(void **state)
{
    (void)state;
    struct irrun_error err;
    struct kernels kernels;
    kernels_fill(&kernels, simd_best());
    kernels.gemm = IRRUN_GEMM_PLAIN;
    struct prepare prepare = {.kernels = &kernels, .err = &err};
    struct product product = {.dtype = IRRUN_F32, .m = 64, .n = 64, .k = 64};
    assert_true(product_plan(&prepare, &product) && !product_is_packed(&product));
    kernels.gemm = IRRUN_GEMM_PACKED;
    product = (struct product){.dtype = IRRUN_F32, .m = 64, .n = SIZE_MAX / 64, .k = SIZE_MAX / 64};
    assert_false(product_plan(&prepare, &product));
    product = (struct product){.dtype = IRRUN_F32, .m = 4, .n = 64, .k = 64};
    assert_true(product_plan(&prepare, &product) && !product_is_packed(&product));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_gives_the_product),
        cmocka_unit_test(what_does_not_pay_or_fit_is_not_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
