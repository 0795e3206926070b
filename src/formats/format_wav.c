/* wav: any sound file that libsndfile reads, as f32 from -1 to 1. Averages the channels, unless the
 * caller asks for all of them, interleaved.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/format_internal.h"
#include "formats/sound_library.h"

#define BLOCK_FLOATS 4096 /* also the maximum number of channels, since a frame must fit */

struct wav {
    struct reader reader;
    const struct sound_library *library;
    struct sound_file *file; /* NULL: not open */
    struct sound_info info;
    bool keeps_channels;
};

/* Opens the file with libsndfile. Passes a duplicate of the descriptor, because libsndfile 1.2
 * closes it on failure, even if told not to. */
static bool open_sound(struct wav *wav, struct irrun_error *err)
{
    struct reader *reader = &wav->reader;
    struct byte_source *source = &reader->source;
    if (source->is_file && !source->can_seek)
        return fail_at(err, IRRUN_DATA, whole_file(reader->path),
                       "is empty; a wav file was expected");
    if (!source->can_seek) {
        fail_at(err, IRRUN_USAGE, whole_file(reader->path),
                "wav is read from files, not from a pipe");
        return format_hint_sound(err, "-", "MODEL.xml");
    }
    wav->library = sound_library_load(reader->path, err);
    if (!wav->library || !sound_check_length(source, err))
        return false;
    wav->info = (struct sound_info){.n_frames = 0};
    int fd = fcntl(source->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return fail_errno(err, IRRUN_SYSTEM, reader->path, "cannot be opened twice", errno);
    lseek(fd, (off_t)source->first_offset, SEEK_SET);
    wav->file = wav->library->open_fd(fd, SOUND_MODE_READ, &wav->info, 1);
    if (!wav->file) {
        const char *why = wav->library->message(NULL);
        size_t length = strlen(why);
        fail_at(err, IRRUN_DATA, whole_file(reader->path),
                "is not a sound file that libsndfile reads: %.*s",
                (int)(length - (length > 0 && why[length - 1] == '.')), why);
        return fail_hint(err, "-i s16:FILE reads raw samples of 16 bits");
    }
    return (wav->info.n_channels > 0 && wav->info.n_channels <= BLOCK_FLOATS) ||
           fail_at(err, IRRUN_DATA, whole_file(reader->path), "has %d channels",
                   wav->info.n_channels);
}

static bool wav_next(struct reader *reader, struct array_header *header, bool *is_end,
                     struct irrun_error *err)
{
    struct wav *wav = (struct wav *)reader;
    *is_end = wav->file != NULL;
    if (*is_end)
        return true;
    if (!open_sound(wav, err))
        return false;
    *header = (struct array_header){.dtype = IRRUN_F32,
                                    .is_audio = true,
                                    .n_channels = (uint32_t)wav->info.n_channels,
                                    .rate_hz = wav->info.rate_hz};
    return true;
}

void reader_keep_channels(struct reader *reader)
{
    assert(reader->methods == &wav_reader);
    ((struct wav *)reader)->keeps_channels = true;
}

static bool check_errors(const struct wav *wav, struct irrun_error *err)
{
    return wav->library->error(wav->file) == 0 ||
           fail_at(err, IRRUN_DATA, whole_file(wav->reader.path), "cannot be decoded: %s",
                   wav->library->message(wav->file));
}

/* Writes the means of n frames to `data`, if it is not NULL. */
static void average(const float *frames, size_t n, size_t n_channels, float *data)
{
    for (size_t i = 0; i < n && data; i++) {
        double sum = 0;
        for (size_t k = 0; k < n_channels; k++)
            sum += (double)frames[i * n_channels + k];
        data[i] = (float)(sum / (double)n_channels);
    }
}

/* Reads samples, or skips them if data is NULL. Skipped frames are decoded too, because not every
 * format can seek exactly. */
static bool wav_read(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                     size_t *n_read, struct irrun_error *err)
{
    struct wav *wav = (struct wav *)reader;
    size_t n_channels = (size_t)wav->info.n_channels;
    size_t n_values = wav->keeps_channels ? n_channels : 1; /* per frame */
    float block[BLOCK_FLOATS], *target = data;
    assert(dtype == IRRUN_F32 && n % n_values == 0);
    (void)dtype;
    for (*n_read = 0; *n_read < n;) {
        size_t n_frames = (n - *n_read) / n_values, n_fit = BLOCK_FLOATS / n_channels;
        n_frames = n_frames < n_fit ? n_frames : n_fit;
        bool is_direct = target && n_values == n_channels;
        float *at = target ? target + *n_read : NULL;
        int64_t n_got =
            wav->library->read_frames(wav->file, is_direct ? at : block, (int64_t)n_frames);
        if (n_got <= 0)
            break;
        if (!is_direct)
            average(block, (size_t)n_got, n_channels, at);
        *n_read += (size_t)n_got * n_values;
    }
    return check_errors(wav, err);
}

static void wav_reset(struct reader *reader)
{
    struct wav *wav = (struct wav *)reader;
    if (wav->file)
        wav->library->close(wav->file);
    wav->file = NULL;
}

const struct reader_methods wav_reader = {
    .size_bytes = sizeof(struct wav), .next = wav_next, .read = wav_read, .reset = wav_reset};
