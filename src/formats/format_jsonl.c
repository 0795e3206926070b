/* Writes jsonl: for each record, a line with a JSON object that holds the sequence, the number of
 * the record and all outputs: {"seq":"a","rec":0,"y":[[1,2]]}.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/format_internal.h"

static bool jsonl_open(struct writer *writer, struct irrun_error *err)
{
    for (size_t i = 0; i < writer->options.n_outputs; i++) {
        const char *name = writer->names[i];
        if (strcmp(name, "seq") == 0 || strcmp(name, "rec") == 0)
            return fail(err, IRRUN_USAGE,
                        "output \"%s\": in jsonl this is the name of the sequence or record", name);
    }
    return true;
}

static bool write_string(struct output_file *file, const char *text, struct irrun_error *err)
{
    bool is_written = output_file_write(file, "\"", 1, err);
    while (*text && is_written) {
        char escaped[TEXT_JSON_BYTES];
        text = text_to_json(text, escaped);
        is_written = output_file_write(file, escaped, strlen(escaped), err);
    }
    return is_written && output_file_write(file, "\"", 1, err);
}

/* Writes a number, or null for nan and inf, which JSON does not have. */
static bool write_number(struct output_file *file, const struct irrun_tensor *tensor, size_t index,
                         struct irrun_error *err)
{
    char number[TEXT_NUMBER_BYTES];
    size_t length = format_element(tensor->dtype, tensor->data, index, number);
    bool is_finite = !memchr(number, 'n', length);
    return is_finite ? output_file_write(file, number, length, err)
                     : output_file_write(file, "null", 4, err);
}

/* Returns how many JSON arrays begin at element `index`: the number of trailing axes whose index is
 * 0. Unless the element is the first one, the same number of arrays end before it. */
static uint32_t count_brackets(const struct irrun_shape *shape, int64_t index)
{
    uint32_t n = 0;
    for (int64_t length = 1; n < shape->rank; n++) {
        length *= shape->dims[shape->rank - 1 - n];
        if (index % length != 0)
            break;
    }
    return n;
}

static bool write_brackets(struct output_file *file, const char *bracket, uint32_t n,
                           struct irrun_error *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (!output_file_write(file, bracket, 1, err))
            return false;
    return true;
}

#define MAX_EMPTY (INT64_C(1) << 20)

/* Writes an array without elements as NumPy does: nested for the dimensions before the first 0,
 * with [] inside. Fails if the text needs more than MAX_EMPTY [], because the text could fill the
 * disk. */
static bool write_empty(struct output_file *file, const struct irrun_shape *shape,
                        struct irrun_error *err)
{
    uint32_t axis = 0;
    int64_t n = 1;
    while (shape->dims[axis] != 0 && n <= MAX_EMPTY)
        n = shape->dims[axis] <= MAX_EMPTY ? n * shape->dims[axis++] : MAX_EMPTY + 1;
    if (n > MAX_EMPTY) {
        char text[SHAPE_TEXT_BYTES];
        return fail(err, IRRUN_DATA, "jsonl: %s has more than %" PRId64 " empty rows",
                    shape_format(shape, text), MAX_EMPTY);
    }
    const struct irrun_shape outer = shape_of(axis, shape->dims);
    for (int64_t i = 0; i < n; i++) {
        if (!output_file_write(file, ",", i > 0, err) ||
            !write_brackets(file, "[", count_brackets(&outer, i), err) ||
            !output_file_write(file, "[]", 2, err) ||
            !write_brackets(file, "]", count_brackets(&outer, i + 1), err))
            return false;
    }
    return true;
}

static bool write_array(struct output_file *file, const struct irrun_tensor *tensor,
                        struct irrun_error *err)
{
    int64_t n = shape_n_elements(&tensor->shape);
    if (n == 0)
        return write_empty(file, &tensor->shape, err);
    for (int64_t i = 0; i < n; i++) {
        if (!output_file_write(file, ",", i > 0, err) ||
            !write_brackets(file, "[", count_brackets(&tensor->shape, i), err) ||
            !write_number(file, tensor, (size_t)i, err) ||
            !write_brackets(file, "]", count_brackets(&tensor->shape, i + 1), err))
            return false;
    }
    return true;
}

static bool jsonl_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                        const struct record_label *label, struct irrun_error *err)
{
    struct output_file *file = &writer->file;
    char rec[40];
    int n_rec = snprintf(rec, sizeof rec, ",\"rec\":%" PRIu64, label->index);
    if (output == 0 && (!output_file_write(file, "{\"seq\":", 7, err) ||
                        !write_string(file, label->sequence, err) ||
                        !output_file_write(file, rec, (size_t)n_rec, err)))
        return false;
    bool is_last = output + 1 == writer->options.n_outputs;
    return output_file_write(file, ",", 1, err) && write_string(file, writer->names[output], err) &&
           output_file_write(file, ":", 1, err) && write_array(file, record, err) &&
           output_file_write(file, "}\n", is_last ? 2 : 0, err);
}

const struct writer_methods jsonl_writer = {
    .size_bytes = sizeof(struct writer), .open = jsonl_open, .write = jsonl_write};
