/* Counts, compares, formats and broadcasts shapes, and parses the partial shapes of the IR.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_SHAPE_H
#define IRRUN_TENSOR_SHAPE_H

#include "base/error.h"

/* Counts the elements; a 0-D shape has 1. Returns false if the number overflows int64. */
bool shape_count(const struct irrun_shape *shape, int64_t *n_elements);

/* Returns the number of elements of a shape that is known not to overflow, such as a shape in a
 * plan. */
int64_t shape_n_elements(const struct irrun_shape *shape);

/* Returns the product of dims[from ... to - 1]. */
int64_t shape_product(const struct irrun_shape *shape, uint32_t from, uint32_t to);

bool shape_equals(const struct irrun_shape *a, const struct irrun_shape *b);

struct irrun_shape shape_of(uint32_t rank, const int64_t *dims);

/* Appends dims[from ... to - 1] of `other`. There must be room for them. */
void shape_append(struct irrun_shape *shape, const struct irrun_shape *other, uint32_t from,
                  uint32_t to);

/* Returns the coordinates of an element, as the dims of a shape. */
struct irrun_shape shape_unravel(const struct irrun_shape *shape, size_t element);

/* Format a shape: "[1,512]", "[]". Return out. 400 bytes are enough for every irrun_shape; a
 * partial shape that does not fit is truncated, and ends in "…]". */
#define SHAPE_TEXT_BYTES 400
char *shape_format(const struct irrun_shape *shape, char out[SHAPE_TEXT_BYTES]);
char *partial_shape_format(const struct irrun_partial_shape *shape, char out[SHAPE_TEXT_BYTES]);

/* Parses the text of Parameter.shape or variable_shape: "1, ?, 2..8, 3.., ..5, -1", "..." for any
 * rank, "" for 0-D; surrounding brackets are allowed. Returns false, with a static string in *why,
 * for any other text. */
bool partial_shape_parse(const char *text, struct irrun_partial_shape *shape, const char **why);

struct irrun_partial_shape partial_shape_of(const struct irrun_shape *shape); /* static */
struct irrun_partial_shape partial_shape_any(void);
bool partial_shape_is_static(const struct irrun_partial_shape *shape);
/* Sets *shape to the only shape that `partial` allows. Returns false if it allows several. */
bool partial_shape_to_shape(const struct irrun_partial_shape *partial, struct irrun_shape *shape);
bool partial_shape_admits(const struct irrun_partial_shape *partial,
                          const struct irrun_shape *shape);

/* Broadcasts two shapes by NumPy's rules. Returns false if they are incompatible. out may be a or
 * b. */
bool shape_broadcast(const struct irrun_shape *a, const struct irrun_shape *b,
                     struct irrun_shape *out);

#endif
