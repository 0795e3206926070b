/* raw: only the elements, in native byte order; each element of a type below 8 bits is one byte.
 * s16: samples of 16 bits, little-endian, converted to f32 from -1 to 1.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "formats/format_internal.h"

#define SAMPLE_BYTES sizeof(int16_t) /* of s16 */

struct raw {
    struct reader reader;
    bool is_begun;
    bool is_checked; /* the first bytes of a pipe were checked */
};

static const char *format_name(const struct raw *raw)
{
    return raw->reader.methods == &s16_reader ? "s16" : "raw";
}

static bool raw_next(struct reader *reader, struct array_header *header, bool *is_end,
                     struct irrun_error *err)
{
    struct raw *raw = (struct raw *)reader;
    /* Rejects files of other formats, which would be read as noise. check_pipe checks a pipe,
     * without waiting for it. */
    if (!raw->is_begun && reader->source.can_seek &&
        !reader_check_kind(reader, format_name(raw), err))
        return false;
    *is_end = raw->is_begun;
    raw->is_begun = true;
    bool is_s16 = reader->methods == &s16_reader;
    *header = (struct array_header){
        .dtype = is_s16 ? IRRUN_F32 : IRRUN_DYNAMIC, .is_guess = !is_s16, .is_audio = is_s16};
    return true;
}

/* Returns whether the byte is a valid element of a type of at most 8 bits. */
static bool is_valid_code(enum irrun_dtype dtype, unsigned char code)
{
    if (dtype == IRRUN_I4)
        return code <= 7 || code >= 0xf8;
    return code >> dtype_stored_bits(dtype) == 0;
}

static bool check_bytes(struct reader *reader, enum irrun_dtype dtype, unsigned char *data,
                        size_t n, struct irrun_error *err)
{
    if (dtype == IRRUN_BOOLEAN) {
        for (size_t i = 0; i < n; i++)
            data[i] = data[i] != 0;
        return true;
    }
    if (dtype_stored_bits(dtype) >= 8)
        return true;
    for (size_t i = 0; i < n; i++)
        if (!is_valid_code(dtype, data[i]))
            return fail_at_offset(err, IRRUN_DATA, reader->path, reader->source.offset - n + i,
                                  "byte %u is not a value of %s", (unsigned)data[i],
                                  irrun_dtype_name(dtype));
    return true;
}

/* Checks the bytes of the first read of a pipe, without waiting for more. */
static bool check_pipe(struct raw *raw, struct irrun_error *err)
{
    struct byte_source *source = &raw->reader.source;
    if (raw->is_checked || source->can_seek)
        return true;
    raw->is_checked = true;
    return source_more(source, err) && kind_check(source_bytes(source), source_available(source),
                                                  format_name(raw), raw->reader.path, err);
}

static bool raw_read(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                     size_t *n_read, struct irrun_error *err)
{
    size_t size_bytes = dtype_size(dtype), got = 0;
    if (n > SIZE_MAX / size_bytes)
        n = SIZE_MAX / size_bytes;
    if (!check_pipe((struct raw *)reader, err) ||
        !source_read(&reader->source, data, n * size_bytes, &got, err))
        return false;
    if (got % size_bytes != 0) {
        fail_source(&reader->source, err,
                    "the input ends inside an element of type %s: %zu of its %zu bytes",
                    irrun_dtype_name(dtype), got % size_bytes, size_bytes);
        bool may_be_audio = dtype_is_float(dtype) && got % SAMPLE_BYTES == 0;
        const char *path = strcmp(reader->path, STANDARD_INPUT) == 0 ? "-" : reader->path;
        return may_be_audio && fail_hint(err, "if it is 16-bit audio: -i s16:%s", path);
    }
    *n_read = got / size_bytes;
    return data == NULL || check_bytes(reader, dtype, data, *n_read, err);
}

/* Converts samples to floats. The samples are in the upper half of `data`; each is read before a
 * float overwrites it. */
static void scale_samples(unsigned char *data, const unsigned char *samples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int sample = samples[SAMPLE_BYTES * i] | samples[SAMPLE_BYTES * i + 1] << 8;
        float value = (float)(sample < 32768 ? sample : sample - 65536) / 32768.0F;
        memcpy(data + i * sizeof value, &value, sizeof value);
    }
}

static bool s16_read(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                     size_t *n_read, struct irrun_error *err)
{
    size_t got = 0;
    assert(dtype == IRRUN_F32);
    (void)dtype;
    if (n > SIZE_MAX / sizeof(float))
        n = SIZE_MAX / sizeof(float);
    unsigned char *samples = data ? (unsigned char *)data + n * SAMPLE_BYTES : NULL;
    if (!check_pipe((struct raw *)reader, err) ||
        !source_read(&reader->source, samples, n * SAMPLE_BYTES, &got, err))
        return false;
    if (got % SAMPLE_BYTES != 0) {
        fail_source(&reader->source, err,
                    "the input ends inside a sample: its number of bytes is odd");
        return fail_hint(err, "s16 is raw 16-bit audio, little-endian, without a header");
    }
    *n_read = got / SAMPLE_BYTES;
    if (data)
        scale_samples(data, samples, *n_read);
    return true;
}

static void raw_reset(struct reader *reader)
{
    ((struct raw *)reader)->is_begun = ((struct raw *)reader)->is_checked = false;
}

const struct reader_methods raw_reader = {
    .size_bytes = sizeof(struct raw), .next = raw_next, .read = raw_read, .reset = raw_reset};

const struct reader_methods s16_reader = {
    .size_bytes = sizeof(struct raw), .next = raw_next, .read = s16_read, .reset = raw_reset};

static bool raw_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                      const struct record_label *label, struct irrun_error *err)
{
    (void)output;
    (void)label;
    return output_file_write(&writer->file, record->data, tensor_n_bytes(record), err);
}

const struct writer_methods raw_writer = {.size_bytes = sizeof(struct writer), .write = raw_write};
