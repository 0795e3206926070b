/* Checks that sound fits an input: its type, its rate and its channels.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/records_internal.h"

/* Rejects samples from -1 to 1 for an integer input, because almost all would become 0. */
static bool check_type(const struct records *records, bool is_s16, struct irrun_error *err)
{
    const struct records_port *port = &records->port;
    const char *path = records_path(records);
    char quoted[TEXT_QUOTED_BYTES];
    bool is_standard = strcmp(path, STANDARD_INPUT) == 0;
    bool is_integral = dtype_is_integer(port->dtype) || port->dtype == IRRUN_BOOLEAN;
    if (!is_integral || port->is_scalar || port->keeps_dtype)
        return true;
    fail_at(err, IRRUN_DATA, records_place(records),
            "%s \"%s\" is %s, but %s gives numbers from -1 to 1", port->what, port->name,
            irrun_dtype_name(port->dtype), is_s16 ? "s16" : "wav");
    if (!is_s16)
        return port->dtype == IRRUN_I16 &&
               fail_hint(err, "sox %s -t s16 - | irrun ... -i raw:- reads the samples unchanged",
                         is_standard ? "FILE" : text_shell_quote(path, quoted));
    return port->dtype == IRRUN_I16
               ? fail_hint(err, "raw:%s reads the samples unchanged",
                           is_standard ? "-" : text_shell_quote(path, quoted))
               : fail_hint(err,
                           "to read the samples unchanged, convert them with NumPy: "
                           "numpy.fromfile(\"%s\", \"<i2\").astype(TYPE).tofile(\"y.raw\")",
                           is_standard ? "FILE" : path);
}

static bool check_rate(const struct records *records, int rate_hz, struct irrun_error *err)
{
    double wanted = records->options ? records->options->rate_hz : 0;
    char number[TEXT_NUMBER_BYTES + 1], thousands[TEXT_NUMBER_BYTES + 1];
    if (wanted == 0 || wanted == rate_hz)
        return true;
    char quoted[TEXT_QUOTED_BYTES];
    number[text_from_f64(wanted, number)] = '\0';
    fail_at(err, IRRUN_DATA, records_place(records), "has %d samples a second, but --rate=%s",
            rate_hz, number);
    thousands[text_from_f64(wanted * 1000, thousands)] = '\0';
    if (wanted < 1000)
        return fail_hint(err, "--rate counts samples a second: %s kHz is --rate=%s", number,
                         thousands);
    return fail_hint(err,
                     "--rate is what the model expects; sox %s -r %s other.wav converts the file",
                     text_shell_quote(records_path(records), quoted), number);
}

/* Finds the dimension of a record that holds the channels: a static dimension that equals the
 * number of channels and is not cut. Returns false if there is none. */
static bool find_channels(const struct records *records, uint32_t n_channels, uint32_t *found)
{
    const struct irrun_partial_shape *shape = &records->port.shape;
    int64_t axis = records->axis ? records->axis->axis : shape->rank;
    if (axis < 0)
        axis += shape->rank;
    for (uint32_t i = shape->is_rank_dynamic ? 0 : shape->rank; i-- > 0;) {
        *found = i;
        if (i != axis && shape->min[i] == n_channels && shape->max[i] == n_channels)
            return true;
    }
    return false;
}

bool records_start_audio(struct records *records, const struct array_header *header,
                         struct irrun_error *err)
{
    char shape[SHAPE_TEXT_BYTES], quoted[TEXT_QUOTED_BYTES];
    uint32_t axis;
    if (!check_type(records, header->n_channels == 0, err) ||
        (header->n_channels > 0 && !check_rate(records, header->rate_hz, err)))
        return false;
    records->n_frame_values = 1;
    if (header->n_channels < 2 || !find_channels(records, header->n_channels, &axis))
        return true;
    if (axis + 1 == records->port.shape.rank) {
        reader_keep_channels(records->reader);
        records->n_frame_values = header->n_channels;
        return true;
    }
    fail_at(err, IRRUN_DATA, records_place(records),
            "has %u channels, which must be the last dimension, but %s \"%s\" is %s",
            (unsigned)header->n_channels, records->port.what, records->port.name,
            partial_shape_format(&records->port.shape, shape));
    return fail_hint(err, "sox %s -c 1 mono.wav joins the channels",
                     text_shell_quote(records_path(records), quoted));
}
