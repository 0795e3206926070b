/* Reports sequences that fail while others are run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/failures.h"

#include <inttypes.h>

#include "cli/advice.h"
#include "cli/warning.h"

bool failures_pass_over(struct failures *failures, const struct sequence *sequence,
                        struct irrun_error *err)
{
    const struct options *options = failures->options;
    bool is_of_sequence = err->code == IRRUN_MISMATCH || err->code == IRRUN_DATA ||
                          err->code == IRRUN_NO_INPUT || err->code == IRRUN_UNSUPPORTED;
    if (!options->keeps_going || !is_of_sequence)
        return false;
    if (failures->n++ == 0 || sequence->number < failures->first_number) {
        failures->first_number = sequence->number;
        failures->first_code = err->code;
    }
    warning_show_progress(options, NULL, options->progress == PROGRESS_PLAIN);
    advise(options, err);
    warning_show_error(options, err);
    error_clear(err);
    return true;
}

bool failures_judge(const struct failures *failures, uint64_t n_sequences, struct irrun_error *err)
{
    return failures->n == 0 ||
           fail(err, failures->first_code, "%" PRIu64 " of %" PRIu64 " sequences failed",
                failures->n, n_sequences);
}
