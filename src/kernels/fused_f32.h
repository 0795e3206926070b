/* Fused element-wise operations: an interpreter keeps a tile of f32 values or booleans in registers
 * from one instruction to the next. Only spills and values that later steps read are written to
 * memory. The results equal those of separate loops bit for bit.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_FUSED_F32_H
#define IRRUN_KERNELS_FUSED_F32_H

#include "kernels/elementwise.h"

/* The maximum number of elements of a tile. A spill, a value that is stored and read again only
 * within the program, needs memory for one tile. */
#define FUSED_TILE 64

/* The forms of an instruction with an operand in memory. The operand is an array (ARRAY) or one
 * element (SCALAR). In the REVERSE forms it is the left operand. */
enum fused_form { FUSED_ARRAY, FUSED_SCALAR, FUSED_REVERSE_ARRAY, FUSED_REVERSE_SCALAR };

/* There are two registers: the tile, and the mask (one boolean per element of the tile). An
 * instruction with several forms is encoded as code + enum fused_form. */
enum fused_code {
    FUSED_NONE,
    FUSED_END,
    FUSED_STORE,         /* writes the tile to memory */
    FUSED_STORE_BOOLEAN, /* writes the mask to memory, a byte of 0 or 1 for each boolean */
    FUSED_NOT,           /* inverts the mask */

/* Tile = function of the tile and of the two parameters that `at` points to. */
#define UNARY_VECTOR(name, vectors, expression, vector) FUSED_##name,
#include "kernels/elementwise.def"

#define TWO_FORMS(name) FUSED_##name, FUSED_LAST_##name = FUSED_##name + FUSED_SCALAR,
    TWO_FORMS(LOAD) /* reads the tile from memory */
/* Mask = comparison of the tile with memory. */
#define COMPARISON_VECTOR(name, vector) TWO_FORMS(name)
#include "kernels/elementwise.def"

    TWO_FORMS(LOAD_BOOLEAN) /* reads the mask from memory */
/* Mask = logical function of the mask and booleans in memory. */
#define LOGIC_VECTOR(name, vector) TWO_FORMS(name)
#include "kernels/elementwise.def"

#define FOUR_FORMS(name) FUSED_##name, FUSED_LAST_##name = FUSED_##name + FUSED_REVERSE_SCALAR,
    /* Tile = mask ? tile : memory; in the reverse forms, mask ? memory : tile. */
    FOUR_FORMS(SELECT)
/* Tile = function of the tile and memory. */
#define BINARY_VECTOR(name, vector) FOUR_FORMS(name)
#include "kernels/elementwise.def"
        FUSED_N_CODES
};
#undef TWO_FORMS
#undef FOUR_FORMS

static inline bool fused_is_comparison(uint32_t code)
{
    return code > FUSED_LAST_LOAD && code < FUSED_LOAD_BOOLEAN;
}

/* Returns whether the operands and the result are masks. */
static inline bool fused_is_logic(uint32_t code)
{
    return code == FUSED_NOT || (code > FUSED_LAST_LOAD_BOOLEAN && code < FUSED_SELECT);
}

struct fused_instruction {
    void *at;              /* the operand, the parameters or the destination, with any alignment */
    uint32_t advance_mask; /* all ones: `at` advances with the elements; 0: it does not */
    uint32_t code;
};

/* Return the instruction that computes an operation; FUSED_NONE if none does. */
enum fused_code fused_binary(enum binary_operation operation);
enum fused_code fused_unary(enum unary_operation operation);

/* Runs a program that ends with FUSED_END on n elements, at most FUSED_MAX. Only the tile that
 * writes an element to memory may read it. */
#define FUSED_MAX ((size_t)1 << 29) /* the byte offsets of f32 fit into advance_mask */
typedef void fused_fn(const struct fused_instruction *program, size_t n);

#endif
