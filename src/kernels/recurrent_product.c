/* Matrix products of the recurrent engine, with packed weights or, by a GEMM, with unpacked
 * weights.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/recurrent_f32.h"

/* Returns the number of gates, from `gate` on, that are contiguous both in the weights and in the
 * panel. One GEMM computes all of these gates. */
static size_t count_contiguous_gates(const struct recurrent_f32 *engine,
                                     const struct recurrent_matrix *matrix, size_t gate)
{
    const struct recurrent *common = &engine->common;
    size_t slot = recurrent_gate_slot(common, matrix->first_gate + gate), n = 1;

    while (engine->units == common->hidden_size && gate + n < matrix->n_gates &&
           recurrent_gate_slot(common, matrix->first_gate + gate + n) == slot + n)
        n++;
    return n;
}

static void multiply_in_place(const struct recurrent_f32 *engine,
                              const struct recurrent_matrix *matrix,
                              const struct panel_product *product)
{
    const struct recurrent *common = &engine->common;
    size_t h = common->hidden_size, units = engine->units, k = matrix->packed_b.k;
    size_t unit = product->panel * units, left = h - unit, n;

    for (size_t row = 0; row < product->rows; row++)
        memcpy(product->c + row * product->ldc, product->add + row * product->ld_add,
               recurrent_row_floats(matrix->n_gates, units) * sizeof(float));
    for (size_t gate = 0; gate < matrix->n_gates; gate += n) {
        size_t slot = recurrent_gate_slot(common, matrix->first_gate + gate);
        n = count_contiguous_gates(engine, matrix, gate);
        matrix->gemm(&(struct gemm_f32){
            .m = product->rows,
            .n = n * (left < units ? left : units),
            .k = k,
            .a = product->a,
            .lda = product->lda,
            .b = matrix->weights + (slot * h + unit) * k,
            .ldb = k,
            .b_transposed = true,
            .c = product->c + gate * units,
            .ldc = product->ldc,
            .is_added = true,
        });
    }
}

void recurrent_multiply(const struct recurrent_f32 *engine, const struct recurrent_matrix *matrix,
                        const struct panel_product *product)
{
    if (matrix->gemm)
        multiply_in_place(engine, matrix, product);
    else
        packed_gemm_panel(&matrix->packed_b, product);
}
