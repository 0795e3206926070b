/* Finds the data, scales and zero points of a compressed constant.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/compressed_ops.h"
#include "ops/op_state.h"
#include "tensor/small_float.h"

#define LAYOUT_TRANSPOSED 100 /* larger than the layout numbers of panels */
#define TILE 64               /* rows and columns that are transposed at a time */

bool compressed_type_is_supported(enum irrun_dtype dtype)
{
    const uint32_t types = TYPE_BIT(IRRUN_U8) | TYPE_BIT(IRRUN_I8) | TYPE_BIT(IRRUN_U4) |
                           TYPE_BIT(IRRUN_I4) | TYPE_BIT(IRRUN_NF4) | TYPE_BIT(IRRUN_F4E2M1);
    return (types & TYPE_BIT(dtype)) != 0;
}

uint32_t compressed_prepacks(const struct prepare *prepare, uint32_t constants)
{
    return constants & 1U << ((const struct compressed_attrs *)prepare->attrs)->constant;
}

/* Describes the scales or the zero points. The engine stores integers of fewer than 8 bits as one
 * byte each: u4 as u4, other types as i8 or u8. */
static struct group_params find_params(const struct prepare *prepare, uint32_t input,
                                       size_t row_step, size_t group_step)
{
    if (input == NO_ID)
        return (struct group_params){.data = NULL};
    const struct irrun_tensor *tensor = prepare->in[input];
    enum irrun_dtype dtype = tensor->dtype;
    if (dtype != IRRUN_F32 && dtype != IRRUN_U4)
        dtype = dtype_is_signed(dtype) ? IRRUN_I8 : IRRUN_U8;
    return (struct group_params){
        .data = tensor->data, .dtype = dtype, .row_step = row_step, .group_step = group_step};
}

/* Stores the zero points of u4 weights as u4, one byte each, if all are 0 to 15, because the
 * kernels have lookup tables for such values. */
static bool narrow_zero_points(struct prepare *prepare, struct compressed_matrix *matrix,
                               uint32_t input)
{
    const struct irrun_tensor *zeros = input == NO_ID ? NULL : prepare->in[input];
    if (!zeros || matrix->dtype != IRRUN_U4 || zeros->dtype == IRRUN_U4)
        return true;
    size_t n = (size_t)shape_n_elements(&zeros->shape);
    uint8_t *narrow = arena_alloc(prepare->arena, n, prepare->err);
    for (size_t i = 0; narrow && i < n; i++) {
        double zero = element_as_f64(zeros->dtype, zeros->data, i);
        if (!(zero >= 0 && zero < 16))
            return true;
        narrow[i] = (uint8_t)zero;
    }
    matrix->zero_points.data = narrow;
    matrix->zero_points.dtype = IRRUN_U4;
    return narrow != NULL;
}

/* Writes elements begin … end - 1 of row `row` of a matrix that is stored as [k][n]. */
static void transpose_row(const struct compressed_matrix *matrix, const unsigned char *from,
                          size_t row, size_t begin, size_t end, unsigned char *to)
{
    bool is_4bit = compressed_bytes(matrix, 2) == 1;
    for (size_t k = begin; k < end; k++) {
        size_t at = k * matrix->n + row;
        unsigned code = is_4bit ? from[at / 2] >> (at % 2 * 4) & 15U : from[at];
        if (!is_4bit)
            to[k] = (unsigned char)code;
        else
            to[k / 2] = (unsigned char)(k % 2 == 0 ? code : to[k / 2] | code << 4);
    }
}

static const void *transpose(struct prepare *prepare, const struct compressed_matrix *matrix,
                             const unsigned char *from)
{
    size_t row_bytes = compressed_bytes(matrix, matrix->k), size_bytes = matrix->n * row_bytes;
    bool is_new = true, is_folding = !prepare->sources; /* is_folding: prepare cannot prepack */
    unsigned char *to = is_folding
                            ? arena_alloc(prepare->arena, size_bytes, prepare->err)
                            : prepare_prepacked(prepare, LAYOUT_TRANSPOSED, size_bytes, &is_new);
    for (size_t row = 0; to && is_new && row < matrix->n; row += TILE)
        for (size_t k = 0; k < matrix->k; k += TILE)
            for (size_t r = row; r < matrix->n && r < row + TILE; r++)
                transpose_row(matrix, from, r, k, k + TILE < matrix->k ? k + TILE : matrix->k,
                              to + r * row_bytes);
    return to;
}

bool compressed_matrix_find(struct prepare *prepare, struct compressed_matrix *matrix)
{
    const struct compressed_attrs *attrs = prepare->attrs;
    const struct graph *graph = prepare->graph;
    const struct op *op = value_producer(graph, op_input(graph, prepare->op, attrs->constant));
    const struct const_attrs *stored = op->attrs;
    if (!graph->weights || !graph->weights->data) {
        fail_at(prepare->err, IRRUN_DATA, op_place(graph, op),
                "Const \"%s\": no weights are loaded", op->name);
        return false;
    }
    *matrix = (struct compressed_matrix){
        .dtype = stored->element_type,
        .n = attrs->n,
        .k = attrs->k,
        .group = attrs->group,
        .row = graph->weights->data + stored->offset,
        .scales =
            find_params(prepare, attrs->scales, attrs->scale_row_stride, attrs->scale_group_stride),
        .zero_points = find_params(prepare, attrs->zero_points, attrs->zero_row_stride,
                                   attrs->zero_group_stride),
    };
    for (int code = 0; code < 16; code++)
        matrix->values[code] = small_float_is(matrix->dtype)
                                   ? small_float_to_f32(matrix->dtype, (uint8_t)code)
                                   : (float)(matrix->dtype == IRRUN_I4 ? (code ^ 8) - 8 : code);
    if (attrs->is_transposed)
        matrix->row = transpose(prepare, matrix, matrix->row);
    return matrix->row && narrow_zero_points(prepare, matrix, attrs->zero_points);
}
