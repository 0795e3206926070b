/* Constant index operands: in every model of the cases, no step has their data, and the outputs
 * stay the same if their bytes are overwritten after planning.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "case_tree.h"
#include "plan/plan_internal.h"
#include "runtime/session.h"

/* Ops whose `run` reads indices, unless they are constant. The cases must have each op with
 * constant indices. */
static struct {
    const char *type;
    size_t n_steps;
} readers[] = {
    {"CTCGreedyDecoderSeqLen", 0},
    {"EmbeddingBagOffsets", 0},
    {"EmbeddingBagOffsetsSum", 0},
    {"EmbeddingBagPacked", 0},
    {"EmbeddingBagPackedSum", 0},
    {"EmbeddingSegmentsSum", 0},
    {"GRUSequence", 0},
    {"Gather", 0},
    {"GatherElements", 0},
    {"GatherND", 0},
    {"LSTMSequence", 0},
    {"OneHot", 0},
    {"RNNSequence", 0},
    {"ReverseSequence", 0},
    {"ScatterElementsUpdate", 0},
    {"ScatterNDUpdate", 0},
    {"ScatterUpdate", 0},
};

static size_t n_models, n_operands;

/* ---- operands ---- */

/* Returns the constant that is operand i in every plan, or NULL if it is not constant. */
static struct constant *constant_of(const struct graph *graph, const struct op *op, uint32_t i)
{
    return graph->analysis->constants[op_input(graph, op, i)];
}

static bool is_index(const struct graph *graph, const struct op *op, uint32_t i)
{
    return op->def && op_input_is_index(op->def, i) && constant_of(graph, op, i);
}

static bool overlap(const struct irrun_tensor *a, const struct irrun_tensor *b)
{
    const char *first = a->data, *second = b->data;
    return first && second && first < second + tensor_n_bytes(b) &&
           second < first + tensor_n_bytes(a);
}

/* Returns whether a constant that is not an index shares these bytes of the file. */
static bool is_data(const struct graph *graph, const struct irrun_tensor *tensor)
{
    for (uint32_t k = 0; k < graph->n_order; k++) {
        const struct op *op = &graph->ops[graph->order[k]];
        for (uint32_t i = 0; i < op->n_inputs; i++)
            if (constant_of(graph, op, i) && !op_input_is_index(op->def, i) &&
                overlap(&constant_of(graph, op, i)->tensor, tensor))
                return true;
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (is_data(op->bodies[b].graph, tensor))
                return true;
    }
    return false;
}

/* Weights in a mapped file are read-only; the process may change its private copy. */
static void overwrite(void *data, size_t n_bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)data / page * page;
    if (n_bytes == 0 || !data)
        return;
    assert_int_equal(
        mprotect((void *)first, (uintptr_t)data + n_bytes - first, PROT_READ | PROT_WRITE), 0);
    memset(data, 0x55, n_bytes);
}

static void overwrite_indices(const struct graph *root, const struct graph *graph)
{
    for (uint32_t k = 0; k < graph->n_order; k++) {
        const struct op *op = &graph->ops[graph->order[k]];
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            if (!is_index(graph, op, i))
                continue;
            const struct irrun_tensor *tensor = &constant_of(graph, op, i)->tensor;
            if (!is_data(root, tensor))
                overwrite(tensor->data, tensor_n_bytes(tensor));
        }
        for (uint32_t b = 0; b < op->n_bodies; b++)
            overwrite_indices(root, op->bodies[b].graph);
    }
}

/* ---- steps ---- */

static void check_step(const struct step *step)
{
    size_t n = 0;
    for (uint32_t i = 0; i < step->op->n_inputs; i++) {
        if (!step->state || !is_index(step->graph, step->op, i))
            continue;
        assert_null(step->in[i]->data);
        n++;
    }
    n_operands += n;
    for (size_t k = 0; k < sizeof readers / sizeof readers[0]; k++)
        if (n > 0 && strcmp(readers[k].type, step->op->def->type) == 0)
            readers[k].n_steps++;
}

static void check_plan(const struct plan *plan)
{
    /* The first op of a continuation is prepared again for every iteration. */
    const struct op *head = plan->outer ? plan->planned[0].op : NULL;
    for (uint32_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].op != head)
            check_step(&plan->steps[i]);
    for (size_t i = 0; i < plan->n_runners; i++)
        if (plan->runners[i].runner->plan)
            check_plan(plan->runners[i].runner->plan);
    for (uint32_t i = 0; i < plan->continuations.n; i++)
        check_plan(plan->continuations.items[i]);
}

static bool has_continuation(const struct plan *plan)
{
    bool has = !plan_is_complete(plan);
    for (size_t i = 0; i < plan->n_runners; i++)
        if (plan->runners[i].runner->plan)
            has |= has_continuation(plan->runners[i].runner->plan);
    return has;
}

/* ---- cases ---- */

/* Returns the bytes of all outputs, malloc'ed. */
static unsigned char *keep_outputs(const struct case_session *opened, size_t *n_bytes)
{
    unsigned char *kept = NULL;
    *n_bytes = 0;
    for (size_t i = 0; i < irrun_model_n_outputs(opened->model); i++) {
        const struct irrun_tensor *output = irrun_session_output(opened->session, i);
        size_t n = output ? tensor_n_bytes(output) : 0;
        kept = realloc(kept, *n_bytes + n + 1);
        assert_non_null(kept);
        if (n > 0)
            memcpy(kept + *n_bytes, output->data, n);
        *n_bytes += n;
    }
    return kept;
}

static void visit(const char *path)
{
    struct case_session opened;
    struct irrun_error err;
    if (!case_open(path, &opened, &err))
        return;
    if (irrun_session_run(opened.session, &err)) {
        const struct plan *plan = opened.session->root->plan;
        size_t n_before, n_after;
        unsigned char *before = keep_outputs(&opened, &n_before);
        n_models++;
        check_plan(plan);
        if (!has_continuation(plan)) {
            overwrite_indices(plan->request.graph, plan->request.graph);
            irrun_session_reset(opened.session);
            if (!irrun_session_run(opened.session, &err))
                fail_test("%s: %s\n", path, err.message);
            unsigned char *after = keep_outputs(&opened, &n_after);
            if (n_before != n_after || memcmp(before, after, n_before) != 0)
                fail_test("%s: a run has read constant indices\n", path);
            free(after);
        }
        free(before);
    }
    case_close(&opened);
}

static void no_run_reads_constant_indices(void **state)
{
    (void)state;
    case_visit_all(visit);
    print_message("# %zu operands in %zu models\n", n_operands, n_models);
    assert_true(n_models > 1000);
    for (size_t k = 0; k < sizeof readers / sizeof readers[0]; k++)
        if (readers[k].n_steps == 0)
            print_error("no case has a %s with constant indices\n", readers[k].type);
    for (size_t k = 0; k < sizeof readers / sizeof readers[0]; k++)
        assert_true(readers[k].n_steps > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_run_reads_constant_indices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
