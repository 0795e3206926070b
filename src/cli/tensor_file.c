/* Reads and writes the tensors of npz files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/tensor_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether elements have the same bits; any NaN of f32 equals any other. */
static bool are_equal(enum irrun_dtype dtype, const void *a, const void *b, size_t n)
{
    const float *x = a, *y = b;
    if (dtype != IRRUN_F32)
        return memcmp(a, b, n * dtype_size(dtype)) == 0;
    for (size_t i = 0; i < n; i++)
        if (memcmp(&x[i], &y[i], sizeof *x) != 0 && !(isnan(x[i]) && isnan(y[i])))
            return false;
    return true;
}

/* Converts values from the wider type of the file to `dtype`. Fails if the conversion changes a
 * value. */
static bool narrow_values(struct irrun_tensor *value, enum irrun_dtype dtype, const char *path,
                          const char *what, struct irrun_error *err)
{
    size_t n = (size_t)shape_n_elements(&value->shape);
    size_t wide_bytes = n * dtype_size(value->dtype);
    void *narrowed = malloc(n * dtype_size(dtype) + 1), *back = malloc(wide_bytes + 1);
    bool is_exact = narrowed && back;
    if (!is_exact)
        fail_memory(err, wide_bytes + 1);
    if (is_exact) {
        convert_elements(value->dtype, value->data, dtype, narrowed, n);
        convert_elements(dtype, narrowed, value->dtype, back, n);
        is_exact = are_equal(value->dtype, back, value->data, n) ||
                   fail_at(err, IRRUN_DATA, whole_file(path), "%s has values that %s cannot hold",
                           what, irrun_dtype_name(dtype));
    }
    free(back);
    free(is_exact ? value->data : narrowed);
    if (is_exact)
        *value = (struct irrun_tensor){dtype, value->shape, narrowed};
    return is_exact;
}

static bool check_info(const struct array_header *header, const char *path,
                       const struct member_info *info, struct irrun_error *err)
{
    char wanted[SHAPE_TEXT_BYTES], found[SHAPE_TEXT_BYTES];
    bool type_fits = info->dtype == IRRUN_DYNAMIC || header->dtype == info->dtype ||
                     header->dtype == format_stored_dtype(info->dtype);
    return (type_fits && partial_shape_admits(&info->shape, &header->shape)) ||
           fail_at(err, IRRUN_DATA, whole_file(path), "%s is %s %s, but this array is %s %s",
                   info->what, irrun_dtype_name(info->dtype),
                   partial_shape_format(&info->shape, wanted), irrun_dtype_name(header->dtype),
                   shape_format(&header->shape, found));
}

bool tensor_file_read(struct archive *archive, size_t member, const char *path,
                      const struct member_info *info, struct irrun_tensor *value,
                      struct irrun_error *err)
{
    struct reader *reader;
    struct array_header header;
    bool is_end;
    if (!check_info(archive_member(archive, member), path, info, err) ||
        !archive_open_member(archive, member, &reader, err))
        return false;
    bool is_read = reader_next(reader, &header, &is_end, err) &&
                   reader_read_tensor(reader, &header, value, err);
    reader_close(reader);
    return is_read && (info->dtype == IRRUN_DYNAMIC || value->dtype == info->dtype ||
                       narrow_values(value, info->dtype, path, info->what, err));
}

bool tensor_file_write(const char *path, const char *const *names,
                       const struct irrun_tensor *const *values, size_t n,
                       const struct writer_options *options, struct irrun_error *err)
{
    struct writer_options all = *options;
    const struct record_label label = {.sequence = "-"};
    struct writer *writer;
    all.names = names;
    all.n_outputs = n;
    if (!writer_open(format_find("npz"), path, &all, &writer, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!writer_write(writer, i, values[i], &label, err)) {
            writer_abort(writer);
            return false;
        }
    }
    return writer_finish(writer, err);
}
