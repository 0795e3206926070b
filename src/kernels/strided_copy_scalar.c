/* Strided copies: memcpy of rows if both layouts have dense rows, otherwise square tiles, so that a
 * transpose reads every cache line once.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/inline.h"
#include "kernels/pack_transpose.h"
#include "kernels/strided_copy.h"

#define TILE 16 /* 16 elements of 4 bytes are a cache line */

/* Adds an innermost loop, or merges it with the innermost loop so far. */
static void add_loop(struct strided_copy *copy, struct strided_loop loop)
{
    const struct strided_loop *last = copy->rank > 0 ? &copy->loops[copy->rank - 1] : NULL;
    if (last && last->from == loop.from * loop.n && last->to == loop.to * loop.n) {
        loop.n *= last->n;
        copy->rank--;
    }
    copy->loops[copy->rank++] = loop;
}

static void swap_loops(struct strided_loop *a, struct strided_loop *b)
{
    struct strided_loop loop = *a;
    *a = *b;
    *b = loop;
}

void strided_copy_plan(struct strided_copy *copy, uint32_t rank, const int64_t *dims,
                       const int64_t *from_strides, const int64_t *to_strides)
{
    *copy = (struct strided_copy){0};
    for (uint32_t i = 0; i < rank; i++) {
        copy->is_empty |= dims[i] == 0;
        if (dims[i] > 1)
            add_loop(copy, (struct strided_loop){dims[i], from_strides[i], to_strides[i]});
    }
    /* For a transpose, moves the loop that is dense in `from` next to the one that is dense in
     * `to`. */
    for (uint32_t i = 0; i + 2 < copy->rank; i++)
        if (copy->loops[i].from == 1 && copy->loops[copy->rank - 1].from != 1)
            swap_loops(&copy->loops[i], &copy->loops[copy->rank - 2]);
}

/* The two innermost loops. */
struct plane {
    struct strided_loop outer, inner;
};

ALWAYS_INLINE void copy_sized(const struct plane *plane, const char *from, char *to, int64_t size)
{
    const struct plane own = *plane; /* a local copy, which byte stores cannot alias */
    int64_t from_step = own.inner.from * size, to_step = own.inner.to * size;
    for (int64_t i = 0; i < own.outer.n; i++) {
        const char *source = from + i * own.outer.from * size;
        char *target = to + i * own.outer.to * size;
        for (int64_t j = 0; j < own.inner.n; j++)
            memcpy(target + j * to_step, source + j * from_step, (size_t)size);
    }
}

/* Transposes a whole tile with vectors. Returns false, without copying, unless the plane is the
 * transpose of a whole tile of elements of 2 or 4 bytes. */
static bool transpose_tile(int64_t size, const struct plane *plane, const char *from, char *to)
{
    int64_t from_step = plane->inner.from * size, to_step = plane->outer.to * size;
    if (plane->outer.n != TILE || plane->inner.n != TILE || plane->outer.from != 1 ||
        plane->inner.to != 1 || from_step <= 0 || to_step <= 0 || (size != 4 && size != 2))
        return false;
    (size == 4 ? pack_transpose_f32 : pack_transpose_f16)(from, (size_t)from_step, to,
                                                          (size_t)to_step);
    return true;
}

/* Calls copy_sized with a constant size, so that memcpy becomes one load and one store. */
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
    if (plane->inner.from == 1 && plane->inner.to == 1) {
        for (int64_t i = 0; i < plane->outer.n; i++)
            memcpy(to + i * plane->outer.to * size, from + i * plane->outer.from * size,
                   (size_t)(plane->inner.n * size));
        return;
    }
    int64_t step[2] = {TILE, TILE};
    if (plane->outer.from != 1)
        step[1] = plane->inner.n; /* not a transpose: whole rows */
    for (int64_t i = 0; i < plane->outer.n; i += step[0]) {
        for (int64_t j = 0; j < plane->inner.n; j += step[1]) {
            struct plane tile = *plane;
            tile.outer.n = at_most(plane->outer.n - i, step[0]);
            tile.inner.n = at_most(plane->inner.n - j, step[1]);
            const char *source = from + (i * plane->outer.from + j * plane->inner.from) * size;
            char *target = to + (i * plane->outer.to + j * plane->inner.to) * size;
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
    struct plane plane = {{1, 0, 0}, {1, 1, 1}};
    uint32_t n_outer = copy->rank > 2 ? copy->rank - 2 : 0;
    if (copy->rank > 0)
        plane.inner = copy->loops[copy->rank - 1];
    if (copy->rank > 1)
        plane.outer = copy->loops[copy->rank - 2];
    int64_t source = 0, target = 0;
    for (;;) {
        copy_plane(size, &plane, (const char *)from + source * size, (char *)to + target * size);
        uint32_t i = n_outer;
        for (; i > 0; i--) {
            const struct strided_loop *loop = &copy->loops[i - 1];
            source += loop->from;
            target += loop->to;
            if (++index[i - 1] < loop->n)
                break;
            source -= loop->from * loop->n;
            target -= loop->to * loop->n;
            index[i - 1] = 0;
        }
        if (i == 0)
            return;
    }
}
