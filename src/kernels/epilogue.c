/* Runs an epilogue on a range of the result. Divides the range into pieces in which every operand
 * either advances with the result or is constant.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/epilogue.h"

#include <assert.h>
#include <string.h>

/* Makes an instruction point to the operand element that belongs to result element `first`. Returns
 * the number of result elements, from `first` on, for which the operand advances with the result or
 * is constant. */
static size_t set_operand(const struct epilogue_operand *operand,
                          struct fused_instruction *instruction, size_t first)
{
    size_t block = operand->inner == 1 ? first : first / operand->inner;
    size_t element = block < operand->count ? block : block % operand->count;

    instruction->at = (char *)instruction->at + element * operand->element_bytes;
    return operand->inner == 1 ? operand->count - element : (block + 1) * operand->inner - first;
}

/* Runs the program on n elements, or fewer if an operand repeats; returns the number. If `elements`
 * is not NULL, the program runs on them; otherwise on the result elements from `first` on. */
static size_t run_piece(const struct epilogue *epilogue, size_t first, float *elements, size_t n)
{
    struct fused_instruction program[EPILOGUE_MAX_INSTRUCTIONS];
    float spills[EPILOGUE_MAX_SPILLS][FUSED_TILE];

    assert(epilogue->n_program <= EPILOGUE_MAX_INSTRUCTIONS && n <= FUSED_MAX);
    memcpy(program, epilogue->program, epilogue->n_program * sizeof *program);
    for (size_t i = 0; i < epilogue->n_operands; i++) {
        const struct epilogue_operand *operand = &epilogue->operands[i];
        struct fused_instruction *instruction = &program[operand->instruction];
        if (operand->element_bytes == 0) {
            instruction->at = spills[operand->inner];
        } else if (elements) {
            instruction->at = elements;
        } else {
            size_t max_n = set_operand(operand, instruction, first);
            n = n < max_n ? n : max_n;
        }
    }
    epilogue->fused(program, n);
    return n;
}

void epilogue_run_on(const struct epilogue *epilogue, float *elements, size_t n)
{
    assert(epilogue->is_map);
    run_piece(epilogue, 0, elements, n);
}

#define MAX_REPEATED 2       /* operands */
#define REPEATED_FLOATS 1024 /* per copy: 4 KB, on the stack */

/* A copy of an epilogue in which short operands, such as one slope per channel, are repeated
 * several times, so that the epilogue runs in fewer pieces. */
struct repeated_epilogue {
    struct epilogue epilogue;
    struct fused_instruction program[EPILOGUE_MAX_INSTRUCTIONS];
    struct epilogue_operand operands[EPILOGUE_MAX_INSTRUCTIONS];
    float floats[MAX_REPEATED][REPEATED_FLOATS];
};

static void copy_epilogue(const struct epilogue *epilogue, struct repeated_epilogue *copy)
{
    copy->epilogue = *epilogue;
    copy->epilogue.program =
        memcpy(copy->program, epilogue->program, epilogue->n_program * sizeof *epilogue->program);
    copy->epilogue.operands = memcpy(copy->operands, epilogue->operands,
                                     epilogue->n_operands * sizeof *epilogue->operands);
}

/* Repeats short operands in *copy for n elements. Returns the copy, or `epilogue` if no operand is
 * short. */
static const struct epilogue *repeat_operands(const struct epilogue *epilogue, size_t n,
                                              struct repeated_epilogue *copy)
{
    size_t n_repeated = 0, max_n = n < REPEATED_FLOATS ? n : REPEATED_FLOATS;
    for (size_t i = 0; i < epilogue->n_operands && n_repeated < MAX_REPEATED; i++) {
        const struct epilogue_operand *operand = &epilogue->operands[i];
        size_t count = operand->count;
        if (operand->element_bytes != sizeof(float) || operand->inner != 1 || count == 0 ||
            count > REPEATED_FLOATS / 2 || 4 * count > n)
            continue;
        if (n_repeated == 0)
            copy_epilogue(epilogue, copy);
        float *to = copy->floats[n_repeated++];
        void **at = &copy->program[operand->instruction].at;
        size_t *end = &copy->operands[i].count;
        for (*end = 0; *end + count <= max_n; *end += count)
            memcpy(to + *end, *at, count * sizeof *to);
        *at = to;
    }
    return n_repeated > 0 ? &copy->epilogue : epilogue;
}

void epilogue_run(const struct epilogue *epilogue, size_t first, size_t n)
{
    struct repeated_epilogue copy;
    if (!epilogue || !epilogue->fused)
        return;
    if (first == 0 && n <= epilogue->n_contiguous) {
        epilogue->fused(epilogue->program, n);
        return;
    }
    epilogue = repeat_operands(epilogue, n, &copy);
    for (size_t end = first + n; first < end;)
        first +=
            run_piece(epilogue, first, NULL, end - first < FUSED_MAX ? end - first : FUSED_MAX);
}
