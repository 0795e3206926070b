/* The .bin file of a model: mapped, and checked against the Consts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_WEIGHTS_H
#define IRRUN_IR_WEIGHTS_H

#include "ir/ir_builder.h"

/* Maps the .bin if a live Const has data or if its path was given, then checks every live Const,
 * also in bodies. Does nothing for a model that needs no weights. The order of the graphs must be
 * set. */
bool weights_open(struct ir_model *model, struct irrun_error *err);

/* A digest of the content; for a large file, of a sample of it (*is_sampled). 0 without weights. */
uint64_t weights_digest(const struct file_map *weights, bool *is_sampled);

#endif
