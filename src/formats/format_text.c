/* Writes text: a line "# NAME f32 [1,10] seq=KEY rec=3", then a line for each row of the last axis.
 * The csv reader can read this text. Also writes the rows of csv.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "formats/format_internal.h"
#include "tensor/half.h"

/* NumPy's defaults (printoptions threshold and edgeitems). */
#define SUMMARY_THRESHOLD 1000
#define SUMMARY_EDGE 3

/* ---- Numbers --------------------------------------------------------------------------------- */

static size_t format_integer(enum irrun_dtype dtype, const void *data, size_t i,
                             char out[TEXT_NUMBER_BYTES])
{
    uint64_t u64;
    if (dtype == IRRUN_U64) {
        memcpy(&u64, (const unsigned char *)data + i * sizeof u64, sizeof u64);
        return text_from_u64(u64, out);
    }
    int64_t value = element_as_i64(dtype, data, i);
    if (value >= 0)
        return text_from_u64((uint64_t)value, out);
    out[0] = '-';
    return 1 + text_from_u64((uint64_t)0 - (uint64_t)value, out + 1);
}

static float narrow_to_f16(double decimal)
{
    return f16_to_f32(f16_from_f32(f32_for_narrowing(decimal)));
}

static float narrow_to_bf16(double decimal)
{
    return bf16_to_f32(bf16_from_f32(f32_for_narrowing(decimal)));
}

size_t format_element(enum irrun_dtype dtype, const void *data, size_t i,
                      char out[TEXT_NUMBER_BYTES])
{
    float f32;
    switch (dtype) {
    case IRRUN_F32:
        memcpy(&f32, (const unsigned char *)data + i * sizeof f32, sizeof f32);
        return text_from_f32(f32, out);
    case IRRUN_F64:
        return text_from_f64(element_as_f64(dtype, data, i), out);
    case IRRUN_F16:
        return text_from_narrow((float)element_as_f64(dtype, data, i), narrow_to_f16, out);
    case IRRUN_BF16:
        return text_from_narrow((float)element_as_f64(dtype, data, i), narrow_to_bf16, out);
    case IRRUN_F8E4M3:
    case IRRUN_F8E5M2:
    case IRRUN_F4E2M1:
    case IRRUN_F8E8M0: /* every value is an exact float */
        return text_from_f32((float)element_as_f64(dtype, data, i), out);
    case IRRUN_NF4:
        return text_from_u64(((const unsigned char *)data)[i], out);
    case IRRUN_BOOLEAN:
        out[0] = ((const unsigned char *)data)[i] != 0 ? '1' : '0';
        return 1;
    default:
        return format_integer(dtype, data, i, out);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool write_gap(struct output_file *file, char end, struct irrun_error *err)
{
    char gap[4] = {'.', '.', '.', end};
    return output_file_write(file, gap, sizeof gap, err);
}

/* Writes the n numbers from element `first` on; if n > 2 * n_edge > 0, only n_edge at each end. */
static bool write_row(struct output_file *file, const struct irrun_tensor *tensor, int64_t first,
                      int64_t n, int64_t n_edge, char separator, struct irrun_error *err)
{
    char number[TEXT_NUMBER_BYTES + 1];
    for (int64_t i = 0; i < n; i++) {
        if (n_edge != 0 && i == n_edge && n > 2 * n_edge) {
            if (!write_gap(file, separator, err))
                return false;
            i = n - n_edge;
        }
        size_t length = format_element(tensor->dtype, tensor->data, (size_t)(first + i), number);
        number[length++] = i + 1 < n ? separator : '\n';
        if (!output_file_write(file, number, length, err))
            return false;
    }
    return true;
}

/* Returns whether a row is omitted. Sets *is_gap if "..." is written in its place, because it is
 * the first of several omitted rows. */
static bool is_row_hidden(const struct irrun_shape *shape, int64_t row, int64_t n_edge,
                          bool *is_gap)
{
    bool is_hidden = false, is_first = true; /* is_first: the inner axes are at index 0 */
    for (uint32_t axis = shape->rank - 1; axis-- > 0;) {
        int64_t dim = shape->dims[axis], index = row % dim;
        row /= dim;
        if (dim > 2 * n_edge && index >= n_edge && index < dim - n_edge) {
            is_hidden = true;
            *is_gap = is_first && index == n_edge;
        }
        is_first = is_first && index == 0;
    }
    return is_hidden;
}

bool write_number_rows(struct output_file *file, const struct irrun_tensor *tensor, char separator,
                       bool is_summarised, struct irrun_error *err)
{
    int64_t n_elements = shape_n_elements(&tensor->shape);
    if (n_elements == 0)
        return true;
    int64_t n_edge = is_summarised && n_elements > SUMMARY_THRESHOLD ? SUMMARY_EDGE : 0;
    uint32_t rank = tensor->shape.rank;
    int64_t row_length = rank == 0 ? 1 : tensor->shape.dims[rank - 1];
    for (int64_t row = 0; row < n_elements / row_length; row++) {
        bool is_gap = false;
        if (n_edge != 0 && rank > 1 && is_row_hidden(&tensor->shape, row, n_edge, &is_gap)) {
            if (is_gap && !write_gap(file, '\n', err))
                return false;
            continue;
        }
        if (!write_row(file, tensor, row * row_length, row_length, n_edge, separator, err))
            return false;
    }
    return true;
}

/* ---- Tensors --------------------------------------------------------------------------------- */

/* Writes a name on one line, with '?' for control characters. */
static bool write_name(struct output_file *file, const char *name, struct irrun_error *err)
{
    char out[TEXT_CHARACTER_BYTES];
    while (*name != '\0') {
        name = text_printable(name, out);
        if (!output_file_write(file, out, strlen(out), err))
            return false;
    }
    return true;
}

static bool text_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                       const struct record_label *label, struct irrun_error *err)
{
    struct output_file *file = &writer->file;
    char shape[SHAPE_TEXT_BYTES], head[SHAPE_TEXT_BYTES + 40], tail[40];
    int n_head = snprintf(head, sizeof head, " %s %s seq=", irrun_dtype_name(record->dtype),
                          shape_format(&record->shape, shape));
    int n_tail = snprintf(tail, sizeof tail, " rec=%" PRIu64 "\n", label->index);
    return output_file_write(file, "# ", 2, err) && write_name(file, writer->names[output], err) &&
           output_file_write(file, head, (size_t)n_head, err) &&
           write_name(file, label->sequence, err) &&
           output_file_write(file, tail, (size_t)n_tail, err) &&
           write_number_rows(file, record, ' ', writer->options.is_summarised, err);
}

const struct writer_methods text_writer = {.size_bytes = sizeof(struct writer),
                                           .write = text_write};
