/* Loads libsndfile when a sound file is first read, and finds its functions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_SOUND_LIBRARY_H
#define IRRUN_FORMATS_SOUND_LIBRARY_H

#include "base/error.h"

/* SF_INFO of libsndfile's ABI. */
struct sound_info {
    int64_t n_frames;
    int rate_hz, n_channels, format, n_sections, is_seekable;
};

struct sound_file; /* SNDFILE */

struct sound_library {
    struct sound_file *(*open_fd)(int fd, int mode, struct sound_info *info, int closes_fd);
    int64_t (*read_frames)(struct sound_file *file, float *frames, int64_t n);
    int (*error)(struct sound_file *file); /* 0: none */
    const char *(*message)(struct sound_file *file);
    int (*close)(struct sound_file *file);
};

#define SOUND_MODE_READ 0x10

/* Loads the library, once. If it cannot be loaded, fails with IRRUN_SYSTEM and returns NULL. path:
 * the file to read, for the hint. */
const struct sound_library *sound_library_load(const char *path, struct irrun_error *err);

#endif
