/* Checks random programs of fused instructions against the scalar interpreter, bit for bit except
 * for the bits of a NaN: exact instructions, sizes around the widest tile, operands that end at an
 * unmapped page.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"

enum { POISON = 0xA5, MARGIN = 64, MAX_N = 200, N_MEMORIES = 3, N_CODES = 24 };

struct problem {
    const struct trial *trial;
    struct guarded floats[N_MEMORIES], booleans[N_MEMORIES], out[2];
    float scalars[N_MEMORIES], parameters[2];
    unsigned char scalar_boolean;
    float kept[FUSED_TILE];
    unsigned char *expected[2];
    struct fused_instruction program[N_CODES + 8];
    size_t n;
};

static float random_or_special(void)
{
    static const float special[] = {0.0F, -0.0F, 1.0F, -1.0F, INFINITY, NAN, 1e-40F, -3e38F};
    if (random_below(5) == 0)
        return special[random_below(sizeof special / sizeof *special)];
    return ((float)random_below(2001) - 1000) / 100;
}

static void fill(struct problem *problem)
{
    for (size_t i = 0; i < N_MEMORIES; i++) {
        float *to = (float *)(void *)guarded_last(&problem->floats[i], problem->n * sizeof *to);
        for (size_t k = 0; k < problem->n; k++)
            to[k] = random_or_special();
        unsigned char *booleans = guarded_last(&problem->booleans[i], problem->n);
        for (size_t k = 0; k < problem->n; k++)
            booleans[k] = (unsigned char)(random_below(2) ? 0 : 1 + random_below(255));
        problem->scalars[i] = random_or_special();
    }
    problem->parameters[0] = -2.5F;
    problem->parameters[1] = random_below(8) ? 3.0F : -4.0F;
    problem->scalar_boolean = (unsigned char)random_below(3);
}

static bool is_approximate(uint32_t code)
{
    enum { EXACT, NEAR };
    static const bool is_near[FUSED_N_CODES] = {
#define UNARY_VECTOR(name, vectors, expression, vector) [FUSED_##name] = vectors == NEAR,
#include "kernels/elementwise.def"
    };
    return is_near[code];
}

/* Returns a random instruction, but none that only approximates the scalar one. */
static struct fused_instruction random_instruction(struct problem *problem)
{
    struct fused_instruction made = {.advance_mask = 0};
    do {
        made.code = FUSED_NOT + random_below(FUSED_N_CODES - FUSED_NOT);
    } while (is_approximate(made.code));
    if (made.code < FUSED_LOAD) {
        made.at = problem->parameters;
        return made;
    }
    bool is_scalar = (made.code - FUSED_LOAD) % 2;
    bool is_boolean = made.code >= FUSED_LOAD_BOOLEAN && made.code < FUSED_SELECT;
    size_t i = random_below(N_MEMORIES);
    made.advance_mask = is_scalar ? 0 : UINT32_MAX;
    if (is_scalar)
        made.at = is_boolean ? (void *)&problem->scalar_boolean : (void *)&problem->scalars[i];
    else if (is_boolean)
        made.at = guarded_last(&problem->booleans[i], problem->n);
    else
        made.at = guarded_last(&problem->floats[i], problem->n * sizeof(float));
    return made;
}

/* Makes a program that first loads both registers, stores an intermediate value, and at the end
 * stores both registers. */
static void make_program(struct problem *problem, unsigned char *const out[2])
{
    size_t n = 0;
    struct fused_instruction *program = problem->program;
    void *from = guarded_last(&problem->floats[0], problem->n * sizeof(float));
    program[n++] = (struct fused_instruction){from, UINT32_MAX, FUSED_LOAD};
    program[n++] =
        (struct fused_instruction){&problem->scalar_boolean, 0, FUSED_LOAD_BOOLEAN + FUSED_SCALAR};
    for (size_t i = 0; i < N_CODES; i++) {
        program[n++] = random_instruction(problem);
        if (i == N_CODES / 3)
            program[n++] = (struct fused_instruction){problem->kept, 0, FUSED_STORE};
        if (i == N_CODES / 2)
            program[n++] = (struct fused_instruction){problem->kept, 0, FUSED_MINIMUM};
    }
    program[n++] = (struct fused_instruction){out[0], UINT32_MAX, FUSED_STORE};
    program[n++] = (struct fused_instruction){out[1], UINT32_MAX, FUSED_STORE_BOOLEAN};
    program[n] = (struct fused_instruction){.code = FUSED_END};
}

static bool is_same(const unsigned char *got, const unsigned char *wanted)
{
    float x, y;
    memcpy(&x, got, sizeof x);
    memcpy(&y, wanted, sizeof y);
    return isnan(y) ? isnan(x) : memcmp(&x, &y, sizeof x) == 0;
}

static bool check_program(struct problem *problem)
{
    size_t n = problem->n;
    unsigned char *out[2];
    fill(problem);
    for (int i = 0; i < 2; i++) {
        memset(guarded_first(&problem->out[i]), POISON, problem->out[i].n_bytes);
        out[i] = guarded_last(&problem->out[i], n * (i == 0 ? sizeof(float) : 1));
    }
    make_program(problem, out);
    problem->trial->reference->fused_f32(problem->program, n);
    memcpy(problem->expected[0], out[0], n * sizeof(float));
    memcpy(problem->expected[1], out[1], n);
    memset(out[0], POISON, n * sizeof(float));
    memset(out[1], POISON, n);
    problem->trial->variant->fused_f32(problem->program, n);
    for (size_t i = 0; i < n; i++)
        if (!is_same(out[0] + i * sizeof(float), problem->expected[0] + i * sizeof(float)) ||
            out[1][i] != problem->expected[1][i])
            return trial_fail("element %zu differs", i);
    for (size_t i = 1; i <= MARGIN; i++)
        if (*(out[0] - i) != POISON || *(out[1] - i) != POISON)
            return trial_fail("byte %zu before an output was written", i);
    return true;
}

bool check_fused(const struct trial *trial)
{
    struct problem problem = {.trial = trial};
    for (size_t i = 0; i < N_MEMORIES; i++) {
        problem.floats[i] = guarded_new(MAX_N * sizeof(float));
        problem.booleans[i] = guarded_new(MAX_N);
    }
    for (int i = 0; i < 2; i++) {
        problem.out[i] = guarded_new(MAX_N * sizeof(float) + MARGIN);
        problem.expected[i] = malloc(MAX_N * sizeof(float));
    }
    bool is_good = problem.expected[0] && problem.expected[1];
    for (problem.n = 1; problem.n <= MAX_N && is_good; problem.n++) {
        for (int i = 0; i < 20 && is_good; i++) {
            trial_says("n=%zu program %d", problem.n, i);
            is_good = check_program(&problem);
        }
    }
    for (size_t i = 0; i < N_MEMORIES; i++) {
        guarded_free(&problem.floats[i]);
        guarded_free(&problem.booleans[i]);
    }
    for (int i = 0; i < 2; i++) {
        guarded_free(&problem.out[i]);
        free(problem.expected[i]);
    }
    return is_good;
}

/* ---- speed ---- */

struct work {
    fused_fn *fn;
    struct fused_instruction program[1003];
};

static void work_chain(const void *context)
{
    const struct work *work = context;
    work->fn(work->program, FUSED_TILE);
}

/* Times 1000 operations on 64 elements, a chain of Multiply, Add, Greater and Select. */
void measure_fused(const struct trial *trial)
{
    static float factor = 0.5F, values[FUSED_TILE], out[FUSED_TILE];
    static struct work work;
    size_t n = 0;
    work.fn = trial->variant->fused_f32;
    work.program[n++] = (struct fused_instruction){values, UINT32_MAX, FUSED_LOAD};
    for (int i = 0; i < 250; i++) {
        work.program[n++] = (struct fused_instruction){&factor, 0, FUSED_MULTIPLY + FUSED_SCALAR};
        work.program[n++] = (struct fused_instruction){values, UINT32_MAX, FUSED_ADD};
        work.program[n++] = (struct fused_instruction){&factor, 0, FUSED_GREATER + FUSED_SCALAR};
        work.program[n++] = (struct fused_instruction){&factor, 0, FUSED_SELECT + FUSED_SCALAR};
    }
    work.program[n++] = (struct fused_instruction){out, UINT32_MAX, FUSED_STORE};
    work.program[n] = (struct fused_instruction){.code = FUSED_END};
    double seconds = measure_s(work_chain, &work);
    printf("#   1000 operations on %d elements %8.3f us\n", FUSED_TILE, seconds * 1e6);
}
