/* Plans products, and multiplies by panels, by what the seam of gemm.h chose, or as integers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/product.h"

#include "base/checked.h"
#include "kernels/gemm_integer.h"
#include "ops/packed_matrix.h"

#define MIN_ROWS 16        /* fewer rows do not pay for packing */
#define TRANSPOSED_ROWS 96 /* rows of a transposed a at a time */

static size_t align(size_t size_bytes)
{
    return (size_bytes + 63) / 64 * 64;
}

static bool packing_pays(const struct kernels *kernels, const struct product *product)
{
    bool is_asked = kernels->gemm == IRRUN_GEMM_AUTO || kernels->gemm == IRRUN_GEMM_PACKED;
    return is_asked && kernels->panels && product->dtype == IRRUN_F32 &&
           product->f32 == gemm_plain_f32 && product->m >= MIN_ROWS && product->n >= PANEL_GROUP &&
           product->k > 0;
}

bool product_plan(struct prepare *prepare, struct product *product)
{
    const struct kernels *kernels = prepare->kernels;
    size_t m = product->m, n = product->n, k = product->k, a_bytes = 0;
    product->panels.n_panels = product->b_bytes = product->scratch_bytes = 0;
    if (product->dtype == IRRUN_F32)
        product->f32 = kernels_gemm_f32(kernels, m, n, k);
    else if (product->dtype == IRRUN_F64)
        product->f64 = kernels_gemm_f64(kernels, m, n, k);
    if (!packing_pays(kernels, product))
        return true;
    if (!packed_matrix_plan(&product->panels, kernels->panels, k, n, m, &product->b_bytes) ||
        product->b_bytes > PTRDIFF_MAX / 4 ||
        (product->a_transposed && !checked_mul(TRANSPOSED_ROWS * sizeof(float), k, &a_bytes)) ||
        !checked_add(align(product->b_bytes), a_bytes, &product->scratch_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    return true;
}

void product_take_b(const struct product *product, const void *b, void *scratch)
{
    if (product_is_packed(product))
        packed_matrix_fill(&product->panels, b, false, product->n, product->b_transposed, scratch);
}

/* Some rows of a transposed a: [rows][k] from [k][m]. */
static void turn(const struct product *product, const float *a, size_t rows, float *restrict to)
{
    for (size_t k = 0; k < product->k; k += PANEL_GROUP) {
        size_t n = product->k - k < PANEL_GROUP ? product->k - k : PANEL_GROUP;
        for (size_t row = 0; row < rows; row++)
            for (size_t i = 0; i < n; i++)
                to[row * product->k + k + i] = a[(k + i) * product->m + row];
    }
}

static void multiply_packed(const struct product *product, const struct product_rows *rows,
                            void *scratch)
{
    struct panels panels = product->panels;
    const float *a = rows->a;
    float *turned = (void *)((char *)scratch + align(product->b_bytes));
    size_t step = product->a_transposed ? TRANSPOSED_ROWS : rows->m;
    panels.data = scratch;
    for (size_t row = 0; row < rows->m; row += step) {
        size_t m = rows->m - row < step ? rows->m - row : step;
        if (product->a_transposed)
            turn(product, a + row, m, turned);
        panels_multiply_matrix(&panels, &(struct panel_matrix){
                                            .begin = 0,
                                            .end = panels.n_panels,
                                            .m = m,
                                            .n = product->n,
                                            .a = product->a_transposed ? turned : a,
                                            .lda = product->k,
                                            .c = (float *)rows->c + row * product->n,
                                            .ldc = product->n,
                                            .epilogue = rows->epilogue,
                                            .first = rows->first + row * product->n,
                                        });
    }
}

void product_run(const struct product *product, const struct product_rows *rows, void *scratch)
{
    size_t m = rows->m, n = product->n, k = product->k;
    bool ta = product->a_transposed, tb = product->b_transposed;
    size_t lda = ta ? product->m : k, ldb = tb ? k : n;
    const void *a = rows->a, *b = rows->b;
    if (product_is_packed(product)) {
        multiply_packed(product, rows, scratch);
        return;
    }
    if (product->dtype == IRRUN_F32)
        product->f32(&(struct gemm_f32){m, n, k, a, lda, ta, b, ldb, tb, rows->c, n, false});
    else if (product->dtype == IRRUN_F64)
        product->f64(&(struct gemm_f64){m, n, k, a, lda, ta, b, ldb, tb, rows->c, n, false});
    else
        gemm_integer(&(struct gemm_integer){m, n, k, a, ta, b, tb, rows->c},
                     dtype_size(product->dtype));
    epilogue_run(rows->epilogue, rows->first, m * n);
}
