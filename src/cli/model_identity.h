/* Of which model a state or a checkpoint is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_MODEL_IDENTITY_H
#define IRRUN_CLI_MODEL_IDENTITY_H

#include "irrun.h"

struct model_identity {
    char xml[24];  /* the digest of its bytes */
    char bin[48];  /* of the weights: "BYTES:DIGEST", "0:0000000000000000" without any */
    char time[64]; /* when weights too large to be read whole were written last; else "" */
};

/* Reads the weights. */
void model_identify(const struct irrun_model *model, struct model_identity *identity);

#endif
