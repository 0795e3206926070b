/* Runs of element-wise operations in one go: a tile of f32 values, or of truths, stays in registers
 * from one instruction to the next, and only what somebody else wants goes to memory. Bit for bit
 * the same as the loops that go operation by operation. Knows no shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_FUSED_F32_H
#define IRRUN_KERNELS_FUSED_F32_H

#include "kernels/binary.h"
#include "kernels/unary.h"

/* The widest tile: a value that is kept for later in a program takes so many elements of memory. */
#define FUSED_TILE 64

/* The forms of an instruction that has an operand in memory: elements, or one for all. In the
 * reverse forms the operand stands on the left of the tile. */
enum fused_form { FUSED_MOVING, FUSED_STILL, FUSED_REVERSE_MOVING, FUSED_REVERSE_STILL };

/* There are two registers: the tile, and the truths. A code of several forms is the first of them;
 * its form is added. */
enum fused_code {
    FUSED_NONE,
    FUSED_END,
    FUSED_STORE,       /* the tile to memory */
    FUSED_STORE_TRUTH, /* the truths to memory, a byte of 0 or 1 each */
    FUSED_NOT,         /* of the truths */

/* The tile becomes a function of itself and of the two parameters at `at`. */
#define UNARY_VECTOR(name, vectors, expression, vector) FUSED_##name,
#include "kernels/elementwise.def"

#define TWO_FORMS(name) FUSED_##name, FUSED_LAST_##name = FUSED_##name + FUSED_STILL,
    TWO_FORMS(LOAD) /* the tile from memory */
/* Truths: the tile compared with memory. */
#define COMPARISON_VECTOR(name, vector) TWO_FORMS(name)
#include "kernels/elementwise.def"

    TWO_FORMS(LOAD_TRUTH) /* the truths from memory */
/* The truths and those in memory. */
#define LOGIC_VECTOR(name, vector) TWO_FORMS(name)
#include "kernels/elementwise.def"

#define FOUR_FORMS(name) FUSED_##name, FUSED_LAST_##name = FUSED_##name + FUSED_REVERSE_STILL,
    /* Where true the tile, else memory; in reverse the other way round. */
    FOUR_FORMS(SELECT)
/* The tile and memory. */
#define BINARY_VECTOR(name, vector) FOUR_FORMS(name)
#include "kernels/elementwise.def"
        FUSED_N_CODES
};
#undef TWO_FORMS
#undef FOUR_FORMS

static inline bool fused_is_comparison(uint32_t code)
{
    return code > FUSED_LAST_LOAD && code < FUSED_LOAD_TRUTH;
}

/* Of truths alone. */
static inline bool fused_is_logic(uint32_t code)
{
    return code == FUSED_NOT || (code > FUSED_LAST_LOAD_TRUTH && code < FUSED_SELECT);
}

struct fused_instruction {
    void *at;       /* the operand, parameters, or where to store; any alignment */
    uint32_t moves; /* all ones: it advances with the elements; 0: the same memory for every tile */
    uint32_t code;
};

/* What the operation is as an instruction; FUSED_NONE if there is none. */
enum fused_code fused_binary(enum binary_operation operation);
enum fused_code fused_unary(enum unary_operation operation);

/* Runs a program, ended by FUSED_END, over n elements, at most FUSED_MOST. Memory that is written
 * is read by the same tile only. */
#define FUSED_MOST ((size_t)1 << 29)
typedef void fused_fn(const struct fused_instruction *program, size_t n);

#endif
