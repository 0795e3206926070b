/* Prepares packed matrices for kernels that add pairs of products in 16 bits: moves the part that
 * could overflow to a struct int8_excess, or reorders the quads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/gemm_int8.h"

#define MAX_SUM 128 /* maximum sum of a pair: 255 * 128 fits into 16 bits, 255 * 129 does not */

enum { QUAD_BYTES = INT8_GROUP * INT8_QUAD };

/* Returns the number to subtract from the second element of a pair so that the dot product of the
 * pair and any two bytes fits into 16 bits. */
static int find_excess(const int8_t pair[2])
{
    int sum = pair[0] + pair[1];
    return sum > MAX_SUM ? sum - MAX_SUM : sum < -MAX_SUM ? sum + MAX_SUM : 0;
}

/* Returns whether any pair in a quad has an excess. */
static bool has_excess(const int8_t *quad)
{
    bool any = false;
    for (size_t i = 0; i < QUAD_BYTES; i += 2)
        any |= find_excess(quad + i) != 0;
    return any;
}

size_t int8_excess_count(const int8_t *packed, size_t n_quads)
{
    size_t n = 0;
    for (size_t i = 0; i < n_quads; i++)
        n += has_excess(packed + i * QUAD_BYTES);
    return n;
}

static void extract_excess(int8_t *quad, int16_t (*to)[2])
{
    for (size_t i = 0; i < QUAD_BYTES; i += 2) {
        int excess = find_excess(quad + i);
        to[i / INT8_QUAD][i % INT8_QUAD / 2] = (int16_t)excess;
        quad[i + 1] = (int8_t)(quad[i + 1] - excess);
    }
}

void int8_excess_extract(int8_t *packed, size_t n_groups, size_t n_segments, size_t n_quads,
                         const struct int8_excess *to)
{
    uint32_t n = 0;
    for (size_t i = 0; i < n_groups * n_segments * n_quads; i++) {
        size_t in_group = i % (n_segments * n_quads);
        if (in_group == 0)
            to->begins[i / (n_segments * n_quads)] = n;
        if (!has_excess(packed + i * QUAD_BYTES))
            continue;
        to->places[n].segment = (uint32_t)(in_group / n_quads);
        to->places[n].quad = (uint32_t)(in_group % n_quads);
        extract_excess(packed + i * QUAD_BYTES, to->odd + n++ * INT8_GROUP);
    }
    to->begins[n_groups] = n;
}

void int8_split_quads(int8_t *packed, size_t n_quads)
{
    for (size_t i = 0; i < n_quads; i++, packed += QUAD_BYTES) {
        int8_t quad[QUAD_BYTES];
        memcpy(quad, packed, sizeof quad);
        for (size_t k = 0; k < QUAD_BYTES; k++)
            packed[k % INT8_QUAD / 2 * (QUAD_BYTES / 2) + k / INT8_QUAD * 2 + k % 2] = quad[k];
    }
}
