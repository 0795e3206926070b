/* Divides a signal into frames for STFT and ISTFT, and prepares the window and the transform.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_FRAMES_H
#define IRRUN_OPS_FRAMES_H

#include "kernels/fourier.h"
#include "ops/indexing.h"

/* The inputs of both ops. */
enum { SIGNAL, WINDOW, FRAME_SIZE, FRAME_STEP, SIGNAL_LENGTH };

struct frames {
    int64_t size, step; /* frame_size and frame_step */
    int64_t n_bins;     /* size / 2 + 1; the other bins are complex conjugates of these */
    int64_t n;          /* number of frames; set by the op */
    int64_t n_window;   /* elements of the window input, which is centred in the frame */
    struct fourier plan;
    const double *window; /* if constant: padded with zeros to [size]; NULL: run pads it */
};

/* Reads the inputs and sets all members except n, plan and window. */
bool infer_frames(struct infer *infer, struct frames *frames);

/* Plans the transform and the window; requests scratch memory, with n_extra doubles for the op.
 * Called by prepare. */
bool frames_prepare(struct prepare *prepare, struct frames *frames, int64_t n_extra);

struct frames_memory {
    double *extra;                 /* [n_extra] */
    const double *window;          /* [size] */
    struct fourier_lines spectrum; /* one line */
    double *scratch;
};
/* Divides the scratch memory of a step. Pads the window into it if the window is not constant. */
struct frames_memory frames_scratch(const struct step *step, const struct frames *frames);

#endif
