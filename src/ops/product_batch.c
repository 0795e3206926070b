/* Plans a batch of products, and runs it in the thread pool.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/product_batch.h"

#include "base/checked.h"

/* Plain loops are slower than panels by this factor: with AVX-512, 6 multiply-adds per ns against
 * 50. */
#define PLAIN_WORK 8

/* With at least this many products per thread, no thread waits long for the last one. */
#define MANY_PER_THREAD 4

/* Rows are divided at multiples of this. */
#define ROWS 8

static bool is_plain(const struct product *p)
{
    if (product_is_packed(p))
        return false;
    return p->dtype == IRRUN_F32   ? p->f32 == gemm_plain_f32
           : p->dtype == IRRUN_F64 ? p->f64 == gemm_plain_f64
                                   : true;
}

static bool is_cblas(const struct product *p)
{
    return p->dtype == IRRUN_F32   ? p->f32 == gemm_cblas_f32
           : p->dtype == IRRUN_F64 ? p->f64 == gemm_cblas_f64
                                   : false;
}

double product_work(const struct product *product)
{
    double n = (double)product->m * (double)product->n * (double)product->k;
    return is_plain(product) ? PLAIN_WORK * n : n;
}

/* Returns whether threads can share one product. CBLAS may add in a different order if there are
 * fewer rows; integer products with a transposed `a` cannot be divided by rows. */
static bool can_be_divided(const struct product *p)
{
    return product_is_packed(p) || (!is_cblas(p) && (dtype_is_float(p->dtype) || !p->a_transposed));
}

/* Returns whether to divide by rows instead of panels. Before rows are computed, all panels must be
 * packed, and each part reads all panels. So rows are better only if the largest part is smaller by
 * a ninth. */
static bool rows_are_better(const struct product *p, size_t n_parts)
{
    size_t n_rows = divide_up(p->m, ROWS), n_panels = p->packed_b.n_panels;
    double by_rows = (double)divide_up(n_rows, n_parts) / (double)n_rows;
    return n_panels == 0 ||
           9 * by_rows < 8 * (double)divide_up(n_panels, n_parts) / (double)n_panels;
}

bool product_batch_plan(struct prepare *prepare, struct product_batch *batch)
{
    const struct product *p = &batch->product;
    double work = product_work(p);
    size_t n_threads = thread_pool_n_parts(prepare->pool, work, SIZE_MAX), b_bytes, a_bytes;
    batch->is_divided = n_threads > 1 && can_be_divided(p) &&
                        batch->count < MANY_PER_THREAD * n_threads && batch->count % n_threads != 0;
    batch->by_rows = batch->is_divided && rows_are_better(p, n_threads);
    size_t n_pieces = !batch->is_divided ? batch->count
                      : batch->by_rows   ? divide_up(p->m, ROWS)
                                         : p->packed_b.n_panels;
    batch->n_parts = thread_pool_n_parts(
        prepare->pool, batch->is_divided ? work : work * (double)batch->count, n_pieces);
    return (checked_mul(batch->is_divided ? 1 : batch->n_parts, p->b_bytes, &b_bytes) &&
            checked_mul(batch->n_parts, p->transposed_bytes, &a_bytes) &&
            checked_add(b_bytes, a_bytes, &batch->scratch_bytes)) ||
           fail_memory(prepare->err, SIZE_MAX);
}

struct run {
    const struct product_batch *batch;
    product_find_fn *find;
    const void *context;
    char *scratch;
    size_t number; /* index of the product that threads share */
};

/* Returns whether each run packs b. */
static bool must_pack_b(const struct product *p)
{
    return product_is_packed(p) && !p->packed_b.data;
}

static void run_whole(const struct run *run, size_t begin, size_t end, void *packed,
                      void *transposed)
{
    const struct product *p = &run->batch->product;
    for (size_t i = begin; i < end; i++) {
        struct product_rows rows = run->find(run->context, i);
        if (must_pack_b(p))
            product_pack_b(p, rows.b, product_all_panels(p), packed);
        product_run(p, &rows, product_all_panels(p), packed, transposed);
    }
}

/* Computes whole products: part `part` of n_parts. */
static void run_products(void *context, size_t part, size_t n_parts)
{
    const struct run *run = context;
    const struct product *p = &run->batch->product;
    size_t count = run->batch->count;
    run_whole(run, count * part / n_parts, count * (part + 1) / n_parts,
              run->scratch + part * p->b_bytes,
              run->scratch + n_parts * p->b_bytes + part * p->transposed_bytes);
}

static struct panel_range panels_of_part(const struct product *p, size_t part, size_t n_parts)
{
    size_t n = p->packed_b.n_panels;
    return (struct panel_range){n * part / n_parts, n * (part + 1) / n_parts};
}

static void pack_piece(void *context, size_t part, size_t n_parts)
{
    const struct run *run = context;
    const struct product *p = &run->batch->product;
    product_pack_b(p, run->find(run->context, run->number).b, panels_of_part(p, part, n_parts),
                   run->scratch);
}

/* Computes some rows of the shared product. If b must be packed, it is packed already. */
static void run_rows(void *context, size_t part, size_t n_parts)
{
    const struct run *run = context;
    const struct product *p = &run->batch->product;
    struct product_rows rows = run->find(run->context, run->number);
    size_t n = divide_up(p->m, ROWS), size = dtype_size(p->dtype);
    size_t begin = n * part / n_parts * ROWS, end = n * (part + 1) / n_parts * ROWS;
    rows.m = (end < p->m ? end : p->m) - begin;
    rows.a = (const char *)rows.a + begin * (p->a_transposed ? 1 : p->k) * size;
    rows.c = (char *)rows.c + begin * p->n * size;
    rows.first += begin * p->n;
    product_run(p, &rows, product_all_panels(p), run->scratch,
                run->scratch + p->b_bytes + part * p->transposed_bytes);
}

/* Packs some panels of the shared product, and multiplies by them. */
static void run_panels(void *context, size_t part, size_t n_parts)
{
    const struct run *run = context;
    const struct product *p = &run->batch->product;
    struct product_rows rows = run->find(run->context, run->number);
    if (must_pack_b(p))
        pack_piece(context, part, n_parts);
    product_run(p, &rows, panels_of_part(p, part, n_parts), run->scratch,
                run->scratch + p->b_bytes + part * p->transposed_bytes);
}

void product_batch_run(const struct product_batch *batch, product_find_fn *find,
                       const void *context, void *scratch, struct thread_pool *pool)
{
    struct run run = {batch, find, context, scratch, 0};
    if (batch->n_parts == 1) {
        run_whole(&run, 0, batch->count, run.scratch, run.scratch + batch->product.b_bytes);
        return;
    }
    if (!batch->is_divided) {
        thread_pool_run(pool, run_products, &run, batch->n_parts);
        return;
    }
    for (; run.number < batch->count; run.number++) {
        if (batch->by_rows && must_pack_b(&batch->product))
            thread_pool_run(pool, pack_piece, &run, batch->n_parts);
        thread_pool_run(pool, batch->by_rows ? run_rows : run_panels, &run, batch->n_parts);
    }
}
