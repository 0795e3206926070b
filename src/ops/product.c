/* Plans products and runs them: with packed panels, with the function that gemm_dispatch.c chooses
 * or, for integers, with gemm_integer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/product.h"

#include "base/checked.h"
#include "kernels/gemm_integer.h"
#include "ops/prepacked_matrix.h"

#define MIN_ROWS 16        /* with fewer rows, packing takes longer than it saves */
#define TRANSPOSED_ROWS 96 /* rows of a transposed `a` that are multiplied at a time */

/* Returns whether to pack b in each run. With fewer columns than a group, a panel is mostly
 * padding, and packing is faster only if `a` is transposed, which is slow for the other kernels. */
static bool should_pack(const struct kernels *kernels, const struct product *product)
{
    return kernels_may_pack(kernels) && product->dtype == IRRUN_F32 &&
           product->f32 == gemm_plain_f32 && product->m >= MIN_ROWS && product->k > 0 &&
           (product->n >= PANEL_GROUP || (product->a_transposed && product->n > 0));
}

bool product_plan_packed(struct prepare *prepare, struct product *product)
{
    size_t a_bytes = 0;
    product->transpose = prepare->kernels->transpose_f32;
    if ((product->a_transposed &&
         !checked_mul(TRANSPOSED_ROWS * sizeof(float), product->k, &a_bytes)) ||
        a_bytes > PTRDIFF_MAX / 4)
        return fail_memory(prepare->err, SIZE_MAX);
    product->transposed_bytes = align_to_line(a_bytes);
    return true;
}

bool product_plan(struct prepare *prepare, struct product *product)
{
    const struct kernels *kernels = prepare->kernels;
    size_t m = product->m, n = product->n, k = product->k;
    product->packed_b.n_panels = product->b_bytes = product->transposed_bytes = 0;
    if (product->dtype == IRRUN_F32)
        product->f32 = kernels_gemm_f32(kernels, m, n, k);
    else if (product->dtype == IRRUN_F64)
        product->f64 = kernels_gemm_f64(kernels, m, n, k);
    if (!should_pack(kernels, product)) {
        if (product->f32 == gemm_plain_f32 && kernels_may_pack(kernels) && !product->a_transposed)
            product->f32 = kernels->gemm_rows;
        return true;
    }
    if (!packed_matrix_plan(&product->packed_b, kernels->packed_gemm, k, n, m, &product->b_bytes) ||
        product->b_bytes > PTRDIFF_MAX / 4)
        return fail_memory(prepare->err, SIZE_MAX);
    product->b_bytes = align_to_line(product->b_bytes);
    return product_plan_packed(prepare, product);
}

void product_pack_b(const struct product *product, const void *b, struct panel_range panels,
                    void *packed)
{
    packed_matrix_fill(&product->packed_b, panels.begin, panels.end, b, WEIGHTS_F32, product->n,
                       product->b_transposed, packed);
}

/* Transposes TRANSPOSED_ROWS rows of `a` at a time, and multiplies them. */
static void multiply_transposed(const struct product *product, const struct packed_matrix *packed_b,
                                struct panel_range columns, const struct product_rows *rows,
                                float *transposed)
{
    for (size_t row = 0; row < rows->m; row += TRANSPOSED_ROWS) {
        size_t m = rows->m - row < TRANSPOSED_ROWS ? rows->m - row : TRANSPOSED_ROWS;
        product->transpose(&(struct transpose_f32){.n_rows = product->k,
                                                   .n_columns = m,
                                                   .from = (const float *)rows->a + row,
                                                   .from_stride = product->m,
                                                   .to = transposed,
                                                   .to_stride = product->k});
        product_run_packed(product, packed_b, columns,
                           &(struct product_rows){.m = m,
                                                  .a = transposed,
                                                  .c = (float *)rows->c + row * product->n,
                                                  .epilogue = rows->epilogue,
                                                  .first = rows->first + row * product->n});
    }
}

static void multiply_packed(const struct product *product, const struct product_rows *rows,
                            struct panel_range columns, const void *packed, float *transposed)
{
    struct packed_matrix packed_b = product->packed_b;
    if (!packed_b.data)
        packed_b.data = packed;
    if (product->a_transposed)
        multiply_transposed(product, &packed_b, columns, rows, transposed);
    else
        product_run_packed(product, &packed_b, columns, rows);
}

/* GEMM_MEMBERS initializes the members that the structs of all three GEMMs have; GEMM_STRIDES,
 * those of gemm_f32 and gemm_f64 only. */
#define GEMM_MEMBERS                                                                               \
    .m = rows->m, .n = p->n, .k = p->k, .a = rows->a, .a_transposed = p->a_transposed,             \
    .b = rows->b, .b_transposed = p->b_transposed, .c = rows->c
#define GEMM_STRIDES                                                                               \
    .lda = p->a_transposed ? p->m : p->k, .ldb = p->b_transposed ? p->k : p->n, .ldc = p->n

static void multiply_unpacked(const struct product *p, const struct product_rows *rows)
{
    if (p->dtype == IRRUN_F32)
        p->f32(&(struct gemm_f32){GEMM_MEMBERS, GEMM_STRIDES});
    else if (p->dtype == IRRUN_F64)
        p->f64(&(struct gemm_f64){GEMM_MEMBERS, GEMM_STRIDES});
    else
        gemm_integer(&(struct gemm_integer){GEMM_MEMBERS}, dtype_size(p->dtype));
    epilogue_run(rows->epilogue, rows->first, rows->m * p->n);
}

void product_run(const struct product *product, const struct product_rows *rows,
                 struct panel_range panels, const void *packed, void *transposed)
{
    if (product_is_packed(product))
        multiply_packed(product, rows, panels, packed, transposed);
    else
        multiply_unpacked(product, rows);
}
