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

    /* The tile becomes a function of itself. */
    FUSED_ABS,
    FUSED_NEGATIVE,
    FUSED_RELU,
    FUSED_FLOOR,
    FUSED_CEILING,
    FUSED_ROUND,
    FUSED_SQRT,
    FUSED_SIGMOID,
    FUSED_TANH,
    FUSED_EXP,
    FUSED_LOG,
    FUSED_ERF,
    FUSED_SOFTPLUS,
    FUSED_MISH,
    FUSED_HSIGMOID,
    FUSED_HSWISH,
    FUSED_SOFTSIGN,
    FUSED_SWISH,
    FUSED_GELU_ERF,
    FUSED_GELU_TANH,
    FUSED_CLAMP, /* to the two floats at `at` */

    /* Two forms each. */
    FUSED_LOAD,                        /* the tile from memory */
    FUSED_LOAD_TRUTH = FUSED_LOAD + 2, /* the truths from memory */
    FUSED_AND = FUSED_LOAD_TRUTH + 2,  /* the truths and those in memory */
    FUSED_OR = FUSED_AND + 2,
    FUSED_XOR = FUSED_OR + 2,
    FUSED_EQUAL = FUSED_XOR + 2, /* truths: the tile compared with memory */
    FUSED_NOT_EQUAL = FUSED_EQUAL + 2,
    FUSED_LESS = FUSED_NOT_EQUAL + 2,
    FUSED_LESS_EQUAL = FUSED_LESS + 2,
    FUSED_GREATER = FUSED_LESS_EQUAL + 2,
    FUSED_GREATER_EQUAL = FUSED_GREATER + 2,

    /* Four forms each: the tile and memory. */
    FUSED_ADD = FUSED_GREATER_EQUAL + 2,
    FUSED_SUBTRACT = FUSED_ADD + 4,
    FUSED_MULTIPLY = FUSED_SUBTRACT + 4,
    FUSED_DIVIDE = FUSED_MULTIPLY + 4,
    FUSED_MAXIMUM = FUSED_DIVIDE + 4,
    FUSED_MINIMUM = FUSED_MAXIMUM + 4,
    FUSED_SQUARED_DIFFERENCE = FUSED_MINIMUM + 4,
    FUSED_PRELU = FUSED_SQUARED_DIFFERENCE + 4,
    FUSED_SELECT =
        FUSED_PRELU + 4, /* where true the tile, else memory; in reverse the other way round */
    FUSED_N_CODES = FUSED_SELECT + 4
};

struct fused_instruction {
    void *at;       /* the operand, or where to store; any alignment */
    uint32_t moves; /* all ones: it goes on with the elements; 0: the same memory for every tile */
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
