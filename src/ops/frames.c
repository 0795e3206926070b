/* Reads the inputs of STFT and ISTFT that describe frames, and lays out scratch memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/frames.h"

#include <string.h>

#define LIMIT ((int64_t)FOURIER_MAX_LENGTH)

bool infer_frames(struct infer *infer, struct frames *frames)
{
    const struct irrun_shape *shape = &infer->in[WINDOW]->shape;
    if (!infer_int(infer, FRAME_SIZE, &frames->size) ||
        !infer_int(infer, FRAME_STEP, &frames->step))
        return false;
    if (frames->size < 1 || frames->size > LIMIT)
        return infer_fail(infer, "frame_size is %lld, expected 1 ... %lld", (long long)frames->size,
                          (long long)LIMIT);
    if (frames->step < 1 || frames->step > LIMIT)
        return infer_fail(infer, "frame_step is %lld, expected 1 ... %lld", (long long)frames->step,
                          (long long)LIMIT);
    if (shape->rank != 1 || shape->dims[0] > frames->size) {
        infer_fail_input(infer, WINDOW, "one dimension of at most %lld", (long long)frames->size);
        return infer_hint_input(infer, FRAME_SIZE);
    }
    frames->n_window = shape->dims[0];
    frames->n_bins = frames->size / 2 + 1;
    return true;
}

static void read_window(const struct frames *frames, const struct irrun_tensor *given,
                        double *window)
{
    size_t n = (size_t)frames->size, n_window = (size_t)frames->n_window;
    memset(window, 0, n * sizeof *window);
    convert_elements(given->dtype, given->data, IRRUN_F64, window + (n - n_window) / 2, n_window);
}

bool frames_prepare(struct prepare *prepare, struct frames *frames, int64_t n_extra)
{
    size_t n = (size_t)frames->size;
    double *memory = arena_alloc(prepare->arena, fourier_plan_bytes(n), prepare->err);
    if (!memory)
        return false;
    fourier_plan(&frames->plan, n, memory);
    prepare->made.scratch_bytes =
        ((size_t)n_extra + 3 * n) * sizeof(double) + fourier_scratch_bytes(n, 1);
    if (!prepare_is_constant(prepare, WINDOW))
        return true;
    double *constant = arena_alloc_array(prepare->arena, n, sizeof *constant, prepare->err);
    if (constant)
        read_window(frames, prepare->in[WINDOW], constant);
    frames->window = constant;
    return constant != NULL;
}

struct frames_memory frames_scratch(const struct step *step, const struct frames *frames)
{
    size_t n = (size_t)frames->size;
    double *memory = step->scratch;
    struct frames_memory found = {.window = frames->window ? frames->window : memory,
                                  .spectrum = {1, memory + n, memory + 2 * n},
                                  .scratch = memory + 3 * n};
    found.extra = found.scratch + fourier_scratch_bytes(n, 1) / sizeof(double);
    if (!frames->window)
        read_window(frames, step->in[WINDOW], memory);
    return found;
}
