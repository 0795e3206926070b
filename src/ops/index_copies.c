/* Copies the pieces that indices select. If the indices are constant, merges pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/index_copies.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/indexed_copy.h"
#include "ops/movement.h"
#include "ops/scatter.h"

enum { INDICES = 1, UPDATES };

/* ---- prepare: loops ----------------------------------------------------------------------- */

#define LOOPS_MAX_RANK 4

/* Loops over pieces, innermost first; strides are in bytes. */
struct loops {
    uint32_t rank;
    int64_t dims[LOOPS_MAX_RANK], strides[LOOPS_MAX_RANK];
};

/* Finds nested loops that visit the n offsets in their order. Returns false if there are none.
 * `unit` is the number of offsets that the loops found so far visit. */
static bool find_loops(const int64_t *offsets, size_t n, struct loops *loops)
{
    *loops = (struct loops){0};
    for (size_t unit = 1; unit < n;) {
        int64_t stride = offsets[unit] - offsets[0];
        size_t dim = 2;
        while (dim * unit < n && offsets[dim * unit] - offsets[(dim - 1) * unit] == stride)
            dim++;
        if (loops->rank == LOOPS_MAX_RANK || n % (dim * unit) != 0)
            return false;
        for (size_t first = 0; first < n; first += dim * unit)
            for (size_t i = 1; i < dim; i++)
                if (offsets[first + i * unit] - offsets[first + (i - 1) * unit] != stride)
                    return false;
        loops->dims[loops->rank] = (int64_t)dim;
        loops->strides[loops->rank++] = stride;
        unit *= dim;
    }
    return true;
}

/* Returns false if pieces may overlap, in which case their order matters. */
static bool are_disjoint(const struct loops *loops, int64_t piece_bytes)
{
    for (uint32_t i = 0; i < loops->rank; i++) {
        if (loops->strides[i] < piece_bytes)
            return false;
        piece_bytes += loops->strides[i] * (loops->dims[i] - 1);
    }
    return true;
}

static bool plan_loops(struct prepare *prepare, const struct loops *loops, bool is_gather,
                       struct index_copies *copies)
{
    int64_t dims[LOOPS_MAX_RANK + 2], strides[LOOPS_MAX_RANK + 2], dense[LOOPS_MAX_RANK + 2];
    int64_t size = (int64_t)dtype_size(prepare->out[0]->dtype);
    uint32_t rank = 1;
    dims[0] = (int64_t)copies->n_outer;
    strides[0] = (int64_t)copies->outer_elements;
    for (uint32_t i = loops->rank; i-- > 0; rank++) {
        dims[rank] = loops->dims[i];
        strides[rank] = loops->strides[i] / size;
    }
    dims[rank] = (int64_t)copies->piece_elements;
    strides[rank++] = 1;
    dense_strides(rank, dims, dense);
    struct strided_copy *copy = arena_alloc(prepare->arena, sizeof *copy, prepare->err);
    if (!copy)
        return false;
    strided_copy_plan(copy, rank, dims, is_gather ? strides : dense, is_gather ? dense : strides);
    copies->loops = copy;
    return true;
}

/* ---- prepare: runs ------------------------------------------------------------------------ */

/* Returns whether piece k follows piece k - 1 in memory, or both are zeros. */
static bool is_contiguous(const int64_t *offsets, size_t k, int64_t piece_bytes)
{
    if (offsets[k] < 0 || offsets[k - 1] < 0)
        return offsets[k] == offsets[k - 1];
    return offsets[k] == offsets[k - 1] + piece_bytes;
}

static bool list_runs(struct prepare *prepare, const int64_t *offsets, size_t n_runs,
                      struct index_copies *copies)
{
    size_t piece_bytes = copies->piece_elements * dtype_size(prepare->out[0]->dtype), run = 0;
    struct index_run *runs = arena_alloc_array(prepare->arena, n_runs, sizeof *runs, prepare->err);
    if (!runs)
        return false;
    for (size_t k = 0; k < copies->n; k++) {
        if (k > 0 && is_contiguous(offsets, k, (int64_t)piece_bytes))
            runs[run - 1].n_elements += copies->piece_elements;
        else
            runs[run++] = (struct index_run){offsets[k], copies->piece_elements};
    }
    copies->runs = runs;
    copies->n_runs = n_runs;
    return true;
}

/* ---- prepare ------------------------------------------------------------------------------ */

static bool has_negative(const int64_t *offsets, size_t n)
{
    int64_t all = 0;
    for (size_t k = 0; k < n; k++)
        all |= offsets[k];
    return all < 0;
}

/* Stores the offsets in the form that makes the copies fastest. A list of runs is never larger than
 * the offsets; loops have a fixed size. */
static bool store_offsets(struct prepare *prepare, const int64_t *offsets, bool is_gather,
                          struct index_copies *copies)
{
    size_t n = copies->n_groups * copies->n, n_runs = 1;
    size_t piece_bytes = copies->piece_elements * dtype_size(prepare->out[0]->dtype);
    struct loops loops;
    if (!copies->combine && copies->n_groups == 1 && !has_negative(offsets, n) &&
        find_loops(offsets, n, &loops) &&
        (is_gather || are_disjoint(&loops, (int64_t)piece_bytes))) {
        copies->loops_at = offsets[0];
        return plan_loops(prepare, &loops, is_gather, copies);
    }
    for (size_t k = 1; k < n; k++)
        n_runs += !is_contiguous(offsets, k, (int64_t)piece_bytes);
    if (copies->n_groups == 1 && n_runs <= n / 2)
        return list_runs(prepare, offsets, n_runs, copies);
    int64_t *items = arena_alloc_array(prepare->arena, n, sizeof *items, prepare->err);
    if (items)
        memcpy(items, offsets, n * sizeof *items);
    copies->offsets.items = items;
    return items != NULL;
}

bool index_copies_prepare(struct prepare *prepare, index_resolve_fn *resolve, bool is_gather,
                          struct index_copies *copies)
{
    if (copies->n_outer == 1) {
        copies->n *= copies->n_groups;
        copies->n_groups = 1;
    }
    size_t n = copies->n_groups * copies->n;
    if (n == 0 || !prepare_is_constant(prepare, INDICES))
        return index_list_prepare(prepare, INDICES, n, resolve, &copies->offsets);
    int64_t *offsets = new_array(n, sizeof *offsets, prepare->err);
    const struct step step = prepare_step(prepare);
    bool is_done = offsets && resolve(&step, offsets, prepare->err) &&
                   store_offsets(prepare, offsets, is_gather, copies);
    free(offsets);
    return is_done;
}

/* ---- run ---------------------------------------------------------------------------------- */

static char *copy_or_clear(char *to, const char *from, int64_t offset, size_t n_bytes)
{
    if (offset >= 0)
        memcpy(to, from + offset, n_bytes);
    else
        memset(to, 0, n_bytes);
    return to + n_bytes;
}

static void gather(const struct index_copies *copies, const char *from, const int64_t *offsets,
                   size_t element_bytes, char *to)
{
    size_t piece_bytes = copies->piece_elements * element_bytes;
    for (size_t k = 0; k < copies->n_runs; k++)
        to = copy_or_clear(to, from, copies->runs[k].offset,
                           copies->runs[k].n_elements * element_bytes);
    if (copies->runs)
        return;
    if (!copies->gives_zeros || !has_negative(offsets, copies->n)) {
        indexed_gather(from, offsets, copies->n, piece_bytes, to);
        return;
    }
    for (size_t k = 0; k < copies->n; k++)
        to = copy_or_clear(to, from, offsets[k], piece_bytes);
}

static void scatter(const struct index_copies *copies, const char *from, const int64_t *offsets,
                    size_t element_bytes, char *to)
{
    binary_fn *fn = copies->combine;
    for (size_t k = 0; k < copies->n_runs; k++) {
        const struct index_run *run = &copies->runs[k];
        scatter_apply(fn, from, 1, run->n_elements, element_bytes, to, &run->offset);
        from += run->n_elements * element_bytes;
    }
    if (!copies->runs)
        scatter_apply(fn, from, copies->n, copies->piece_elements, element_bytes, to, offsets);
}

/* Sets *offsets to the list of offsets, or to NULL if there are runs instead. */
static bool find_offsets(const struct step *step, const struct index_copies *copies,
                         const int64_t **offsets, struct irrun_error *err)
{
    *offsets = copies->runs ? NULL : index_list_get(step, &copies->offsets, err);
    return copies->runs || *offsets;
}

const struct op_input_def index_gather_inputs[2] = {
    {"data", .types = TYPES_ANY},
    {"indices", .types = TYPES_INTEGER},
};

bool index_gather_run(const struct step *step, const struct index_copies *copies,
                      struct irrun_error *err)
{
    size_t size = dtype_size(step->out[0]->dtype);
    size_t dense_bytes = copies->n * copies->piece_elements * size;
    const char *from = step->in[0]->data;
    char *to = step->out[0]->data;
    const int64_t *offsets = NULL;
    if (copies->loops) {
        strided_copy_run(copies->loops, size, from + copies->loops_at, to);
        return true;
    }
    if (!find_offsets(step, copies, &offsets, err))
        return false;
    for (size_t group = 0; group < copies->n_groups && dense_bytes > 0; group++) {
        for (size_t outer = 0; outer < copies->n_outer; outer++, to += dense_bytes)
            gather(copies, from + outer * copies->outer_elements * size, offsets, size, to);
        offsets = offsets ? offsets + copies->n : NULL;
    }
    return true;
}

bool index_scatter_run(const struct step *step, const struct index_copies *copies,
                       struct irrun_error *err)
{
    size_t size = dtype_size(step->out[0]->dtype);
    size_t dense_bytes = copies->n * copies->piece_elements * size;
    const char *from = step->in[UPDATES]->data;
    char *to = step->out[0]->data;
    const int64_t *offsets = NULL;
    if (!copies->loops && !find_offsets(step, copies, &offsets, err))
        return false;
    tensor_copy(step->out[0], step->in[0]);
    if (copies->loops)
        strided_copy_run(copies->loops, size, from, to + copies->loops_at);
    for (size_t outer = 0; outer < copies->n_outer && !copies->loops && dense_bytes > 0; outer++)
        scatter(copies, from + outer * dense_bytes, offsets, size,
                to + outer * copies->outer_elements * size);
    return true;
}
