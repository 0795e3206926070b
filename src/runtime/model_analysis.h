/* Estimates the work and the memory of a model from the XML alone, and finds probable mistakes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_MODEL_ANALYSIS_H
#define IRRUN_RUNTIME_MODEL_ANALYSIS_H

#include "plan/model.h"

/* Analyses a model loaded with is_dry. All memory is in the arena of the model. */
bool model_analyse(const struct model *model, struct irrun_analysis *analysis,
                   struct irrun_error *err);

#endif
