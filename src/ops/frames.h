/* What STFT and ISTFT share: frames of a signal, their window and their transform.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_FRAMES_H
#define IRRUN_OPS_FRAMES_H

#include "kernels/fourier.h"
#include "ops/indexing.h"

struct frames {
    int64_t size, step;
    int64_t n_bins; /* size / 2 + 1: the others mirror these */
    int64_t n;      /* how many frames; filled by the op */
    int64_t n_window;
    struct fourier plan;
    const double *window; /* a constant one, [size], in the middle of zeros; NULL: run makes it */
};

/* Reads the inputs of these numbers: all of the struct but n and the plan. */
bool infer_frames(struct infer *infer, uint32_t window, uint32_t frame_size, uint32_t frame_step,
                  struct frames *frames);

/* Makes the transform, and the window from input `window`; asks for scratch memory with `n_more`
 * numbers for the op. */
bool frames_prepare(struct prepare *prepare, struct frames *frames, uint32_t window,
                    int64_t n_more);

struct frames_memory {
    double *more;
    const double *window; /* [size] */
    double *line;         /* [size] complex numbers */
    double *scratch;
};
/* The scratch memory of a step, with the window from input `window`. */
struct frames_memory frames_start(const struct step *step, const struct frames *frames,
                                  uint32_t window);

#endif
