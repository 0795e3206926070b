/* The .bin file of a model: mapped, and checked against the Consts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_WEIGHTS_H
#define IRRUN_IR_WEIGHTS_H

#include "ir/ir_builder.h"

/* Maps the .bin if a live Const has data or if its path was given, then checks every live Const,
 * also in bodies. Does nothing for a model that needs no weights. The order of the graphs must be
 * set. */
bool weights_open(struct ir_model *model, struct irrun_error *err);

/* Returns a digest of the content, or, of a large file, of a sample of it, and then sets
 * *is_sampled. Returns 0 if there are no weights. */
uint64_t weights_digest(const struct file_map *weights, bool *is_sampled);

#endif
