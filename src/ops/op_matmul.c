/* MatMul-1: products of the last two dimensions; the other dimensions are batches, which broadcast.
 * A vector is a row on the left and a column on the right.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/cost.h"
#include "ops/integer_matrix.h"
#include "ops/internal_ops.h"
#include "ops/op_state.h"
#include "ops/prepacked_matrix.h"
#include "ops/product_batch.h"
#include "tensor/broadcast.h"

enum { A, B, ORDER };

struct matmul_state {
    struct product_batch batch;
    struct broadcast batches; /* operands: out, a, b; the elements are matrices */
    struct matrices b;        /* the positions of the matrices of B */
    size_t n_combined;        /* one-row products that read the same B and are computed as one */
    struct integer_matrix integers;
};

static const struct attr_def attr_table[] = {
    ATTR(struct matmul_attrs, transpose_a, "false"),
    ATTR(struct matmul_attrs, transpose_b, "false"),
};

static const struct op_input_def inputs[] = {
    {"A", .types = TYPES_NUMBER, .same = 1},
    {"B", .types = TYPES_NUMBER, .same = 1},
};

static const struct op_input_def inputs_transposed[] = {
    {"A", .types = TYPES_NUMBER, .same = 1},
    {"B", .types = TYPES_NUMBER, .same = 1},
    {"input_order", .types = TYPES_INTEGER},
};

/* An operand as batches of matrices. */
struct matrix {
    int64_t rows, columns; /* after transposition */
    struct irrun_shape batches;
};

static bool read_matrix(struct infer *infer, uint32_t i, bool is_transposed, struct matrix *matrix)
{
    const struct irrun_shape *shape = &infer->in[i]->shape;
    if (shape->rank == 0)
        return infer_fail_input(infer, i, "at least one dimension");
    matrix->batches = shape_of(shape->rank > 1 ? shape->rank - 2 : 0, shape->dims);
    int64_t last = shape->dims[shape->rank - 1];
    int64_t before = shape->rank > 1 ? shape->dims[shape->rank - 2] : 1;
    if (shape->rank == 1)
        is_transposed = i == B;
    matrix->rows = is_transposed ? last : before;
    matrix->columns = is_transposed ? before : last;
    return true;
}

/* Merges batches that share one matrix B into the rows of one product. The layout of a vector does
 * not depend on its transposition, so its flag gets a fixed value. */
static void merge_batches(struct product *product, const struct matrix *a, const struct matrix *b,
                          struct irrun_shape *out, struct irrun_shape *a_batches)
{
    product->a_transposed &= product->m != 1;
    *a_batches = a->batches;
    if (!product->a_transposed && shape_n_elements(&b->batches) == 1) {
        product->m *= (size_t)shape_n_elements(out);
        *out = *a_batches = (struct irrun_shape){0};
    }
    product->b_transposed |= product->n == 1;
}

/* Checks input 2, the order of the Transpose of B. */
static bool infer_order(struct infer *infer)
{
    struct i64_list order;
    uint32_t rank = infer->in[B]->shape.rank;
    if (!infer_ints(infer, ORDER, &order))
        return false;
    return order.n == rank ||
           infer_fail_input(infer, ORDER, "%u numbers, one per dimension of input 1", rank);
}

static bool infer(struct infer *infer)
{
    if (infer->n_inputs > ORDER && !infer_order(infer))
        return false;
    const struct matmul_attrs *attrs = infer->attrs;
    struct matmul_state *state = infer->state;
    struct matrix a, b;
    struct irrun_shape batches;
    if (!read_matrix(infer, A, attrs->transpose_a, &a) ||
        !read_matrix(infer, B, attrs->transpose_b, &b))
        return false;
    if (a.columns != b.rows)
        return infer_fail_input(infer, B, "%lld rows%s to match the columns of input 0",
                                (long long)a.columns,
                                attrs->transpose_b ? " (after transposition)" : "");
    if (!shape_broadcast(&a.batches, &b.batches, &batches))
        return infer_fail_input(infer, B,
                                "leading dimensions that broadcast with those of input 0");
    struct irrun_shape out = batches;
    if (infer->in[A]->shape.rank > 1)
        out.dims[out.rank++] = a.rows;
    if (infer->in[B]->shape.rank > 1)
        out.dims[out.rank++] = b.columns;
    if (!infer_output(infer, 0, infer->in[A]->dtype, &out))
        return false;
    state->batch.product = (struct product){
        .m = (size_t)a.rows,
        .n = (size_t)b.columns,
        .k = (size_t)a.columns,
        .a_transposed = attrs->transpose_a && infer->in[A]->shape.rank > 1,
        .b_transposed = attrs->transpose_b || infer->in[B]->shape.rank == 1,
    };
    struct irrun_shape a_batches;
    merge_batches(&state->batch.product, &a, &b, &batches, &a_batches);
    state->batch.count = (size_t)shape_n_elements(&batches);
    const struct irrun_shape *shapes[] = {&batches, &a_batches, &b.batches};
    if (batches.rank == 0)
        shapes[2] = &batches;
    return broadcast_plan(&state->batches, 3, shapes, infer->arena, infer->err);
}

/* Returns the inputs to prepack: B, if it is one constant matrix of a type that can be packed, and
 * A has rows. Several products then share B only if A is transposed. */
static uint32_t prepacks(const struct prepare *prepare, uint32_t constants)
{
    const struct product_batch *batch = &((const struct matmul_state *)prepare->state)->batch;
    const struct product *p = &batch->product;
    return shape_n_elements(&prepare->in[B]->shape) == (int64_t)(p->k * p->n) && batch->count > 0 &&
                   p->m > 0 && p->k > 0 &&
                   (prepacked_matrix_is_wanted(prepare, p->n) ||
                    (!p->a_transposed && integer_matrix_should_pack(prepare)))
               ? constants & 1U << B
               : 0;
}

/* Combines the products of consecutive rows that read the same matrix, such as query heads of one
 * group (grouped-query attention). */
static void combine_rows(struct matmul_state *state)
{
    struct product *p = &state->batch.product;
    size_t n = state->b.repeats, at[BROADCAST_MAX_OPERANDS];
    state->n_combined = 1;
    if (n == 1 || p->m != 1 || state->batch.count % n != 0)
        return;
    for (size_t i = 0; i < state->batch.count; i++) {
        broadcast_offsets(&state->batches, i, at);
        if (at[1] != i || at[2] != i)
            return;
    }
    state->n_combined = p->m = n;
    state->batch.count /= n;
}

static bool prepare(struct prepare *prepare)
{
    struct matmul_state *state = prepare->state;
    struct product_batch *batch = &state->batch;
    struct product *p = &batch->product;
    p->dtype = prepare->in[A]->dtype;
    state->b = prepare_matrices(prepare, B, p->k * p->n);
    combine_rows(state);
    if (prepare->prepacked != 0 && dtype_is_integer(p->dtype))
        return integer_matrix_pack(prepare, p, &state->integers);
    prepare_epilogue(prepare);
    bool is_planned =
        prepare->prepacked == 0
            ? product_plan(prepare, p)
            : prepacked_matrix_pack(prepare, B, p->k, p->n, p->b_transposed, p->m, &p->packed_b) &&
                  product_plan_packed(prepare, p);
    if (!is_planned || !product_batch_plan(prepare, batch))
        return false;
    if (product_is_packed(p))
        prepare->made.epilogue.bias = (struct repetition){1, p->n};
    prepare->made.scratch_bytes = batch->scratch_bytes;
    return true;
}

static struct product_rows find_product(const void *context, size_t i)
{
    const struct step *step = context;
    const struct matmul_state *state = step->state;
    const struct product *p = &state->batch.product;
    size_t size = dtype_size(p->dtype), first = i * p->m * p->n, at[BROADCAST_MAX_OPERANDS];
    const char *b = step->in[B]->data; /* NULL: B is prepacked */
    broadcast_offsets(&state->batches, i * state->n_combined, at);
    return (struct product_rows){
        .m = p->m,
        .a = (const char *)step->in[A]->data + at[1] * (p->m / state->n_combined) * p->k * size,
        .b = b ? b + at[2] / state->b.repeats * state->b.stride * size : NULL,
        .c = (char *)step->out[0]->data + first * size,
        .epilogue = step->epilogue,
        .first = first,
    };
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct matmul_state *state = step->state;
    const struct product *p = &state->batch.product;
    if (state->integers.kernels)
        integer_matrix_run(&state->integers, p, step->in[A]->data, step->out[0]->data, step);
    else if (p->packed_b.data && state->batch.n_parts == 1 && !p->a_transposed)
        product_run_packed(p, &p->packed_b, product_all_panels(p),
                           &(struct product_rows){.m = p->m,
                                                  .a = step->in[A]->data,
                                                  .c = step->out[0]->data,
                                                  .epilogue = step->epilogue});
    else
        product_batch_run(&state->batch, find_product, step, step->scratch, step->pool);
    return true;
}

static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    const struct matmul_attrs *attrs = op->attrs;
    const struct irrun_shape *a = &in[A]->shape;
    uint32_t back = attrs->transpose_a && a->rank > 1 ? 2 : 1;
    return a->rank > 0 ? 2 * cost_n(out[0]) * (double)a->dims[a->rank - back] : 0;
}

#define MATMUL_OP(object, inputs_)                                                                 \
    const struct op_def object = {                                                                 \
        .type = "MatMul",                                                                          \
        .opset = 1,                                                                                \
        OP_INPUTS(inputs_),                                                                        \
        OP_ATTRS(attr_table, struct matmul_attrs),                                                 \
        .state_size = sizeof(struct matmul_state),                                                 \
        .flags = OP_MULTIPLIES_BF16,                                                               \
        .strided_inputs = 1 << B,                                                                  \
        .rounded_inputs = 1 << A | 1 << B,                                                         \
        .infer = infer,                                                                            \
        .prepacks = prepacks,                                                                      \
        .prepare = prepare,                                                                        \
        .run = run,                                                                                \
        .flops = flops,                                                                            \
    }

MATMUL_OP(op_matmul, inputs);
MATMUL_OP(op_matmul_transposed, inputs_transposed);
