/* -i value:V,V,...: makes the record of an input that is the same in all iterations.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/inputs_internal.h"
#include "formats/csv_number.h"

static int64_t count_numbers(const char *text)
{
    int64_t n = 1;
    for (; *text; text++)
        n += *text == ',';
    return n;
}

/* Finds the shape of a record of n numbers: the shape of the port. If n is above 1 and only one
 * dimension is dynamic, sets that dimension so that the record has n elements. */
static bool find_record_shape(const struct records_port *port, int64_t n, struct irrun_shape *shape,
                              struct irrun_error *err)
{
    struct irrun_partial_shape wanted = port->shape;
    char text[SHAPE_TEXT_BYTES];
    int64_t n_known = 1;
    uint32_t n_open = 0, open = 0;
    for (uint32_t i = 0; i < wanted.rank && !wanted.is_rank_dynamic; i++) {
        bool is_known = wanted.min[i] == wanted.max[i];
        n_known *= is_known ? wanted.min[i] : 1;
        n_open += !is_known;
        open = is_known ? open : i;
    }
    if (n_open == 1 && n > 1 && n_known > 0 && n % n_known == 0)
        wanted.min[open] = wanted.max[open] = n / n_known;
    if (partial_shape_to_shape(&wanted, shape))
        return true;
    fail(err, IRRUN_USAGE, "value: input \"%s\" has open dimensions: %s", port->name,
         partial_shape_format(&port->shape, text));
    return records_hint_shape(port, err);
}

static bool parse_numbers(const char *text, enum irrun_dtype dtype, int64_t n, char *data,
                          const char *name, struct irrun_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        size_t length = strcspn(text, ",");
        const char *why;
        if (!csv_number_parse(text, length, dtype, data + (size_t)i * dtype_size(dtype), &why)) {
            char quoted[TEXT_QUOTED_BYTES];
            fail(err, IRRUN_USAGE, "value: \"%.*s\" %s: input \"%s\" is %s", (int)length, text, why,
                 name, irrun_dtype_name(dtype));
            return dtype == IRRUN_U8 &&
                   fail_hint(err, "printf %%s %s | irrun ... -i %s=raw:- reads characters",
                             text_shell_quote(text, quoted), name);
        }
        text += length + (text[length] == ',');
    }
    return true;
}

bool value_record(const char *text, const struct records_port *port, struct irrun_tensor *record,
                  struct irrun_error *err)
{
    int64_t n = count_numbers(text), n_all;
    char shape[SHAPE_TEXT_BYTES];
    size_t size_bytes;
    *record =
        (struct irrun_tensor){.dtype = port->dtype == IRRUN_DYNAMIC ? IRRUN_F32 : port->dtype};
    if (!find_record_shape(port, n, &record->shape, err))
        return false;
    if (!shape_count(&record->shape, &n_all) ||
        !tensor_size(record->dtype, &record->shape, &size_bytes))
        return fail_memory(err, SIZE_MAX);
    if (n > 1 && n != n_all)
        return fail(err, IRRUN_USAGE,
                    "value: %" PRId64 " numbers, but input \"%s\" is %s: give 1 or %" PRId64, n,
                    port->name, shape_format(&record->shape, shape), n_all);
    size_t element_bytes = dtype_size(record->dtype);
    char *data = malloc(size_bytes + element_bytes);
    record->data = data;
    if (!data)
        return fail_memory(err, size_bytes + element_bytes);
    if (!parse_numbers(text, record->dtype, n, data, port->name, err)) {
        free(data);
        return false;
    }
    for (int64_t i = 1; i < n_all && n == 1; i++)
        memcpy(data + (size_t)i * element_bytes, data, element_bytes);
    return true;
}
