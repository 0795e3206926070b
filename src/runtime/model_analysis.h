/* What the XML alone tells of the work of a model, of its memory, and of what looks like a mistake.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_MODEL_ANALYSIS_H
#define IRRUN_RUNTIME_MODEL_ANALYSIS_H

#include "plan/model.h"

/* Of a model that is_dry. Everything is in the model's arena. */
bool model_analyse(const struct model *model, struct irrun_analysis *analysis,
                   struct irrun_error *err);

#endif
