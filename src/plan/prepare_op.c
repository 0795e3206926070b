/* Calls prepare of one op. Gives it access to data that outlives the plan: constants as stored, and
 * the weights cache of the model.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory_limit.h"
#include "plan/evaluate.h"
#include "plan/fold_rows.h"
#include "plan/plan_internal.h"

#define MAX_CONSTANTS 4 /* maximum number of constants that one op prepacks */

/* A constant that an op prepacks. */
struct source {
    uint32_t value_id;
    struct irrun_tensor tensor; /* data is NULL if it is not in memory */
    struct fold_rows *fold;     /* the tree of ops that computes the data; NULL: no tree yet */
    void *whole;                /* all elements, computed by fold; or NULL */
};

struct prepack_sources {
    struct model *model;
    struct source items[MAX_CONSTANTS];
    size_t n;
    bool has_new_pack;
};

static struct source *find_source(struct prepare *prepare, uint32_t i)
{
    struct prepack_sources *sources = prepare->sources;
    bool is_bf16 = prepare->kernels->precision == IRRUN_PRECISION_BF16 &&
                   (prepare->op->def->flags & OP_MULTIPLIES_BF16);
    uint32_t value_id = constant_find_stored(
        prepare->graph, op_input(prepare->graph, prepare->op, i), is_bf16 ? IRRUN_BF16 : IRRUN_F16);

    for (size_t k = 0; k < sources->n; k++)
        if (sources->items[k].value_id == value_id)
            return &sources->items[k];
    assert(sources->n < MAX_CONSTANTS);
    struct source *source = &sources->items[sources->n++];
    *source = (struct source){.value_id = value_id,
                              .tensor = prepare->graph->analysis->constants[value_id]->tensor};
    source->tensor.data = NULL;
    return source;
}

const struct irrun_tensor *prepare_constant(struct prepare *prepare, uint32_t i)
{
    return &find_source(prepare, i)->tensor;
}

/* Finds where the elements are: data in memory, or a tree of ops that computes them. */
static bool open_source(struct source *source, struct prepare *prepare)
{
    struct model *model = prepare->sources->model;
    const struct graph *graph = prepare->graph;
    struct fold_rows *fold = malloc(sizeof *fold);

    if (!fold)
        return fail_memory(prepare->err, sizeof *fold);
    if (fold_rows_find(fold, model, graph, source->value_id)) {
        source->fold = fold;
        for (uint32_t id = fold_rows_missing(fold); id != NO_ID; id = fold_rows_missing(fold))
            if (!constant_get(model, graph, id, prepare->err))
                return false;
        return true;
    }
    free(fold);
    const struct irrun_tensor *tensor = constant_get(model, graph, source->value_id, prepare->err);
    if (tensor)
        source->tensor.data = tensor->data;
    return tensor != NULL;
}

/* Computes the whole constant, for ops that read all elements at once, or parts that are not whole
 * rows. */
static bool compute_whole(struct source *source, struct irrun_error *err)
{
    size_t size_bytes = tensor_n_bytes(&source->tensor);

    if (!memory_check(0, size_bytes, err))
        return false;
    source->whole = malloc(size_bytes);
    if (!source->whole)
        return fail_memory(err, size_bytes);
    return fold_rows_all(source->fold, source->whole, err);
}

const void *prepare_elements(struct prepare *prepare, uint32_t i, size_t begin, size_t n)
{
    struct source *source = find_source(prepare, i);

    if (!source->tensor.data && !source->fold && !open_source(source, prepare))
        return NULL;
    size_t skip_bytes = begin * dtype_size(source->tensor.dtype);
    if (source->tensor.data)
        return (const unsigned char *)source->tensor.data + skip_bytes;
    bool is_all = n == (size_t)shape_n_elements(&source->tensor.shape);
    if (!source->whole && !is_all && fold_rows_is_part(source->fold, begin, n))
        return fold_rows_get(source->fold, begin, n, prepare->err);
    if (!source->whole && !compute_whole(source, prepare->err))
        return NULL;
    return (const unsigned char *)source->whole + skip_bytes;
}

void *prepare_prepacked(struct prepare *prepare, uint32_t layout, size_t size_bytes, bool *is_new)
{
    struct model *model = prepare->sources->model;
    void *data = weights_cache_get(&model->weights_cache, prepare->op, layout, size_bytes, is_new,
                                   prepare->err);

    if (data && *is_new) {
        model->packed_bytes += size_bytes;
        prepare->sources->has_new_pack = true;
    }
    return data;
}

/* Closes the sources of prepacked weights, which are not read again. Drops their pages of the
 * mapped file, and frees data that was computed only for packing. */
static void close_sources(struct prepack_sources *sources, const struct graph *graph)
{
    for (size_t i = 0; i < sources->n; i++) {
        struct source *source = &sources->items[i];
        if (sources->has_new_pack && source->tensor.data)
            file_map_dontneed(graph->weights, source->tensor.data, tensor_n_bytes(&source->tensor));
        if (source->fold)
            fold_rows_free(source->fold);
        free(source->fold);
        free(source->whole);
    }
}

/* Returns a set of 1 << i: the inputs that are constants of the model, not only of this plan. */
static uint32_t constant_inputs(const struct plan *plan, const struct op *op, const uint32_t *in)
{
    const struct graph *graph = plan->request.graph;
    uint32_t constants = 0;

    for (uint32_t i = 0; i < op->n_inputs && i < 32; i++)
        if (in[i] < graph->n_values && plan->slots[in[i]].kind == SLOT_CONSTANT &&
            graph->analysis->constants[in[i]])
            constants |= 1U << i;
    return constants;
}

/* Returns copies of the operands. Only constants have data, because the slots of a continuation may
 * hold data of the current iteration. */
static const struct irrun_tensor **copy_operands(struct plan *plan, const uint32_t *slots,
                                                 uint32_t n, struct irrun_error *err)
{
    const struct irrun_tensor **tensors =
        arena_alloc_array(&plan->temporary, n, sizeof *tensors, err);
    struct irrun_tensor *copies = arena_alloc_array(&plan->temporary, n, sizeof *copies, err);
    if (!tensors || !copies)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        copies[i] = plan->slots[slots[i]].tensor;
        if (plan->slots[slots[i]].kind != SLOT_CONSTANT)
            copies[i].data = NULL;
        tensors[i] = &copies[i];
    }
    return tensors;
}

uint32_t plan_count_outputs(const struct plan *plan, const struct op *op)
{
    uint32_t n = op->n_outputs, n_min = op->def->n_outputs_min;
    while (n_min > 0 && n > n_min && !plan->slots[op->first_output + n - 1].is_needed)
        n--;
    return n;
}

static struct prepare prepare_for(struct plan *plan, const struct op *op, void *state,
                                  struct irrun_error *err)
{
    return (struct prepare){.graph = plan->request.graph,
                            .op = op,
                            .attrs = op->attrs,
                            .state = state,
                            .n_inputs = op->n_inputs,
                            .n_outputs = plan_count_outputs(plan, op),
                            .kernels = &plan->request.model->kernels,
                            .pool = plan->request.pool,
                            .arena = plan->op_arena,
                            .err = err};
}

bool plan_prepacked_inputs(struct plan *plan, const struct op *op, void *state, const uint32_t *in,
                           uint32_t *prepacked, struct irrun_error *err)
{
    *prepacked = 0;
    if (!op->def->prepacks)
        return true;
    arena_reset(&plan->temporary);
    struct prepare prepare = prepare_for(plan, op, state, err);
    prepare.in = copy_operands(plan, in, op->n_inputs, err);
    if (!prepare.in)
        return false;
    uint32_t constants = constant_inputs(plan, op, in);
    *prepacked = constants & op->def->prepacks(&prepare, constants);
    return true;
}

/* Finds how the matrices of the inputs in strided_inputs lie in memory. *found stays NULL if the op
 * has no such inputs. */
static bool find_matrices(const struct plan *plan, const struct op *op,
                          const struct matrices **found, struct irrun_error *err)
{
    if (op->def->strided_inputs == 0)
        return true;
    struct matrices *matrices =
        arena_alloc_array(plan->op_arena, op->n_inputs, sizeof *matrices, err);
    for (uint32_t i = 0; matrices && i < op->n_inputs; i++) {
        if (!plan_reads_original(plan, op, i))
            continue;
        const struct slot *slot = &plan->slots[op_input(plan->request.graph, op, i)];
        const struct slot *original = &plan->slots[slot->original];
        matrices[i] = (struct matrices){slot->runs.count, slot->runs.length};
        if (original->append)
            matrices[i].stride =
                original->append->stride_bytes / dtype_size(original->tensor.dtype);
    }
    *found = matrices;
    return matrices != NULL;
}

bool plan_prepare_op(struct plan *plan, const struct op *op, void *state, const uint32_t *in,
                     const uint32_t *out, uint32_t prepacked, struct prepared *made,
                     struct irrun_error *err)
{
    *made = (struct prepared){.flat = op_flat(op->def)};
    if (!op->def->prepare)
        return true;
    arena_reset(&plan->temporary);
    struct prepack_sources sources = {.model = plan->request.model};
    struct prepare prepare = prepare_for(plan, op, state, err);
    prepare.sources = &sources;
    prepare.in = copy_operands(plan, in, op->n_inputs, err);
    prepare.out = copy_operands(plan, out, op->n_outputs, err);
    prepare.prepacked = prepacked;
    prepare.made = *made;
    if (!prepare.in || !prepare.out || !find_matrices(plan, op, &prepare.matrices, err))
        return false;
    const struct prepacked *mark = plan->request.model->weights_cache.first;
    bool is_done = op->def->prepare(&prepare);
    if (!is_done)
        weights_cache_drop(&plan->request.model->weights_cache, mark);
    close_sources(&sources, plan->request.graph);
    *made = prepare.made;
    return is_done;
}
