/* MatMul-1: products of the last two dimensions; the others are batches that broadcast. A list is a row on
 * the left and a column on the right.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/internal_ops.h"
#include "ops/op_state.h"
#include "ops/packed_matrix.h"
#include "ops/product.h"
#include "tensor/broadcast.h"

enum { A, B, ORDER };

struct matmul_state {
    struct product product;
    struct broadcast batches; /* operands: out, a, b; an element is a matrix */
    struct panels panels;     /* B, if it is constant and packed: data is NULL otherwise */
    size_t n_parts;           /* for the team */
};

/* From so many multiplications on the work is shared: some 20 us of it. */
#define SHARE_FROM 1000000

static const struct attr_def attr_table[] = {
    ATTR(struct matmul_attrs, transpose_a, "false"),
    ATTR(struct matmul_attrs, transpose_b, "false"),
    ATTR_END,
};

static const struct op_input_def inputs[] = {
    {"A", .types = TYPES_NUMBER, .same = 1},
    {"B", .types = TYPES_NUMBER, .same = 1},
    {.name = NULL},
};

static const struct op_input_def inputs_transposed[] = {
    {"A", .types = TYPES_NUMBER, .same = 1},
    {"B", .types = TYPES_NUMBER, .same = 1},
    {"input_order", .types = TYPES_INTEGER},
    {.name = NULL},
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

/* Batches that meet one matrix B are rows of one product; vectors have no layout but the dense one. */
static void join_batches(struct product *product, const struct matrix *a, const struct matrix *b,
                         struct irrun_shape *out, struct irrun_shape *a_batches)
{
    *a_batches = a->batches;
    if (!product->a_transposed && shape_n_elements(&b->batches) == 1) {
        product->m *= (size_t)shape_n_elements(out);
        *out = *a_batches = (struct irrun_shape){0};
    }
    product->a_transposed &= product->m != 1;
    product->b_transposed |= product->n == 1;
}

/* A Transpose with this order stood in front of B. */
static bool infer_order(struct infer *infer)
{
    struct i64_list order;
    uint32_t rank = infer->in[B]->shape.rank;
    if (!infer_ints(infer, ORDER, &order))
        return false;
    return order.n == rank ||
           infer_fail_input(infer, ORDER, "%u numbers, one a dimension of input 1", rank);
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
    if (a.columns != b.rows) {
        infer_fail_input(infer, B, "%lld rows%s to meet as many columns of input 0",
                         (long long)a.columns, attrs->transpose_b ? " (after transposition)" : "");
        return infer_hint_input(infer, A);
    }
    if (!shape_broadcast(&a.batches, &b.batches, &batches)) {
        infer_fail_input(infer, B, "leading dimensions that broadcast with those of input 0");
        return infer_hint_input(infer, A);
    }
    struct irrun_shape out = batches;
    if (infer->in[A]->shape.rank > 1)
        out.dims[out.rank++] = a.rows;
    if (infer->in[B]->shape.rank > 1)
        out.dims[out.rank++] = b.columns;
    if (!infer_output(infer, 0, infer->in[A]->dtype, &out))
        return false;

    state->product = (struct product){
        .m = (size_t)a.rows,
        .n = (size_t)b.columns,
        .k = (size_t)a.columns,
        .a_transposed = attrs->transpose_a && infer->in[A]->shape.rank > 1,
        .b_transposed = attrs->transpose_b || infer->in[B]->shape.rank == 1,
    };
    struct irrun_shape a_batches;
    join_batches(&state->product, &a, &b, &batches, &a_batches);
    const struct irrun_shape *shapes[] = {&batches, &a_batches, &b.batches};
    if (batches.rank == 0)
        shapes[2] = &batches;
    return broadcast_plan(&state->batches, 3, shapes, infer->arena, infer->err);
}

/* B is packed if it is one constant matrix of floats, and A has rows. */
static uint32_t packs(const struct prepare *prepare, uint32_t constants)
{
    const struct product *p = &((const struct matmul_state *)prepare->state)->product;
    bool is_one = shape_n_elements(&prepare->in[B]->shape) == (int64_t)(p->k * p->n) &&
                  shape_n_elements(&prepare->in[A]->shape) == (int64_t)(p->m * p->k);

    return is_one && p->m > 0 && p->k > 0 && !p->a_transposed &&
                   packed_matrix_is_wanted(prepare, A, B, p->n)
               ? constants & 1U << B
               : 0;
}

static bool pack(struct prepare *prepare)
{
    struct matmul_state *state = prepare->state;
    const struct product *p = &state->product;
    bool is_shared = (double)p->m * (double)p->n * (double)p->k >= SHARE_FROM;
    state->n_parts = is_shared ? team_n_threads(prepare->team) : 1;
    return packed_matrix_pack(prepare, B, p->k, p->n, p->b_transposed, p->m, &state->panels);
}

static bool prepare(struct prepare *prepare)
{
    struct product *product = &((struct matmul_state *)prepare->state)->product;
    product->dtype = prepare->in[A]->dtype;
    prepare_epilogue(prepare);
    if (prepare->packed == 0 && !product_plan(prepare, product))
        return false;
    prepare->scratch_bytes = product->scratch_bytes;
    if (prepare->packed != 0 || product_is_packed(product))
        prepare->finishing.bias = (struct repetition){1, product->n};
    return prepare->packed == 0 || pack(prepare);
}

/* The matrices number a of A, b of B and c of the output. */
static void multiply(const struct step *step, size_t a, size_t b, size_t c)
{
    const struct product *p = &((const struct matmul_state *)step->state)->product;
    size_t size = dtype_size(p->dtype), first = c * p->m * p->n;
    struct product_rows rows = {
        .m = p->m,
        .a = (const char *)step->in[A]->data + a * p->m * p->k * size,
        .b = (const char *)step->in[B]->data + b * p->k * p->n * size,
        .c = (char *)step->out[0]->data + first * size,
        .epilogue = step->epilogue,
        .first = first,
    };
    product_take_b(p, rows.b, step->scratch);
    product_run(p, &rows, step->scratch);
}

static bool visit(void *context, const int64_t *offsets)
{
    const struct step *step = context;
    const struct broadcast *batches = &((const struct matmul_state *)step->state)->batches;
    for (int64_t i = 0; i < batches->n_inner; i++)
        multiply(step, (size_t)(offsets[1] + i * batches->inner_strides[1]),
                 (size_t)(offsets[2] + i * batches->inner_strides[2]), (size_t)(offsets[0] + i));
    return true;
}

static void multiply_part(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    const struct matmul_state *state = step->state;
    size_t n = state->panels.n_panels;

    panels_multiply_matrix(&state->panels, &(struct panel_matrix){
                                               .begin = n * part / n_parts,
                                               .end = n * (part + 1) / n_parts,
                                               .m = state->product.m,
                                               .n = state->product.n,
                                               .a = step->in[A]->data,
                                               .lda = state->product.k,
                                               .c = step->out[0]->data,
                                               .ldc = state->product.n,
                                               .epilogue = step->epilogue,
                                           });
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct matmul_state *state = step->state;
    if (state->panels.data) {
        team_run(step->team, multiply_part, (void *)step, state->n_parts);
        return true;
    }
    return broadcast_walk(&state->batches, visit, (void *)step);
}

#define MATMUL_OP(object, inputs_)                                                                 \
    const struct op_def object = {                                                                 \
        .type = "MatMul",                                                                          \
        .opset = 1,                                                                                \
        .inputs = inputs_,                                                                         \
        .n_outputs = 1,                                                                            \
        .attrs = attr_table,                                                                       \
        .attrs_size = sizeof(struct matmul_attrs),                                                 \
        .state_size = sizeof(struct matmul_state),                                                 \
        .infer = infer,                                                                            \
        .packs = packs,                                                                            \
        .prepare = prepare,                                                                        \
        .run = run,                                                                                \
    }

MATMUL_OP(op_matmul, inputs);
MATMUL_OP(op_matmul_transposed, inputs_transposed);
