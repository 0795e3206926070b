/* Transforms the filters of Winograd's F(2x2, 3x3) in integers: computes four times (G g) G^T,
 * where 2 G g = 2 g0, g0 + g1 + g2, g0 - g1 + g2, 2 g2.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/gemm_int8.h"

static void transform_3(const int16_t *from, size_t from_step, int16_t *to, size_t to_step)
{
    int16_t g0 = from[0], g1 = from[from_step], g2 = from[2 * from_step];
    to[0] = (int16_t)(2 * g0);
    to[to_step] = (int16_t)(g0 + g1 + g2);
    to[2 * to_step] = (int16_t)(g0 - g1 + g2);
    to[3 * to_step] = (int16_t)(2 * g2);
}

void int8_winograd_pack(const int8_t *filters, size_t c_out, size_t c_in, int16_t *packed)
{
    size_t n_pairs = (c_in + 1) / 2, position = n_pairs * INT8_GROUP * 2;
    for (size_t i = 0; i < c_out * c_in; i++) {
        size_t out = i / c_in, in = i % c_in;
        int16_t g[9], rows[12], all[INT8_WINOGRAD_POSITIONS];
        for (size_t k = 0; k < 9; k++)
            g[k] = filters[9 * i + k];
        for (size_t x = 0; x < 3; x++)
            transform_3(g + x, 3, rows + x, 3);
        for (size_t y = 0; y < 4; y++)
            transform_3(rows + 3 * y, 1, all + 4 * y, 1);
        int16_t *to = packed + out / INT8_GROUP * INT8_WINOGRAD_POSITIONS * position +
                      (in / 2 * INT8_GROUP + out % INT8_GROUP) * 2 + in % 2;
        for (size_t k = 0; k < INT8_WINOGRAD_POSITIONS; k++)
            to[k * position] = all[k];
    }
}
