/* Checks that a sound file is not truncated: libsndfile reads one without an error.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_SOUND_LENGTH_H
#define IRRUN_FORMATS_SOUND_LENGTH_H

#include "formats/byte_source.h"

/* Fails with IRRUN_DATA if a file of RIFF, AIFF or Ogg is truncated. Accepts any other file; a
 * truncated FLAC is an error of libsndfile. Moves the position of the source, which must be able to
 * seek. */
bool sound_check_length(struct byte_source *source, struct irrun_error *err);

#endif
