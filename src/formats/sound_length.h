/* Checks that the samples of a sound file are all there: of one that is cut off libsndfile reads
 * fewer, without an error.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_SOUND_LENGTH_H
#define IRRUN_FORMATS_SOUND_LENGTH_H

#include "formats/byte_source.h"

/* Fails with IRRUN_DATA if a file of RIFF, AIFF or Ogg is cut off. Accepts any other file; of FLAC
 * libsndfile finds out itself. Moves the position of the source, which must be able to seek. */
bool sound_check_length(struct byte_source *source, struct irrun_error *err);

#endif
