/* Dense products of any type; the implementation is chosen once. The second factor of f32 is packed
 * into panels where that pays: by prepacked_matrix_pack if it is constant, else when it is known,
 * in scratch memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PRODUCT_H
#define IRRUN_OPS_PRODUCT_H

#include "ops/op.h"

/* c [m][n] = a [m][k] * b [k][n]; transposed factors are stored as [k][m] and [n][k]. */
struct product {
    size_t m, n, k; /* m is how many rows share one b */
    bool a_transposed, b_transposed;
    enum irrun_dtype dtype;
    /* What follows is filled by product_plan. */
    struct packed_matrix
        packed_b;   /* n_panels is 0 where packing does not pay; data only of a constant, and
 a is then not transposed */
    size_t b_bytes; /* of a packed b; like the next a multiple of 64 */
    size_t transposed_bytes; /* of rows of a transposed a, while they are multiplied */
    gemm_f32_fn *f32;        /* who else does it */
    gemm_f64_fn *f64;
};

/* Plans from the sizes and the type. False with *err filled if they are too much to count. */
bool product_plan(struct prepare *prepare, struct product *product);

static inline bool product_is_packed(const struct product *product)
{
    return product->packed_b.n_panels > 0;
}

/* Some columns of a product, as panels of packed_b; of one that is not packed there are none but
 * all. */
struct panel_range {
    size_t begin, end;
};

static inline struct panel_range product_all_panels(const struct product *product)
{
    return (struct panel_range){0, product->packed_b.n_panels};
}

/* Packs these panels of b into memory of b_bytes, aligned to 64: to be done for all of them before
 * the products, unless b is a constant. Does nothing if the product is not packed. */
void product_take_b(const struct product *product, const void *b, struct panel_range panels,
                    void *packed);

/* Some rows of a product; those of a transposed a are in its columns, and if they are integers they
 * must be all. The result is the part of what the epilogue knows that begins with element
 * `first`. */
struct product_rows {
    size_t m;
    const void *a, *b;
    void *c;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;
};
void product_run(const struct product *product, const struct product_rows *rows,
                 struct panel_range panels, const void *packed, void *transposed);

/* The same with these panels of b, and a not transposed: for those whom a call more would cost too
 * much. */
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
