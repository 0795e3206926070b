/* Writes Kaldi archives: a matrix or a vector for each sequence, binary or text. Types that a float
 * represents exactly are written as floats, f64 and 32-bit integers as doubles; i64 and u64 are
 * rejected.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/text.h"
#include "formats/byte_order.h"
#include "formats/format_internal.h"

static enum irrun_dtype ark_dtype(enum irrun_dtype dtype)
{
    bool is_double = dtype == IRRUN_F64 || dtype == IRRUN_I32 || dtype == IRRUN_U32;
    return is_double ? IRRUN_F64 : IRRUN_F32;
}

static bool check_array(const struct writer *writer, size_t output,
                        const struct irrun_tensor *array, const char *key, struct irrun_error *err)
{
    const char *name = writer->names[output];
    if (array->dtype == IRRUN_I64 || array->dtype == IRRUN_U64)
        return fail(err, IRRUN_USAGE, "output \"%s\" is %s: ark holds floats and doubles", name,
                    irrun_dtype_name(array->dtype));
    for (uint32_t i = 0; i < array->shape.rank; i++)
        if (array->shape.dims[i] > INT32_MAX)
            return fail(err, IRRUN_DATA, "output \"%s\": dimension %u is too long for ark", name,
                        i);
    if (key[0] == '\0' || strpbrk(key, " \t\r\n\v\f"))
        return fail(err, IRRUN_DATA, "\"%s\" cannot be a key in ark: it is empty or has blanks",
                    key);
    return true;
}

/* Writes the key: KEY, or KEY.NAME if the archive has several outputs. */
static bool write_key(struct writer *writer, size_t output, const char *key,
                      struct irrun_error *err)
{
    struct output_file *file = &writer->file;
    if (!output_file_write(file, key, strlen(key), err))
        return false;
    if (writer->options.n_outputs == 1)
        return output_file_write(file, " ", 1, err);
    if (!output_file_write(file, ".", 1, err))
        return false;
    for (const char *at = writer->names[output]; *at != '\0'; at++) {
        char c = (unsigned char)*at <= ' ' ? '_' : *at;
        if (!output_file_write(file, &c, 1, err))
            return false;
    }
    return output_file_write(file, " ", 1, err);
}

/* ---- Binary ---------------------------------------------------------------------------------- */

static bool write_dim(struct output_file *file, int64_t dim, struct irrun_error *err)
{
    unsigned char bytes[5] = {4};
    put_little(bytes + 1, (uint64_t)dim, 4);
    return output_file_write(file, bytes, sizeof bytes, err);
}

static bool write_binary(struct output_file *file, const struct irrun_tensor *array,
                         struct irrun_error *err)
{
    enum irrun_dtype stored = ark_dtype(array->dtype);
    const char kind[] = {'\0', 'B', stored == IRRUN_F64 ? 'D' : 'F',
                         array->shape.rank == 2 ? 'M' : 'V', ' '};
    if (!output_file_write(file, kind, sizeof kind, err))
        return false;
    for (uint32_t i = 0; i < array->shape.rank; i++)
        if (!write_dim(file, array->shape.dims[i], err))
            return false;
    return write_converted(array, stored, !is_little_endian(), write_to_file, file, err);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static bool write_text(struct output_file *file, const struct irrun_tensor *array,
                       struct irrun_error *err)
{
    bool is_matrix = array->shape.rank == 2;
    int64_t n = shape_n_elements(&array->shape);
    int64_t row_length = n == 0 ? 1 : array->shape.dims[array->shape.rank - 1];
    if (!output_file_write(file, " [", 2, err))
        return false;
    for (int64_t i = 0; i < n; i++) {
        char number[TEXT_NUMBER_BYTES];
        size_t length = format_element(array->dtype, array->data, (size_t)i, number);
        bool is_row_start = is_matrix && i % row_length == 0;
        if (!output_file_write(file, "\n  ", is_row_start ? 3 : 0, err) ||
            !output_file_write(file, " ", is_row_start ? 0 : 1, err) ||
            !output_file_write(file, number, length, err))
            return false;
    }
    return output_file_write(file, " ]\n", 3, err);
}

static bool ark_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                      const struct record_label *label, struct irrun_error *err)
{
    return check_array(writer, output, record, label->sequence, err) &&
           write_key(writer, output, label->sequence, err) &&
           (writer->options.is_text_variant ? write_text(&writer->file, record, err)
                                            : write_binary(&writer->file, record, err));
}

const struct writer_methods ark_writer = {.size_bytes = sizeof(struct writer),
                                          .needs_whole_sequences = true,
                                          .min_rank = 1,
                                          .max_rank = 2,
                                          .write = ark_write};
