/* Follows the time axis through a Reshape. A Reshape keeps the row-major order: the product of the
 * dimensions before the time axis does not change, nor does that of the dimensions after it. The
 * output has a time axis if the dimensions before and after it have these products.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/time_rules.h"

#include "base/checked.h"

struct reshape {
    struct time_op *t;
    struct time_items shape;
    int64_t dims[IRRUN_MAX_RANK]; /* the output's dimensions in the XML; -1: dynamic */
    int64_t before, after;        /* products of the dimensions around the time axis; -1: unknown */
    uint32_t found;               /* the time axis of the output */
    bool has_fixed_frames;        /* the shape contains the number of frames as a constant */
};

/* Multiplies two dimensions. Returns -1 if one is dynamic, or if the product is too large. */
static int64_t multiply(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || !checked_mul_i64(a, b, &product) ? -1 : product;
}

/* Returns whether dimension i of the output is copied from the input. */
static bool is_copied(const struct reshape *r, uint32_t i)
{
    const bool *special_zero = op_attr(r->t->op, "special_zero");
    return *special_zero && r->shape.items[i].kind == TIME_ITEM_NUMBER &&
           r->shape.items[i].number == 0;
}

static void read_input(struct reshape *r)
{
    const struct time_op *t = r->t;
    uint32_t data = op_input(t->graph, t->op, 0);
    r->before = t->in.outer == 0 ? -1 : t->in.outer;
    r->after = t->in.inner;
    for (uint32_t i = 0; i < time_rank(t->graph, data); i++) {
        int64_t dim = time_dim(t->graph, data, i);
        if (i < t->in.axis)
            r->before = multiply(r->before, dim);
        else if (i > t->in.axis)
            r->after = multiply(r->after, dim);
    }
}

static void read_output(struct reshape *r)
{
    const struct time_op *t = r->t;
    for (uint32_t i = 0; i < r->shape.n; i++) {
        const struct time_item *item = &r->shape.items[i];
        r->dims[i] = item->kind == TIME_ITEM_NUMBER && item->number > 0
                         ? item->number
                         : time_dim(t->graph, t->op->first_output, i);
        if (item->kind == TIME_ITEM_FRAMES)
            r->dims[i] = -1;
    }
}

/* Finds the dimension that is computed from the number of frames. */
static bool find_item(struct reshape *r)
{
    for (uint32_t i = 0; i < r->shape.n; i++) {
        if (r->shape.items[i].kind == TIME_ITEM_FRAMES || (is_copied(r, i) && i == r->t->in.axis)) {
            r->found = i;
            return true;
        }
    }
    return false;
}

/* Finds the dimension that is -1 in the shape. With one frame, it is the time axis, which cannot be
 * found by its size of 1. */
static bool find_inferred(struct reshape *r)
{
    for (uint32_t i = 0; i < r->shape.n; i++) {
        r->found = i;
        if (r->shape.items[i].kind == TIME_ITEM_NUMBER && r->shape.items[i].number == -1)
            return r->dims[i] == 1;
    }
    return false;
}

/* Finds the time axis from the end: the product of the dimensions after it must divide r->after. */
static bool find_by_size(struct reshape *r)
{
    int64_t size = 1;
    for (uint32_t i = r->shape.n; i-- > 0 && r->after > 0;) {
        const struct time_item *item = &r->shape.items[i];
        bool is_inferred = item->kind == TIME_ITEM_NUMBER && item->number == -1;
        int64_t next = multiply(size, r->dims[i]);
        if (item->kind != TIME_ITEM_NUMBER || (next < 0 && !is_inferred))
            return false;
        if (next > 0 && r->after % next == 0) {
            size = next;
            continue;
        }
        r->found = i;
        r->has_fixed_frames = !is_inferred;
        return true;
    }
    return r->t->walk->n_frames == 1 && r->after == size && find_inferred(r);
}

/* Computes *outer and *inner of the output. Returns false if the products of the input are not
 * multiples of those of the output. */
static bool divide(const struct reshape *r, int64_t *outer, int64_t *inner)
{
    const struct time_op *t = r->t;
    int64_t before = 1, after = 1, n_frames = t->walk->n_frames;
    bool is_prefix = r->found == t->in.axis;
    for (uint32_t i = 0; i < r->shape.n; i++) {
        if (i < r->found)
            before = multiply(before, r->dims[i]);
        else if (i > r->found)
            after = multiply(after, r->dims[i]);
        is_prefix = is_prefix && (i >= r->found || is_copied(r, i));
    }
    *outer = is_prefix ? t->in.outer : 0;
    if (!is_prefix && before > 0 && r->before > 0) {
        *outer = r->before / before;
        if (r->before % before != 0)
            return false;
    }
    const struct time_item *item = &r->shape.items[r->found];
    int64_t factor = is_copied(r, r->found)                ? t->in.outer * t->in.inner
                     : item->kind == TIME_ITEM_FRAMES      ? item->number
                     : r->has_fixed_frames && n_frames > 0 ? r->dims[r->found] / n_frames
                                                           : 0;
    if (r->has_fixed_frames && (n_frames <= 0 || r->dims[r->found] % n_frames != 0))
        return false;
    if (after > 0 && r->after > 0) {
        *inner = r->after / after;
        if (r->after % after != 0 || *inner == 0 || factor % *inner != 0)
            return false;
        if (*outer == 0)
            *outer = factor / *inner;
        return factor == 0 || *outer * *inner == factor;
    }
    *inner = *outer > 0 ? factor / *outer : 0;
    return *inner > 0 && *outer * *inner == factor;
}

/* Replaces the number of frames in the shape with -1. Any other -1 becomes 0 (a copy) if it is
 * the batch, otherwise its size in the XML. */
static bool make_dynamic(struct reshape *r)
{
    struct time_walk *walk = r->t->walk;
    struct time_reshape change = {.op_id = (uint32_t)(r->t->op - r->t->graph->ops),
                                  .n = r->shape.n};
    for (uint32_t i = 0; i < r->shape.n; i++) {
        const struct time_item *item = &r->shape.items[i];
        bool is_batch = i == 0 && r->found == 1 && r->t->in.axis == 1;
        change.dims[i] = i == r->found                                       ? -1
                         : is_copied(r, i) || (item->number < 0 && is_batch) ? 0
                         : item->number < 0                                  ? r->dims[i]
                                                                             : item->number;
        if (i != r->found && (change.dims[i] < 0 || (item->number == 0 && !is_copied(r, i))))
            return time_refuse(r->t, "has %lld frames and another dynamic dimension in its shape",
                               (long long)walk->n_frames);
    }
    if (walk->is_trial)
        return true;
    if (!GROW_ARRAY(walk->reshapes, walk->n_reshapes, walk->reshapes_capacity, walk->err))
        return false;
    walk->reshapes[walk->n_reshapes++] = change;
    return true;
}

bool time_rule_reshape(struct time_op *t)
{
    struct reshape r = {.t = t};
    if (t->first != 0)
        return time_refuse(t, "depends on time in input %u", t->first);
    if (!time_items_find(t->walk, op_input(t->graph, t->op, 1), &r.shape))
        return time_refuse(t, "has a shape that is not known");
    read_input(&r);
    read_output(&r);
    struct time_use out = {.kind = TIME_ALONG};
    if ((!find_item(&r) && !find_by_size(&r)) || !divide(&r, &out.outer, &out.inner))
        return time_refuse(t, "regroups elements across frames");
    if (r.has_fixed_frames && !make_dynamic(&r))
        return false;
    out.axis = r.found;
    t->out[0] = out;
    return true;
}
