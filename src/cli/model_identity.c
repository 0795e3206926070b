/* Formats the digests that identify a model.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/model_identity.h"

#include <inttypes.h>
#include <stdio.h>

void model_identify(const struct irrun_model *model, struct model_identity *identity)
{
    struct irrun_model_info model_info;
    struct irrun_weights_info weights;
    irrun_model_describe(model, &model_info);
    irrun_model_weights(model, &weights);
    *identity = (struct model_identity){.time = ""};
    snprintf(identity->xml, sizeof identity->xml, "%016" PRIx64, model_info.xml_digest);
    snprintf(identity->bin, sizeof identity->bin, "%" PRIu64 ":%016" PRIx64, weights.size_bytes,
             weights.digest);
    if (weights.is_sampled)
        snprintf(identity->time, sizeof identity->time, " written=%" PRId64 ".%09" PRId64,
                 weights.written_s, weights.written_ns);
}
