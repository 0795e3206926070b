/* Packs the second factor of a product for one run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/packed_product.h"

#include "base/checked.h"
#include "ops/packed_matrix.h"

#define MIN_ROWS 16        /* fewer rows do not pay for packing */
#define TRANSPOSED_ROWS 96 /* rows of a transposed a at a time */

static size_t align(size_t size_bytes)
{
    return (size_bytes + 63) / 64 * 64;
}

bool packed_product_plan(struct prepare *prepare, struct packed_product *product)
{
    const struct kernels *kernels = prepare->kernels;
    size_t m = product->m, n = product->n, k = product->k;
    bool is_asked = kernels->gemm == IRRUN_GEMM_AUTO || kernels->gemm == IRRUN_GEMM_PACKED;
    product->panels.n_panels = product->b_bytes = product->scratch_bytes = 0;
    if (!is_asked || !kernels->panels || m < MIN_ROWS || n < PANEL_GROUP || k == 0 ||
        kernels_gemm_f32(kernels, m, n, k) != gemm_plain_f32)
        return true;
    size_t a_bytes = 0;
    if (!packed_matrix_plan(&product->panels, kernels->panels, k, n, m, &product->b_bytes) ||
        product->b_bytes > PTRDIFF_MAX / 4 ||
        (product->a_transposed && !checked_mul(TRANSPOSED_ROWS * sizeof(float), k, &a_bytes)) ||
        !checked_add(align(product->b_bytes), a_bytes, &product->scratch_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    return true;
}

void packed_product_pack(const struct packed_product *product, const float *b, void *scratch)
{
    packed_matrix_fill(&product->panels, b, false, product->n, product->b_transposed, scratch);
}

/* Some rows of a transposed a: [rows][k] from [k][m]. */
static void turn(const struct packed_product *product, const float *a, size_t rows,
                 float *restrict to)
{
    for (size_t k = 0; k < product->k; k += PANEL_GROUP) {
        size_t n = product->k - k < PANEL_GROUP ? product->k - k : PANEL_GROUP;
        for (size_t row = 0; row < rows; row++)
            for (size_t i = 0; i < n; i++)
                to[row * product->k + k + i] = a[(k + i) * product->m + row];
    }
}

void packed_product_multiply(const struct packed_product *product, const struct packed_rows *rows,
                             void *scratch)
{
    struct panels panels = product->panels;
    float *turned = (void *)((char *)scratch + align(product->b_bytes));
    size_t step = product->a_transposed ? TRANSPOSED_ROWS : rows->m;
    panels.data = scratch;
    for (size_t row = 0; row < rows->m; row += step) {
        size_t m = rows->m - row < step ? rows->m - row : step;
        if (product->a_transposed)
            turn(product, rows->a + row, m, turned);
        panels_multiply_matrix(&panels, &(struct panel_matrix){
                                            .begin = 0,
                                            .end = panels.n_panels,
                                            .m = m,
                                            .n = product->n,
                                            .a = product->a_transposed ? turned : rows->a,
                                            .lda = product->k,
                                            .c = rows->c + row * product->n,
                                            .ldc = product->n,
                                            .epilogue = rows->epilogue,
                                            .first = rows->first + row * product->n,
                                        });
    }
}
