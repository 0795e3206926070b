/* Einsum-7: sums of products along labelled dimensions (einsum_plan.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/gemm_integer.h"
#include "ops/einsum_plan.h"

struct einsum_attrs {
    const char *equation;
};

static const struct attr_def attr_table[] = {ATTR(struct einsum_attrs, equation, NULL)};

static const struct op_input_def inputs[] = {
    {"input", .types = TYPES_NUMBER, .same = 1, .is_repeated = true},
};

static bool infer(struct infer *infer)
{
    struct einsum_plan *plan = infer->state;
    const struct einsum_equation *equation = &plan->equation;
    if (!infer_einsum_plan(infer, ((const struct einsum_attrs *)infer->attrs)->equation, plan))
        return false;
    struct irrun_shape out = {.rank = equation->out.n};
    for (uint32_t i = 0; i < out.rank; i++)
        out.dims[i] = equation->dims[equation->out.items[i]];
    return infer_output(infer, 0, infer->in[0]->dtype, &out);
}

/* ---- prepare and run ---------------------------------------------------------------------- */

/* Returns the byte offset of an area of the scratch memory; for EINSUM_N_AREAS, the end. */
static size_t area_offset(const struct einsum_plan *plan, enum einsum_area area,
                          size_t element_bytes)
{
    size_t n = 0;
    for (int i = 0; i < (int)area; i++)
        n += ((size_t)plan->sizes[i] + 7) / 8 * 8;
    return n * element_bytes;
}

/* Returns the size of all areas. The scratch memory of the products follows them. */
static size_t areas_bytes(const struct einsum_plan *plan, size_t element_bytes)
{
    return align_to_line(area_offset(plan, EINSUM_N_AREAS, element_bytes));
}

static bool prepare(struct prepare *prepare)
{
    struct einsum_plan *plan = prepare->state;
    size_t product_bytes = 0;
    plan->sum = reduce_choose(prepare->kernels->reduce, REDUCE_SUM, prepare->in[0]->dtype);
    for (uint32_t i = 0; i + 1 < prepare->n_inputs; i++) {
        struct product_batch *batch = &plan->contractions[i].batch;
        batch->product.dtype = prepare->in[0]->dtype;
        if (!product_plan(prepare, &batch->product) || !product_batch_plan(prepare, batch))
            return false;
        if (product_bytes < batch->scratch_bytes)
            product_bytes = batch->scratch_bytes;
    }
    return prepare_scratch(prepare, 1, areas_bytes(plan, dtype_size(prepare->in[0]->dtype))) &&
           prepare_scratch(prepare, 1, product_bytes);
}

static char *find_area(const struct step *step, enum einsum_area area)
{
    return (char *)step->scratch + area_offset(step->state, area, dtype_size(step->in[0]->dtype));
}

/* Sums each row of n_summed elements. Integers are multiplied by a vector of ones, with sums modulo
 * 2^bits. */
static void sum_rows(const struct step *step, const struct einsum_operand *operand,
                     const char *from, char *to)
{
    enum irrun_dtype dtype = step->in[0]->dtype;
    size_t size = dtype_size(dtype), n = (size_t)operand->n_summed;
    if (!dtype_is_float(dtype)) {
        char *ones = find_area(step, EINSUM_ONES);
        for (size_t i = 0; i < n; i++)
            convert_elements(IRRUN_U8, "\1", dtype, ones + i * size, 1);
        gemm_integer(
            &(struct gemm_integer){
                .m = (size_t)operand->n_rows, .n = 1, .k = n, .a = from, .b = ones, .c = to},
            size);
        return;
    }
    const struct einsum_plan *plan = step->state;
    for (int64_t i = 0; i < operand->n_rows; i++) {
        union accumulator sum = {.f64 = 0};
        plan->sum(&(struct reduction){.n_rows = 1, .n = n}, from + (size_t)i * n * size, &sum);
        convert_elements(IRRUN_F64, &sum, dtype, to + (size_t)i * size, 1);
    }
}

/* Returns the reordered tensor: `from` if it needs no copy, otherwise `to`. */
static const char *reorder(const struct step *step, const struct einsum_operand *operand,
                           const char *from, char *to)
{
    size_t size = dtype_size(step->in[0]->dtype);
    bool is_summed = operand->n_summed != 1;
    if (operand->is_copied) {
        char *copied = is_summed ? find_area(step, EINSUM_UNSUMMED) : to;
        strided_copy_run(&operand->copy, size, from, copied);
        from = copied;
    }
    if (!is_summed)
        return from;
    sum_rows(step, operand, from, to);
    return to;
}

struct dense_products {
    const struct product *product;
    const char *a, *b;
    char *c;
};

static struct product_rows find_product(const void *context, size_t i)
{
    const struct dense_products *products = context;
    const struct product *p = products->product;
    size_t size = dtype_size(p->dtype);
    return (struct product_rows){.m = p->m,
                                 .a = products->a + i * p->m * p->k * size,
                                 .b = products->b + i * p->k * p->n * size,
                                 .c = products->c + i * p->m * p->n * size};
}

static void run(const struct step *step)
{
    const struct einsum_plan *plan = step->state;
    struct irrun_tensor *out = step->out[0];
    size_t n_bytes = tensor_n_bytes(out);
    if (n_bytes == 0)
        return;
    const char *so_far = step->in[0]->data;
    char *memory = (char *)step->scratch + areas_bytes(plan, dtype_size(out->dtype));
    for (uint32_t i = 1; i < step->n_inputs; i++) {
        const struct einsum_contraction *contraction = &plan->contractions[i - 1];
        const char *a = reorder(step, &contraction->a, so_far, find_area(step, EINSUM_ORDERED_A));
        const char *b =
            reorder(step, &contraction->b, step->in[i]->data, find_area(step, EINSUM_ORDERED_B));
        bool is_last = i + 1 == step->n_inputs && !plan->last.is_copied;
        char *c = is_last ? out->data : find_area(step, i % 2 ? EINSUM_RESULT_1 : EINSUM_RESULT_0);
        product_batch_run(&contraction->batch, find_product,
                          &(struct dense_products){&contraction->batch.product, a, b, c}, memory,
                          step->pool);
        so_far = c;
    }
    so_far = reorder(step, &plan->last, so_far, out->data);
    if (so_far != out->data)
        memcpy(out->data, so_far, n_bytes);
}

static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    (void)out;
    return einsum_flops(((const struct einsum_attrs *)op->attrs)->equation, in, op->n_inputs);
}

const struct op_def op_einsum = {
    .type = "Einsum",
    .opset = 7,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct einsum_attrs),
    .state_size = sizeof(struct einsum_plan),
    .rounded_inputs = UINT32_MAX,
    .infer = infer,
    .prepare = prepare,
    .compute = run,
    .flops = flops,
};
