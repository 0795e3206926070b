/* A table of the inputs that exported text-generation models have beside their tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/usual_inputs.h"

#include "cli/bind.h"

static const struct {
    const char *name, *options;
} usual_inputs[] = {
    {"attention_mask", "-i attention_mask=ones:input_ids"},
    {"position_ids", "-i position_ids=count:input_ids"},
    {"cache_position", "-i cache_position=count:input_ids"},
    {"beam_idx", "-i beam_idx=value:0 --shape=beam_idx=1"},
};

const char *usual_input_options(const struct irrun_model *model, size_t index)
{
    struct irrun_error ignored = {.code = IRRUN_OK};
    size_t ids;
    if (!irrun_model_find_input(model, "input_ids", &ids, &ignored))
        return NULL;
    for (size_t i = 0; i < sizeof usual_inputs / sizeof usual_inputs[0]; i++)
        if (port_has_name(model, irrun_model_find_input, index, usual_inputs[i].name))
            return usual_inputs[i].options;
    return NULL;
}
