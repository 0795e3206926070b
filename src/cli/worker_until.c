/* --until: ends a sequence when an output has the given value.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/worker_internal.h"
#include "formats/csv_number.h"

/* Compares in the type of the output, because double cannot represent 2^60 + 1, and 0.1 is not
 * exact in any float type. */
static bool equals_until(const struct options *options, const struct irrun_tensor *value)
{
    unsigned char wanted[sizeof(double)];
    const char *why, *text = options->until_text;
    if (value->dtype == IRRUN_BOOLEAN)
        return element_as_f64(value->dtype, value->data, 0) == options->until_value;
    if (!csv_number_parse(text, strlen(text), value->dtype, wanted, &why))
        return false;
    if (dtype_is_integer(value->dtype))
        return memcmp(wanted, value->data, dtype_size(value->dtype)) == 0;
    return element_as_f64(value->dtype, wanted, 0) == element_as_f64(value->dtype, value->data, 0);
}

bool worker_until_is_reached(const struct worker *worker, bool *is_over, struct irrun_error *err)
{
    const struct irrun_tensor *value = worker->values[worker->until_output];
    char shape[SHAPE_TEXT_BYTES];
    *is_over = false;
    bool is_fed = worker->until_output >= worker->n_values;
    if (!worker->options->until_name ||
        (is_fed && inputs_next_is_record(worker->inputs, worker->until_output - worker->n_values)))
        return true;
    if (shape_n_elements(&value->shape) != 1)
        return fail(err, IRRUN_DATA, "--until: output \"%s\" is %s, but must be one number",
                    worker->options->until_name, shape_format(&value->shape, shape));
    *is_over = equals_until(worker->options, value);
    return true;
}
