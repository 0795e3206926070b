/* Products of the packed engine with weights that nobody packed: runs so short that packing would
 * take longer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/recurrent_packed.h"

void recurrent_multiply_in_place(const struct recurrent_packed *packed,
                                 const struct recurrent_rows *rows,
                                 const struct panel_product *product)
{
    const struct recurrent *common = &packed->common;
    size_t h = common->hidden_size, groups = packed->units / PANEL_GROUP;
    size_t first_row = rows->direction * recurrent_n_gates(common) * h;

    for (size_t group = 0; group < (rows->end - rows->begin) * groups; group++) {
        size_t unit = product->panel * packed->units + group % groups * PANEL_GROUP;
        size_t left = unit < h ? h - unit : 0;
        size_t place = recurrent_place_of(common, rows->begin + group / groups);
        size_t row = first_row + place * h + (left > 0 ? unit : 0);
        struct panel_dots dots = {
            .k = rows->k,
            .n_columns = left < PANEL_GROUP ? left : PANEL_GROUP,
            .weights = rows->weights + row * rows->k,
        };
        for (size_t i = 0; i < product->rows; i++) {
            dots.a = product->a + i * product->lda;
            dots.add = product->add + i * product->ld_add + group * PANEL_GROUP;
            dots.c = product->c + i * product->ldc + group * PANEL_GROUP;
            packed->kernels->dots(&dots);
        }
    }
}
