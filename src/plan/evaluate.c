/* Infers and runs a single op. The types of inputs are checked here, for all ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/evaluate.h"

#include <stdlib.h>

#include "base/huge_pages.h"
#include "base/text.h"
#include "ops/body.h"

bool op_widens(const struct op_def *def, bool has_widened_input)
{
    return !(def->flags & OP_ANY_STORAGE) &&
           (has_widened_input || !(def->flags & (OP_DATA_MOVEMENT | OP_VIEW)));
}

enum irrun_dtype stored_dtype(enum irrun_dtype declared, bool is_widened)
{
    return is_widened && dtype_is_half(declared) ? IRRUN_F32 : declared;
}

static void list_types(uint32_t types, struct text *list)
{
    for (unsigned dtype = 0; dtype < IRRUN_N_DTYPES; dtype++)
        if (types & TYPE_BIT(dtype))
            text_add(list, "%s%s", list->length ? " " : "",
                     irrun_dtype_name((enum irrun_dtype)dtype));
}

/* Fails because of the type of input i. The error is IRRUN_DATA for a number or boolean, which
 * OpenVINO does not accept here either; otherwise IRRUN_UNSUPPORTED. */
static bool fail_type(struct infer *infer, uint32_t i, uint32_t types)
{
    struct text list = {0};
    list_types(types, &list);
    infer_fail_input(infer, i, "a type that %s takes here: %s", infer->op->def->type,
                     list.data ? list.data : "none");
    bool is_common = TYPE_BIT(infer->in[i]->dtype) & (TYPES_NUMBER | TYPES_BOOLEAN);
    infer->err->code = is_common ? IRRUN_DATA : IRRUN_UNSUPPORTED;
    text_free(&list);
    return false;
}

static bool check_types(struct infer *infer)
{
    const struct op_def *def = infer->op->def;
    uint32_t first_of[256];
    for (size_t i = 0; i < 256; i++)
        first_of[i] = NO_ID;
    for (uint32_t i = 0; i < infer->n_inputs; i++) {
        const struct op_input_def *input = op_find_input(def, i);
        enum irrun_dtype dtype = infer->in[i]->dtype;
        if (!(input->types & TYPE_BIT(dtype)))
            return fail_type(infer, i, input->types);
        if (!input->same)
            continue;
        uint32_t first = first_of[input->same];
        if (first == NO_ID) {
            first_of[input->same] = i;
        } else if (infer->in[first]->dtype != dtype) {
            infer_fail_input(infer, i, "%s as input %u", irrun_dtype_name(infer->in[first]->dtype),
                             first);
            return infer_hint_input(infer, first);
        }
    }
    return true;
}

/* With more inputs than this, the hint names only input 0. */
#define MAX_HINTED 3

/* Adds to the hint the inputs that the message does not name. The message usually names the first
 * input, but any of them can be the cause of an error about shapes or axes. */
static void hint_others(struct infer *infer)
{
    bool is_own = infer->err->code == IRRUN_DATA && infer->err->line == infer->op->line &&
                  infer->err->column == infer->op->column;
    bool has_other_hint = infer->hinted == 0 && infer->err->hint[0] != '\0';

    if (!is_own || has_other_hint)
        return;
    uint32_t n = infer->n_inputs <= MAX_HINTED ? infer->n_inputs : 1;
    for (uint32_t i = 0; i < n; i++)
        if (!(infer->hinted >> i & 1))
            infer_hint_input(infer, i);
}

bool infer_op(struct infer *infer)
{
    if (!check_types(infer))
        return false;
    if (infer->op->def->infer(infer))
        return true;
    hint_others(infer);
    return false;
}

static bool allocate_outputs(struct irrun_tensor *out, uint32_t n_outputs, struct arena *arena,
                             struct irrun_error *err)
{
    for (uint32_t i = 0; i < n_outputs; i++) {
        size_t size_bytes;
        if (!tensor_size(out[i].dtype, &out[i].shape, &size_bytes))
            return fail_memory(err, SIZE_MAX);
        out[i].data = arena_alloc(arena, size_bytes, err);
        if (!out[i].data)
            return false;
    }
    return true;
}

static bool run_compute(const struct step *step, struct irrun_error *err)
{
    (void)err;
    step->flat.kernel.compute(step);
    return true;
}

struct flat op_flat(const struct op_def *def)
{
    return def->compute ? (struct flat){.run = run_compute, .kernel.compute = def->compute}
                        : (struct flat){.run = def->run};
}

static bool run_once(const struct op *op, struct step *step, struct prepare *prepare,
                     struct irrun_error *err)
{
    if (op->def->prepare && !op->def->prepare(prepare))
        return false;
    size_t scratch_bytes = prepare->made.scratch_bytes > 0 ? prepare->made.scratch_bytes : 1;
    void *scratch = huge_alloc(scratch_bytes);
    if (!scratch)
        return fail_memory(err, scratch_bytes);
    step->scratch = scratch;
    step->flat = prepare->made.flat;
    size_t n = (size_t)step->n_inputs + step->n_outputs;
    for (size_t i = 0; i < n && n <= FLAT_MAX_OPERANDS; i++) /* step->out follows step->in */
        step->data[i] = step->in[i]->data;
    bool is_done = step->flat.run(step, err);
    free(scratch);
    return is_done;
}

bool evaluate_op(const struct kernels *kernels, const struct graph *graph, const struct op *op,
                 void *state, const struct irrun_tensor *const *in, struct irrun_tensor *out,
                 struct arena *arena, struct irrun_error *err)
{
    if (op->def->flags & OP_VIEW) {
        out[0].data = in[0]->data;
        return true;
    }
    if (!allocate_outputs(out, op->n_outputs, arena, err))
        return false;
    struct irrun_tensor **pointers =
        arena_alloc_array(arena, (size_t)op->n_inputs + op->n_outputs, sizeof *pointers, err);
    if (!pointers)
        return false;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        pointers[i] = (struct irrun_tensor *)in[i];
    struct irrun_tensor **out_pointers = pointers + op->n_inputs;
    for (uint32_t i = 0; i < op->n_outputs; i++)
        out_pointers[i] = &out[i];
    struct prepare prepare = {
        .graph = graph,
        .op = op,
        .attrs = op->attrs,
        .state = state,
        .n_inputs = op->n_inputs,
        .n_outputs = op->n_outputs,
        .in = in,
        .out = (const struct irrun_tensor *const *)out_pointers,
        .kernels = kernels,
        .arena = arena,
        .made.flat = op_flat(op->def),
        .err = err,
    };
    struct step step = {
        .state = state,
        .in = pointers,
        .out = out_pointers,
        .n_inputs = op->n_inputs,
        .n_outputs = op->n_outputs,
        .graph = graph,
        .op = op,
    };
    return run_once(op, &step, &prepare, err);
}
