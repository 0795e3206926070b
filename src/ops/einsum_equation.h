/* Parses the equation of an Einsum, which gives every dimension a label.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_EINSUM_EQUATION_H
#define IRRUN_OPS_EINSUM_EQUATION_H

#include "ops/op.h"

/* Labels: the letters A-Z and a-z, then the dimensions of an ellipsis, right-aligned. */
#define EINSUM_N_LETTERS 52
#define EINSUM_N_LABELS (EINSUM_N_LETTERS + IRRUN_MAX_RANK)

struct einsum_labels {
    uint8_t items[2 * IRRUN_MAX_RANK];
    uint32_t n;
};

struct einsum_equation {
    struct einsum_labels *inputs; /* [n_inputs]: the labels of the dimensions; they may repeat */
    struct einsum_labels out;
    int64_t dims[EINSUM_N_LABELS]; /* for each label; -1 if no input has the label */
};

/* Parses `text` for the inputs of the op. Dimensions with the same label must be equal, or 1. */
bool infer_einsum(struct infer *infer, const char *text, struct einsum_equation *equation);

/* Returns the number of floating-point operations: a multiply-add (two operations) for every
 * combination of label values. */
double einsum_flops(const char *equation, struct irrun_tensor *const *in, uint32_t n_inputs);

#endif
