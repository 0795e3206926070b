/* Maps the .bin file of a model, and checks it against the Consts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_WEIGHTS_H
#define IRRUN_IR_WEIGHTS_H

#include "ir/ir_builder.h"

/* Maps the .bin if a live Const has data or if its path was given, and then checks every live
 * Const, including those in bodies. Does nothing for a model that needs no weights. The order of
 * the graphs must be set. */
bool weights_open(struct ir_model *model, struct irrun_error *err);

/* Returns a digest of the content; 0 if there are no weights. For a large file, the digest is that
 * of a sample, and *is_sampled is set. */
uint64_t weights_digest(const struct file_map *weights, bool *is_sampled);

#endif
