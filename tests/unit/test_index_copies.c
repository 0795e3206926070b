/* ops/index_copies: constant indices, which prepare reads once, copy the same bytes as indices that
 * every run reads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/arena.h"
#include "ops/index_copies.h"
#include "ops/scatter.h"

enum { MAX_PIECES = 64, MAX_ELEMENTS = 4096 };

/* Offsets, in pieces, and the indices of the op. */
struct list {
    const char *name;
    size_t n_groups, n_outer, n, piece_elements;
    int64_t at[MAX_PIECES];
    bool has_loops, has_runs; /* the expected form of a gather */
};

static const struct list lists[] = {
    {"one", 1, 1, 1, 3, {5}, true, false},
    {"line", 1, 3, 6, 2, {2, 3, 4, 5, 6, 7}, true, false},
    {"backward", 1, 2, 4, 1, {9, 6, 3, 0}, true, false},
    {"the same", 1, 1, 4, 2, {3, 3, 3, 3}, true, false},
    {"windows", 1, 1, 9, 1, {0, 1, 2, 1, 2, 3, 2, 3, 4}, true, false},
    {"two loops", 1, 2, 6, 2, {0, 1, 2, 10, 11, 12}, true, false},
    {"runs", 1, 2, 7, 3, {0, 1, 2, 3, 9, 10, 11}, false, true},
    {"runs that overlap", 1, 1, 7, 1, {0, 1, 2, 3, 2, 3, 4}, false, true},
    {"no order", 1, 2, 5, 2, {7, 0, 3, 3, 12}, false, false},
    {"zeros", 1, 2, 6, 2, {-1, -1, -1, 4, 5, 6}, false, true},
    {"zeros alone", 1, 1, 4, 1, {-1, -1, -1, -1}, false, true},
    {"zeros between", 1, 1, 3, 4, {2, -1, 0}, false, false},
    {"groups", 2, 2, 3, 2, {0, 1, 2, 30, 31, 32}, false, false},
    {"groups of one", 2, 1, 3, 2, {0, 1, 2, 30, 31, 32}, true, false},
    {"none", 1, 1, 0, 2, {0}, false, false},
};

/* The state of the op, whose input 1 is a list of int64. */
struct state {
    struct index_copies copies;
    size_t n_all;
};

static bool resolve(const struct step *step, int64_t *offsets, struct irrun_error *err)
{
    (void)err;
    const struct state *state = step->state;
    const int64_t *indices = step->in[1]->data;
    int64_t piece_bytes = (int64_t)(state->copies.piece_elements * sizeof(float));
    for (size_t k = 0; k < state->n_all; k++)
        offsets[k] = indices[k] < 0 ? -1 : indices[k] * piece_bytes;
    return true;
}

static float far[MAX_ELEMENTS], near[MAX_ELEMENTS], out[2][MAX_ELEMENTS];

static struct irrun_tensor tensor_of(enum irrun_dtype dtype, size_t n, void *data)
{
    return (struct irrun_tensor){dtype, {.rank = 1, .dims = {(int64_t)n}}, data};
}

/* Runs a gather (or a scatter of `near` into `far`) with the indices constant or not. Constant
 * indices are overwritten before the run. */
static struct index_copies copy(const struct list *list, bool is_gather, binary_fn *fn,
                                bool is_constant, float *to)
{
    int64_t indices[MAX_PIECES], scratch[MAX_PIECES];
    memcpy(indices, list->at, sizeof indices);
    struct irrun_tensor data = tensor_of(IRRUN_F32, MAX_ELEMENTS, far);
    struct irrun_tensor index = tensor_of(IRRUN_I64, list->n_groups * list->n, indices);
    struct irrun_tensor result = tensor_of(IRRUN_F32, MAX_ELEMENTS, to);
    struct irrun_tensor updates = tensor_of(IRRUN_F32, MAX_ELEMENTS, near);
    struct irrun_tensor *in[] = {&data, &index, &updates}, *outs[] = {&result};
    struct state state = {.copies = {.n_groups = list->n_groups,
                                     .n_outer = list->n_outer,
                                     .n = list->n,
                                     .outer_elements = 100,
                                     .piece_elements = list->piece_elements,
                                     .gives_zeros = is_gather,
                                     .combine = fn},
                          .n_all = list->n_groups * list->n};
    struct arena arena = {0};
    struct irrun_error err;
    struct prepare prepare = {.state = &state,
                              .n_inputs = 2,
                              .in = (const struct irrun_tensor *const *)in,
                              .out = (const struct irrun_tensor *const *)outs,
                              .arena = &arena,
                              .sources =
                                  is_constant ? (struct prepack_sources *)(void *)&state : NULL,
                              .err = &err};
    assert_true(index_copies_prepare(&prepare, resolve, is_gather, &state.copies));
    assert_true(prepare.made.scratch_bytes == (is_constant && list->n ? 0 : state.n_all * 8));
    if (is_constant)
        memset(indices, 0x55, sizeof indices);
    struct step step = {.state = &state, .in = in, .out = outs, .scratch = scratch};
    assert_true(is_gather ? index_gather_run(&step, &state.copies, &err)
                          : index_scatter_run(&step, &state.copies, &err));
    arena_free(&arena);
    return state.copies;
}

static void fill(void)
{
    for (size_t i = 0; i < MAX_ELEMENTS; i++) {
        far[i] = (float)i + 1;
        near[i] = -(float)i - 1;
        out[0][i] = out[1][i] = 0;
    }
}

static void constant_indices_gather_as_others_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        fill();
        copy(&lists[i], true, NULL, false, out[0]);
        struct index_copies copies = copy(&lists[i], true, NULL, true, out[1]);
        print_message("# %s\n", lists[i].name);
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        assert_int_equal(copies.loops != NULL, lists[i].has_loops);
        assert_int_equal(copies.runs != NULL, lists[i].has_runs);
        assert_true(copies.n_runs * sizeof *copies.runs <= lists[i].n * sizeof(int64_t));
    }
}

static void a_gather_takes_what_the_indices_name(void **state)
{
    (void)state;
    fill();
    copy(&lists[9], true, NULL, true, out[0]);
    const float expected[] = {0, 0, 0, 0, 0, 0, 9,   10,  11,  12,  13,  14,
                              0, 0, 0, 0, 0, 0, 109, 110, 111, 112, 113, 114};
    assert_memory_equal(out[0], expected, sizeof expected);
}

static void constant_indices_scatter_as_others_do(void **state)
{
    (void)state;
    binary_fn *fns[] = {NULL, binary_scalar(BINARY_ADD, IRRUN_F32)};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        bool has_zeros = false;
        for (size_t k = 0; k < lists[i].n; k++)
            has_zeros |= lists[i].at[k] < 0;
        for (size_t k = 0; k < 2 && lists[i].n_groups == 1 && !has_zeros; k++) {
            fill();
            copy(&lists[i], false, fns[k], false, out[0]);
            copy(&lists[i], false, fns[k], true, out[1]);
            print_message("# %s\n", lists[i].name);
            assert_memory_equal(out[0], out[1], sizeof out[0]);
        }
    }
}

/* The last of several updates of an element remains. */
static void the_last_of_equal_indices_stays(void **state)
{
    (void)state;
    fill();
    struct index_copies copies = copy(&lists[3], false, NULL, true, out[0]);
    assert_null(copies.loops);
    assert_true(out[0][6] == near[6] && out[0][7] == near[7]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_indices_gather_as_others_do),
        cmocka_unit_test(a_gather_takes_what_the_indices_name),
        cmocka_unit_test(constant_indices_scatter_as_others_do),
        cmocka_unit_test(the_last_of_equal_indices_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
