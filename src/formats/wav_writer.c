/* Writes WAVE files of 32-bit floats: the records of a sequence, one after another.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "formats/byte_order.h"
#include "formats/format_internal.h"

#define HEADER_BYTES 58
#define SAMPLE_BYTES ((uint32_t)sizeof(float))
#define MAX_CHANNELS 1024
#define MAX_RATE_HZ 1e6
#define FORMAT_FLOAT 3

struct wav_out {
    struct writer writer;
    uint32_t n_channels; /* 0: no record yet */
};

static void put(unsigned char **at, uint32_t value, unsigned n_bytes)
{
    put_little(*at, value, n_bytes);
    *at += n_bytes;
}

static void put_tag(unsigned char **at, const char *tag, uint32_t size_bytes)
{
    memcpy(*at, tag, 4);
    *at += 4;
    put(at, size_bytes, 4);
}

static void make_header(const struct wav_out *wav, uint32_t n_data_bytes,
                        unsigned char header[HEADER_BYTES])
{
    uint32_t n_channels = wav->n_channels > 0 ? wav->n_channels : 1;
    uint32_t rate_hz = (uint32_t)wav->writer.options.rate_hz, frame = n_channels * SAMPLE_BYTES;
    unsigned char *at = header;
    put_tag(&at, "RIFF", n_data_bytes + HEADER_BYTES - 8);
    memcpy(at, "WAVE", 4);
    at += 4;
    put_tag(&at, "fmt ", 18);
    put(&at, FORMAT_FLOAT, 2);
    put(&at, n_channels, 2);
    put(&at, rate_hz, 4);
    put(&at, rate_hz * frame, 4);
    put(&at, frame, 2);
    put(&at, 8 * SAMPLE_BYTES, 2);
    put(&at, 0, 2);
    put_tag(&at, "fact", 4);
    put(&at, n_data_bytes / frame, 4);
    put_tag(&at, "data", n_data_bytes);
}

static bool wav_open(struct writer *writer, struct irrun_error *err)
{
    double rate_hz = writer->options.rate_hz;
    unsigned char header[HEADER_BYTES] = {0};
    if (writer->file.is_direct)
        return fail(err, IRRUN_USAGE, "wav cannot be written to a pipe or device (%s)",
                    writer->file.path);
    if (rate_hz == 0) {
        fail(err, IRRUN_USAGE, "%s: a wav file needs the samples per second", writer->file.path);
        return fail_hint(err, "add --rate=HZ");
    }
    if (rate_hz != floor(rate_hz) || rate_hz > MAX_RATE_HZ)
        return fail(err, IRRUN_USAGE, "%s: the rate of a wav file is a whole number up to %.0f",
                    writer->file.path, MAX_RATE_HZ);
    return output_file_write(&writer->file, header, sizeof header, err);
}

/* Sets the channels from the shape of a record: [frames], [1,frames] or [frames,channels]. [1,n] is
 * one frame if records before it had n channels. */
static bool set_channels(struct wav_out *wav, const struct irrun_tensor *record, const char *name,
                         struct irrun_error *err)
{
    const struct irrun_shape *shape = &record->shape;
    bool is_frame = wav->n_channels > 1 && shape->dims[1] == (int64_t)wav->n_channels;
    bool has_channels = shape->rank == 2 && (shape->dims[0] != 1 || is_frame);
    int64_t n = has_channels ? shape->dims[1] : 1;
    char text[SHAPE_TEXT_BYTES];
    shape_format(shape, text);
    if (shape->rank < 1 || shape->rank > 2 || n < 1 || n > MAX_CHANNELS)
        return fail(err, IRRUN_USAGE,
                    "output \"%s\" is %s, but a wav file takes [frames], [1,frames] or "
                    "[frames,channels]",
                    name, text);
    if (wav->n_channels != 0 && wav->n_channels != (uint32_t)n)
        return fail(err, IRRUN_DATA,
                    "output \"%s\" is %s, but the records before it have %u channels", name, text,
                    (unsigned)wav->n_channels);
    wav->n_channels = (uint32_t)n;
    return true;
}

static bool wav_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                      const struct record_label *label, struct irrun_error *err)
{
    struct wav_out *wav = (struct wav_out *)writer;
    uint64_t n = (uint64_t)shape_n_elements(&record->shape);
    (void)label;
    if (!set_channels(wav, record, writer->names[output], err))
        return false;
    if (writer->file.offset + n * SAMPLE_BYTES > UINT32_MAX)
        return fail(err, IRRUN_DATA, "%s: a wav file has at most 4 GB", writer->file.path);
    return write_converted(record, IRRUN_F32, !is_little_endian(), write_to_file, &writer->file,
                           err);
}

static bool wav_finish(struct writer *writer, struct irrun_error *err)
{
    unsigned char header[HEADER_BYTES];
    make_header((struct wav_out *)writer, (uint32_t)(writer->file.offset - HEADER_BYTES), header);
    return output_file_patch(&writer->file, 0, header, sizeof header, err);
}

const struct writer_methods wav_writer = {.size_bytes = sizeof(struct wav_out),
                                          .open = wav_open,
                                          .write = wav_write,
                                          .finish = wav_finish};
