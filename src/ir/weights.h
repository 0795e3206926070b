/* The .bin file of a model: mapped, and checked against the Consts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_WEIGHTS_H
#define IRRUN_IR_WEIGHTS_H

#include "ir/ir_builder.h"

/* Maps the .bin if a live Const has bytes or if its path was given, then checks every live Const,
 * those of bodies included. Does nothing for a model that needs no weights. The graphs have their
 * order. */
bool weights_open(struct ir_model *model, struct irrun_error *err);

/* A digest of the content; of a large file, of a sample of it: *is_sampled. 0 without weights. */
uint64_t weights_digest(const struct file_map *weights, bool *is_sampled);

#endif
