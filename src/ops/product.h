/* Dense products of any type; prepare chooses the implementation. The second operand of an f32
 * product is packed into panels if this is faster: once by prepacked_matrix_pack if it is constant,
 * otherwise in every run, in scratch memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PRODUCT_H
#define IRRUN_OPS_PRODUCT_H

#include "ops/op.h"

/* c [m][n] = a [m][k] * b [k][n]; transposed operands are stored as [k][m] and [n][k]. */
struct product {
    size_t m, n, k;
    bool a_transposed, b_transposed;
    enum irrun_dtype dtype;
    /* Set by product_plan. */
    struct packed_matrix packed_b; /* n_panels: 0 if b is not packed; data: NULL if not constant */
    size_t b_bytes;                /* size of packed b; this and the next are multiples of 64 */
    size_t transposed_bytes;       /* scratch memory for transposed rows of `a` */
    transpose_f32_fn *transpose;
    gemm_f32_fn *f32; /* used if b is not packed */
    gemm_f64_fn *f64;
};

/* Plans a product of these sizes and this type. Returns false with *err filled if a size
 * overflows. */
bool product_plan(struct prepare *prepare, struct product *product);

/* Plans a product by a constant b, which the caller packs. */
bool product_plan_packed(struct prepare *prepare, struct product *product);

static inline bool product_is_packed(const struct product *product)
{
    return product->packed_b.n_panels > 0;
}

/* Panels begin … end - 1 of packed_b. A panel is a group of columns of the product. If b is not
 * packed, the range is ignored and all columns are computed. */
struct panel_range {
    size_t begin, end;
};

static inline struct panel_range product_all_panels(const struct product *product)
{
    return (struct panel_range){0, product->packed_b.n_panels};
}

/* Packs these panels of b into `packed`, which is 64-byte aligned and has b_bytes bytes. Unless b
 * is constant, the caller packs the panels before it passes them to product_run. Does nothing if
 * the plan does not pack b. */
void product_pack_b(const struct product *product, const void *b, struct panel_range panels,
                    void *packed);

/* Consecutive rows of a product. If `a` is transposed, its rows are columns in memory; an integer
 * product must then compute all rows at once. */
struct product_rows {
    size_t m; /* number of rows */
    const void *a, *b;
    void *c;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;                    /* for the epilogue: index of c[0] in the whole output */
};

/* Computes the rows. `packed` was written by product_pack_b; `transposed` is scratch memory of
 * transposed_bytes. */
void product_run(const struct product *product, const struct product_rows *rows,
                 struct panel_range panels, const void *packed, void *transposed);

/* Multiplies rows of `a`, which is not transposed, by packed panels. Inline, because a small
 * product takes little more time than a call. */
static inline void product_run_packed(const struct product *product, const struct packed_matrix *b,
                                      struct panel_range panels, const struct product_rows *rows)
{
    packed_gemm(b, &(struct packed_gemm){
                       .begin = panels.begin,
                       .end = panels.end,
                       .m = rows->m,
                       .n = product->n,
                       .a = rows->a,
                       .lda = product->k,
                       .c = rows->c,
                       .ldc = product->n,
                       .epilogue = rows->epilogue,
                       .first = rows->first,
                   });
}

#endif
