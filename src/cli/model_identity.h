/* Identifies the model of a state or a checkpoint.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_MODEL_IDENTITY_H
#define IRRUN_CLI_MODEL_IDENTITY_H

#include "irrun.h"

struct model_identity {
    char xml[24];  /* digest of the .xml file */
    char bin[48];  /* "BYTES:DIGEST" of the weights; "0:0000000000000000" without weights */
    char time[64]; /* modification time, if only a sample of the weights is read; or "" */
};

/* Computes the identity. Reads the weights, at most 64 MB. */
void model_identify(const struct irrun_model *model, struct model_identity *identity);

#endif
