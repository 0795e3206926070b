/* Checks Select against its definition, bit for bit: every operand form, sizes around the widest
 * vectors, any alignment, operands that end at an unmapped page, and an operand as the output.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"

enum { POISON = 0xA5, MARGIN = 192, N_FORMS = 8, N_OPERANDS = 3 };

static select_fn *select_of(const struct kernels *kernels, size_t width)
{
    return width == 1   ? kernels->select_x8
           : width == 2 ? kernels->select_x16
           : width == 4 ? kernels->select_x32
                        : kernels->select_x64;
}

/* One size and form. The operands and the output end some bytes before an unmapped page, or begin
 * directly after one. */
struct problem {
    const struct trial *trial;
    struct guarded operands[N_OPERANDS], out;
    unsigned char *expected; /* with MARGIN on both sides, as the output has */
    size_t n, n_rows;
    unsigned form; /* bits 0 to 2: condition, then, else differ within a row */
    unsigned rows; /* bits 0 to 2: they differ from row to row */
    size_t shift;  /* bytes between their end and the unmapped page */
    bool is_first; /* they begin directly after an unmapped page instead */
    bool is_streamed;
};

static size_t width_of(const struct problem *problem, size_t operand)
{
    return operand == 0 ? 1 : problem->trial->parameter;
}

static size_t stride_of(const struct problem *problem, size_t operand)
{
    return problem->form >> operand & 1;
}

static size_t row_of(const struct problem *problem, size_t operand)
{
    size_t n_in_row = stride_of(problem, operand) ? problem->n : 1;
    return problem->rows >> operand & 1 ? n_in_row : 0;
}

static size_t operand_bytes(const struct problem *problem, size_t operand)
{
    size_t n_in_row = stride_of(problem, operand) ? problem->n : problem->n > 0;
    size_t n_rows = problem->n_rows > 0 ? problem->n_rows - 1 : 0;
    return (n_rows * row_of(problem, operand) + n_in_row) * width_of(problem, operand);
}

static unsigned char *operand_at(const struct problem *problem, size_t operand)
{
    const struct guarded *memory = &problem->operands[operand];
    if (problem->is_first)
        return guarded_first(memory);
    return guarded_last(memory,
                        operand_bytes(problem, operand) + problem->shift * (operand + 1) % 64);
}

/* Half of the conditions are false; the true ones are any byte but zero. */
static void fill_operands(const struct problem *problem)
{
    for (size_t i = 0; i < N_OPERANDS; i++)
        random_fill(operand_at(problem, i), operand_bytes(problem, i));
    unsigned char *condition = operand_at(problem, 0);
    for (size_t i = 0; i < operand_bytes(problem, 0); i++)
        if (random_below(2))
            condition[i] = 0;
}

static struct select_run run_of(const struct problem *problem, unsigned char *out)
{
    return (struct select_run){
        .n = problem->n,
        .n_rows = problem->n_rows,
        .condition = operand_at(problem, 0),
        .then_values = operand_at(problem, 1),
        .else_values = operand_at(problem, 2),
        .out = out,
        .condition_stride = stride_of(problem, 0),
        .then_stride = stride_of(problem, 1),
        .else_stride = stride_of(problem, 2),
        .condition_row = row_of(problem, 0),
        .then_row = row_of(problem, 1),
        .else_row = row_of(problem, 2),
        .is_streamed = problem->is_streamed,
    };
}

/* Computes the result byte by byte. */
static void select_reference(const struct select_run *run, size_t width)
{
    for (size_t i = 0; i < run->n_rows * run->n * width; i++) {
        size_t row = i / (run->n * width), at = i / width % run->n;
        bool is_then = run->condition[row * run->condition_row + at * run->condition_stride] != 0;
        const unsigned char *from = is_then ? run->then_values : run->else_values;
        size_t element = is_then ? row * run->then_row + at * run->then_stride
                                 : row * run->else_row + at * run->else_stride;
        ((unsigned char *)run->out)[i] = from[element * width + i % width];
    }
}

static bool compare(const unsigned char *got, const unsigned char *want, size_t n, size_t margin,
                    const char *where)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            return trial_fail("%s byte %td is %02x, not %02x", where,
                              (ptrdiff_t)i - (ptrdiff_t)margin, got[i], want[i]);
    return true;
}

/* The output overlaps no operand, and is between bytes that must not change. */
static bool check_separate(const struct problem *problem)
{
    size_t width = problem->trial->parameter, n_bytes = problem->n_rows * problem->n * width;
    struct select_run run = run_of(problem, problem->expected + MARGIN);
    memset(problem->expected, POISON, n_bytes + 2 * MARGIN);
    select_reference(&run, width);

    /* A few bytes that must not change, or none, are between the output and the unmapped page. */
    size_t before = problem->is_first ? 0 : MARGIN;
    size_t behind = problem->is_first ? MARGIN : problem->shift;
    unsigned char *memory = problem->is_first
                                ? guarded_first(&problem->out)
                                : guarded_last(&problem->out, before + n_bytes + behind);
    memset(memory, POISON, before + n_bytes + behind);
    run.out = memory + before;
    select_of(problem->trial->variant, width)(&run);
    return compare(memory, problem->expected + MARGIN - before, before + n_bytes + behind, before,
                   "output");
}

/* The output is an operand of the same size. */
static bool check_in_place(const struct problem *problem, size_t operand)
{
    size_t width = problem->trial->parameter, n_bytes = problem->n_rows * problem->n * width;
    unsigned char *out = operand_at(problem, operand);
    struct select_run run = run_of(problem, problem->expected);
    select_reference(&run, width);
    run.out = out;
    select_of(problem->trial->variant, width)(&run);
    return compare(out, problem->expected, n_bytes, 0, "output over an operand:");
}

static bool check_problem(const struct problem *problem)
{
    trial_says("n=%zu rows=%zu form=%u,%u shift=%zu%s%s", problem->n, problem->n_rows,
               problem->form, problem->rows, problem->shift, problem->is_first ? " first" : "",
               problem->is_streamed ? " streamed" : "");
    fill_operands(problem);
    if (!check_separate(problem))
        return false;
    size_t n_bytes = problem->n_rows * problem->n * problem->trial->parameter;
    for (size_t i = 0; i < N_OPERANDS; i++) {
        bool moves = stride_of(problem, i) && (problem->n_rows == 1 || row_of(problem, i));
        if (!moves || operand_bytes(problem, i) != n_bytes)
            continue;
        if (!check_in_place(problem, i))
            return false;
        fill_operands(problem);
    }
    return true;
}

static bool check_forms(struct problem *problem)
{
    for (unsigned i = 0; i < N_FORMS; i++) {
        for (unsigned streamed = 0; streamed < 2; streamed++) {
            problem->form = i;
            problem->is_streamed = streamed;
            problem->rows = random_below(N_FORMS);
            problem->is_first = random_below(4) == 0;
            if (!check_problem(problem))
                return false;
        }
    }
    return true;
}

/* All sizes up to four of the widest vectors and a remainder. */
static bool check_small(struct problem *problem)
{
    size_t lanes = 64 / problem->trial->parameter;
    for (size_t n = 0; n <= 5 * lanes + 1; n++) {
        problem->n = n;
        problem->n_rows = 1;
        problem->shift = 0;
        if (!check_forms(problem))
            return false;
        problem->n_rows = random_below(4);
        problem->shift = random_below(64);
        if (!check_forms(problem))
            return false;
    }
    return true;
}

static bool check_large(struct problem *problem, size_t n_max)
{
    for (int i = 0; i < 8; i++) {
        size_t n_elements = random_below((uint32_t)n_max);
        problem->n_rows = 1 + random_below(i % 2 ? 16 : 1);
        problem->n = n_elements / problem->n_rows;
        problem->shift = random_below(64);
        if (!check_forms(problem))
            return false;
    }
    return true;
}

bool check_select(const struct trial *trial)
{
    const size_t n_max = 16384, n_bytes = n_max * trial->parameter;
    struct problem problem = {.trial = trial,
                              .out = guarded_new(n_bytes + 2 * MARGIN),
                              .expected = malloc(n_bytes + 2 * MARGIN)};
    for (size_t i = 0; i < N_OPERANDS; i++)
        problem.operands[i] = guarded_new(n_bytes + 64);
    bool is_good = problem.expected && check_small(&problem) && check_large(&problem, n_max);
    for (size_t i = 0; i < N_OPERANDS; i++)
        guarded_free(&problem.operands[i]);
    guarded_free(&problem.out);
    free(problem.expected);
    return is_good;
}

/* ---- speed ---- */

struct timing {
    struct select_run run;
    select_fn *select;
};

static void call(const void *context)
{
    const struct timing *timing = context;
    timing->select(&timing->run);
}

static void measure_form(struct timing *timing, size_t n, size_t width, const char *form)
{
    struct select_run *run = &timing->run;
    size_t n_bytes = n * ((run->condition_stride ? 1 : 0) + width);
    if (run->condition_stride != 0)
        n_bytes += n * width * (run->then_stride + run->else_stride);
    else
        n_bytes += n * width;
    for (int streamed = 0; streamed < 2; streamed++) {
        char what[64];
        snprintf(what, sizeof what, "%9zu %s%s", n, form, streamed ? ", streamed" : "");
        run->n = n;
        run->is_streamed = streamed != 0;
        measure_line(what, measure_s(call, timing), n_bytes);
    }
}

void measure_select(const struct trial *trial)
{
    static const size_t sizes[] = {1000, 100000, 1000000, 16000000};
    size_t width = trial->parameter, n_max = sizes[3];
    unsigned char *condition = malloc(n_max), *values[3];
    for (size_t i = 0; i < 3; i++)
        values[i] = aligned_alloc(64, n_max * width);
    if (!condition || !values[0] || !values[1] || !values[2])
        abort();
    for (size_t i = 0; i < 3; i++)
        memset(values[i], 1, n_max * width);
    for (size_t i = 0; i < n_max; i++)
        condition[i] = (unsigned char)random_below(2);
    struct timing timing = {.run = {.n_rows = 1,
                                    .condition = condition,
                                    .then_values = values[0],
                                    .else_values = values[1],
                                    .out = values[2],
                                    .condition_stride = 1,
                                    .then_stride = 1,
                                    .else_stride = 1},
                            .select = select_of(trial->variant, width)};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        timing.run.condition_stride = timing.run.else_stride = 1;
        measure_form(&timing, sizes[i], width, "vectors");
        if (i < 2)
            continue;
        timing.run.else_stride = 0;
        measure_form(&timing, sizes[i], width, "else scalar");
        timing.run.condition_stride = 0;
        measure_form(&timing, sizes[i], width, "cond scalar");
    }
    for (size_t i = 0; i < 3; i++)
        free(values[i]);
    free(condition);
}
