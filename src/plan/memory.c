/* Assigns every value an offset in one block. Offsets are multiples of a cache line. In the order
 * of the steps, each value gets the smallest gap that is large enough (best fit). Its memory
 * becomes a gap again after its last use.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/memory_limit.h"
#include "ops/op_state.h"
#include "plan/plan_internal.h"

#define SPARE_BYTES 256 /* room to grow, in addition to half of the size */
#define ROOM_PART 16    /* a block larger than memory_limit() / ROOM_PART gets no room to grow */

struct gap {
    size_t offset, size;
};

struct layout {
    struct gap *gaps; /* sorted by offset; no two are adjacent */
    size_t n_gaps, capacity;
    size_t end; /* all memory after it is free */
};

static uint32_t owner_of(const struct plan *plan, const struct irrun_tensor *tensor)
{
    size_t offset;
    return plan_owner(plan, (uint32_t)(slot_of(tensor) - plan->slots), &offset);
}

/* Returns the size plus room for larger shapes, so that a growing state rarely needs a new plan. */
static size_t with_room(const struct layout *layout, size_t size)
{
    size_t limit = memory_limit() / ROOM_PART;
    return size < limit && layout->end < limit - size ? size + size / 2 + SPARE_BYTES : size;
}

static bool size_slot(const struct layout *layout, struct slot *slot)
{
    size_t size;
    if (!tensor_size(slot->tensor.dtype, &slot->tensor.shape, &size))
        return false;
    slot->room_bytes = align_to_line(slot->gets_room ? with_room(layout, size) : size);
    return true;
}

static void remove_gap(struct layout *layout, size_t at)
{
    layout->n_gaps--;
    memmove(layout->gaps + at, layout->gaps + at + 1, (layout->n_gaps - at) * sizeof *layout->gaps);
}

static bool allocate(struct layout *layout, size_t size, size_t *offset)
{
    size_t best = layout->n_gaps;
    for (size_t i = 0; i < layout->n_gaps; i++)
        if (layout->gaps[i].size >= size &&
            (best == layout->n_gaps || layout->gaps[i].size < layout->gaps[best].size))
            best = i;
    if (best < layout->n_gaps) {
        struct gap *gap = &layout->gaps[best];
        *offset = gap->offset;
        gap->offset += size;
        gap->size -= size;
        if (gap->size == 0)
            remove_gap(layout, best);
        return true;
    }
    *offset = layout->end;
    return checked_add(layout->end, size, &layout->end);
}

static bool free_range(struct layout *layout, size_t offset, size_t size, struct irrun_error *err)
{
    if (size == 0)
        return true;
    size_t at = layout->n_gaps;
    while (at > 0 && layout->gaps[at - 1].offset > offset)
        at--;
    if (!GROW_ARRAY(layout->gaps, layout->n_gaps, layout->capacity, err))
        return false;
    struct gap *gap = layout->gaps + at;
    memmove(gap + 1, gap, (layout->n_gaps++ - at) * sizeof *gap);
    *gap = (struct gap){offset, size};
    if (at + 1 < layout->n_gaps && offset + size == gap[1].offset) {
        gap->size += gap[1].size;
        remove_gap(layout, at + 1);
    }
    if (at > 0 && gap[-1].offset + gap[-1].size == offset) {
        gap[-1].size += gap->size;
        remove_gap(layout, at);
    }
    return true;
}

/* Returns whether an input other than `chosen` would be overwritten before it is read. */
static bool overwrites_other_input(const struct plan *plan, const struct step *step,
                                   uint32_t chosen)
{
    uint32_t root = plan_root_of(plan, step->in[chosen]);
    /* With OP_IN_PLACE, any input may share the memory of the output. */
    bool is_in_place = step->op->def->flags & OP_IN_PLACE;
    for (uint32_t i = 0; i < step->n_inputs; i++)
        if (i != chosen && owner_of(plan, step->in[i]) == root &&
            !(is_in_place && plan_root_of(plan, step->in[i]) == root))
            return true;
    return false;
}

/* Places output 0 in the memory of the first input that has its shape and element size and that no
 * later step reads. Returns false if there is none. */
static bool place_over_input(struct plan *plan, const struct step *step, uint32_t step_id,
                             uint32_t out_id)
{
    if (!step->state || is_fused_step(step))
        return false;
    uint32_t flags = step->op->def->flags;
    uint32_t n = flags & OP_IN_PLACE ? step->n_inputs : flags & OP_IN_PLACE_INPUT0 ? 1 : 0;
    struct slot *out = &plan->slots[out_id];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t in_id = plan_root_of(plan, step->in[i]);
        struct slot *in = &plan->slots[in_id];
        if (in->kind != SLOT_BLOCK || in->last_step != step_id || in_id == out_id ||
            in->first_step == step_id || !shape_equals(&step->in[i]->shape, &step->out[0]->shape) ||
            !shape_equals(&in->tensor.shape, &step->in[i]->shape) || in->parent != NO_ID ||
            dtype_size(in->tensor.dtype) != dtype_size(out->tensor.dtype) ||
            overwrites_other_input(plan, step, i))
            continue;
        out->root = in_id;
        in->last_step = out->last_step;
        return true;
    }
    return false;
}

bool plan_concat_is_contiguous(const struct step *step)
{
    int64_t axis = ((const struct concat_attrs *)step->op->attrs)->axis;
    const struct irrun_shape *shape = &step->out[0]->shape;
    return shape_product(shape, 0, (uint32_t)(axis < 0 ? axis + shape->rank : axis)) == 1;
}

/* If each input of a Concat is contiguous in its output, places the inputs inside the output, so
 * that the steps that compute them write there. The output is in use as long as one of its
 * inputs. */
static void join_inputs(struct plan *plan, const struct step *step)
{
    uint32_t out_id = plan_root_of(plan, step->out[0]);
    struct slot *out = &plan->slots[out_id];
    size_t offset = 0, size_bytes;
    if (out->kind != SLOT_BLOCK || !plan_concat_is_contiguous(step))
        return;
    for (uint32_t i = 0; i < step->n_inputs; i++, offset += size_bytes) {
        struct slot *in = &plan->slots[plan_root_of(plan, step->in[i])];
        size_bytes = tensor_n_bytes(step->in[i]);
        if (in == out || in->kind != SLOT_BLOCK || in->parent != NO_ID || in->last_step == NO_ID ||
            tensor_n_bytes(&in->tensor) != size_bytes)
            continue;
        in->parent = out_id;
        in->parent_offset = offset;
        if (out->first_step > in->first_step)
            out->first_step = in->first_step;
        if (out->last_step < in->last_step)
            out->last_step = in->last_step;
    }
}

/* Returns whether the slot owns the memory of one of the first n outputs. */
static bool owns_one_of(const struct plan *plan, uint32_t id, const struct step *step, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (owner_of(plan, step->out[k]) == id)
            return true;
    return false;
}

static bool place_outputs(struct plan *plan, struct layout *layout, const struct step *step,
                          uint32_t step_id, struct irrun_error *err)
{
    for (uint32_t k = 0; k < step->n_outputs; k++) {
        uint32_t id = owner_of(plan, step->out[k]);
        struct slot *slot = &plan->slots[id];
        if (slot->kind != SLOT_BLOCK || slot->first_step != step_id ||
            owns_one_of(plan, id, step, k))
            continue;
        bool is_whole = id == plan_root_of(plan, step->out[k]);
        if (k == 0 && is_whole && place_over_input(plan, step, step_id, id))
            continue;
        if (!size_slot(layout, slot) || !allocate(layout, slot->room_bytes, &slot->offset))
            return fail_memory(err, SIZE_MAX);
    }
    return true;
}

static bool release(struct plan *plan, struct layout *layout, struct irrun_tensor *const *tensors,
                    uint32_t n, uint32_t step_id, struct irrun_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        struct slot *slot = &plan->slots[owner_of(plan, tensors[i])];
        if (slot->kind != SLOT_BLOCK || slot->last_step != step_id)
            continue;
        slot->last_step = NO_ID;
        if (!free_range(layout, slot->offset, slot->room_bytes, err))
            return false;
    }
    return true;
}

bool plan_place_slots(struct plan *plan, size_t scratch_bytes, struct irrun_error *err)
{
    if (scratch_bytes > PTRDIFF_MAX)
        return fail_memory(err, scratch_bytes);
    struct layout layout = {0};
    if (plan->has_room)
        scratch_bytes = with_room(&layout, scratch_bytes);
    layout.end = align_to_line(scratch_bytes);
    plan->scratch_bytes = scratch_bytes;
    bool is_ok = true;
    for (uint32_t i = 0; i < plan->n_steps && !plan->request.model->no_fusion; i++)
        if (plan->steps[i].state && op_is_type(plan->steps[i].op, "Concat"))
            join_inputs(plan, &plan->steps[i]);
    for (uint32_t i = 0; i < plan->n_steps && is_ok; i++) {
        const struct step *step = &plan->steps[i];
        is_ok = place_outputs(plan, &layout, step, i, err) &&
                release(plan, &layout, step->in, step->n_inputs, i, err) &&
                release(plan, &layout, step->out, step->n_outputs, i, err);
    }
    plan->block_bytes = layout.end;
    free(layout.gaps);
    return is_ok;
}
