/* Loops of the strided copy: memcpy of rows if both sides are dense, otherwise square tiles, so
 * that a transpose reads every cache line once.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/inline.h"
#include "kernels/pack_transpose.h"
#include "kernels/strided_copy.h"

#define TILE 16 /* 16 elements of 4 bytes are a cache line */

/* Adds a loop inside the others, or merges it with the innermost one. */
static void add_loop(struct strided_copy *copy, int64_t dim, int64_t from, int64_t to)
{
    uint32_t i = copy->rank;
    copy->dims[i] = dim;
    if (i > 0 && copy->from_strides[i - 1] == from * dim && copy->to_strides[i - 1] == to * dim)
        copy->dims[--i] *= dim;
    copy->from_strides[i] = from;
    copy->to_strides[i] = to;
    copy->rank = i + 1;
}

static void swap_loops(struct strided_copy *copy, uint32_t a, uint32_t b)
{
    int64_t dim = copy->dims[a], from = copy->from_strides[a], to = copy->to_strides[a];
    copy->dims[a] = copy->dims[b];
    copy->from_strides[a] = copy->from_strides[b];
    copy->to_strides[a] = copy->to_strides[b];
    copy->dims[b] = dim;
    copy->from_strides[b] = from;
    copy->to_strides[b] = to;
}

void strided_copy_plan(struct strided_copy *copy, uint32_t rank, const int64_t *dims,
                       const int64_t *from_strides, const int64_t *to_strides)
{
    *copy = (struct strided_copy){0};
    for (uint32_t i = 0; i < rank; i++) {
        copy->is_empty |= dims[i] == 0;
        if (dims[i] > 1)
            add_loop(copy, dims[i], from_strides[i], to_strides[i]);
    }
    /* For a transpose, moves the loop that is dense in `from` next to the one that is dense in
     * `to`. */
    for (uint32_t i = 0; i + 2 < copy->rank; i++)
        if (copy->from_strides[i] == 1 && copy->from_strides[copy->rank - 1] != 1)
            swap_loops(copy, i, copy->rank - 2);
}

/* n0 x n1 elements, with strides for both loops. */
struct plane {
    int64_t n[2], from_strides[2], to_strides[2];
};

ALWAYS_INLINE void copy_sized(const struct plane *plane, const char *from, char *to, int64_t size)
{
    const struct plane own = *plane; /* a local copy, which cannot alias stores to bytes */
    int64_t from_step = own.from_strides[1] * size, to_step = own.to_strides[1] * size;
    for (int64_t i = 0; i < own.n[0]; i++) {
        const char *source = from + i * own.from_strides[0] * size;
        char *target = to + i * own.to_strides[0] * size;
        for (int64_t j = 0; j < own.n[1]; j++)
            memcpy(target + j * to_step, source + j * from_step, (size_t)size);
    }
}

/* Transposes a whole tile by vectors. Returns false unless the copy transposes a whole tile
 * of elements of 2 or 4 bytes. */
static bool transpose_tile(int64_t size, const struct plane *plane, const char *from, char *to)
{
    int64_t from_step = plane->from_strides[1] * size, to_step = plane->to_strides[0] * size;
    if (plane->n[0] != TILE || plane->n[1] != TILE || plane->from_strides[0] != 1 ||
        plane->to_strides[1] != 1 || from_step <= 0 || to_step <= 0 || (size != 4 && size != 2))
        return false;
    (size == 4 ? pack_transpose_f32 : pack_transpose_f16)(from, (size_t)from_step, to,
                                                          (size_t)to_step);
    return true;
}

/* With a constant size, memcpy becomes one load and one store. */
static void copy_tile(int64_t size, const struct plane *plane, const char *from, char *to)
{
    switch (size) {
    case 1:
        copy_sized(plane, from, to, 1);
        break;
    case 2:
        copy_sized(plane, from, to, 2);
        break;
    case 4:
        copy_sized(plane, from, to, 4);
        break;
    default:
        copy_sized(plane, from, to, 8);
        break;
    }
}

static int64_t at_most(int64_t n, int64_t limit)
{
    return n < limit ? n : limit;
}

static void copy_plane(int64_t size, const struct plane *plane, const char *from, char *to)
{
    if (plane->from_strides[1] == 1 && plane->to_strides[1] == 1) {
        for (int64_t i = 0; i < plane->n[0]; i++)
            memcpy(to + i * plane->to_strides[0] * size, from + i * plane->from_strides[0] * size,
                   (size_t)(plane->n[1] * size));
        return;
    }
    int64_t step[2] = {TILE, TILE};
    if (plane->from_strides[0] != 1)
        step[1] = plane->n[1]; /* not a transpose: whole rows */
    for (int64_t i = 0; i < plane->n[0]; i += step[0]) {
        for (int64_t j = 0; j < plane->n[1]; j += step[1]) {
            struct plane tile = *plane;
            tile.n[0] = at_most(plane->n[0] - i, step[0]);
            tile.n[1] = at_most(plane->n[1] - j, step[1]);
            const char *source =
                from + (i * plane->from_strides[0] + j * plane->from_strides[1]) * size;
            char *target = to + (i * plane->to_strides[0] + j * plane->to_strides[1]) * size;
            if (!transpose_tile(size, &tile, source, target))
                copy_tile(size, &tile, source, target);
        }
    }
}

void strided_copy_run(const struct strided_copy *copy, size_t element_bytes, const void *from,
                      void *to)
{
    if (copy->is_empty)
        return;
    int64_t index[STRIDED_COPY_MAX_RANK] = {0}, size = (int64_t)element_bytes;
    struct plane plane = {{1, 1}, {0, 1}, {0, 1}};
    uint32_t n_outer = copy->rank > 2 ? copy->rank - 2 : 0;
    for (uint32_t i = n_outer, k = 2 - (copy->rank - n_outer); i < copy->rank; i++, k++) {
        plane.n[k] = copy->dims[i];
        plane.from_strides[k] = copy->from_strides[i];
        plane.to_strides[k] = copy->to_strides[i];
    }
    int64_t source = 0, target = 0;
    for (;;) {
        copy_plane(size, &plane, (const char *)from + source * size, (char *)to + target * size);
        uint32_t i = n_outer;
        for (; i > 0; i--) {
            source += copy->from_strides[i - 1];
            target += copy->to_strides[i - 1];
            if (++index[i - 1] < copy->dims[i - 1])
                break;
            source -= copy->from_strides[i - 1] * copy->dims[i - 1];
            target -= copy->to_strides[i - 1] * copy->dims[i - 1];
            index[i - 1] = 0;
        }
        if (i == 0)
            return;
    }
}
