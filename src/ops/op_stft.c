/* STFT-15: Fourier transforms of overlapping frames of a real signal, each multiplied by a window
 * centred in the frame.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/frames.h"

struct stft_attrs {
    bool transpose_frames;
};

struct stft_state {
    struct frames frames;
    int64_t n_batches, n_signal;
};

static const struct attr_def attr_table[] = {ATTR(struct stft_attrs, transpose_frames, NULL)};

static const struct op_input_def inputs[] = {
    {"signal", .types = TYPES_FLOAT, .same = 1},
    {"window", .types = TYPES_FLOAT, .same = 1},
    {"frame_size", .types = TYPES_INTEGER},
    {"frame_step", .types = TYPES_INTEGER},
};

static bool infer(struct infer *infer)
{
    struct stft_state *state = infer->state;
    struct frames *frames = &state->frames;
    const struct irrun_shape *signal = &infer->in[SIGNAL]->shape;
    if (signal->rank != 1 && signal->rank != 2)
        return infer_fail_input(infer, SIGNAL, "a signal, or a batch of signals");
    if (!infer_frames(infer, frames))
        return false;
    state->n_signal = signal->dims[signal->rank - 1];
    state->n_batches = signal->rank == 2 ? signal->dims[0] : 1;
    if (state->n_signal < frames->size) {
        infer_fail_input(infer, SIGNAL, "at least a frame of %lld", (long long)frames->size);
        return infer_hint_input(infer, FRAME_SIZE);
    }
    frames->n = (state->n_signal - frames->size) / frames->step + 1;
    bool is_transposed = ((const struct stft_attrs *)infer->attrs)->transpose_frames;
    struct irrun_shape out = {.rank = signal->rank + 2, .dims = {signal->dims[0]}};
    int64_t *dims = out.dims + signal->rank - 1;
    dims[0] = is_transposed ? frames->n_bins : frames->n;
    dims[1] = is_transposed ? frames->n : frames->n_bins;
    dims[2] = 2;
    return infer_output(infer, 0, infer->in[SIGNAL]->dtype, &out);
}

static bool prepare(struct prepare *prepare)
{
    struct stft_state *state = prepare->state;
    return frames_prepare(prepare, &state->frames, 0);
}

static void run(const struct step *step)
{
    const struct stft_state *state = step->state;
    const struct frames *frames = &state->frames;
    struct frames_memory memory = frames_scratch(step, frames);
    double *re = memory.spectrum.re, *im = memory.spectrum.im;
    enum irrun_dtype dtype = step->in[SIGNAL]->dtype;
    bool is_transposed = ((const struct stft_attrs *)step->op->attrs)->transpose_frames;
    for (int64_t i = 0; i < state->n_batches * frames->n; i++) {
        int64_t batch = i / frames->n, frame = i % frames->n;
        int64_t start = batch * state->n_signal + frame * frames->step;
        fourier_load(dtype, true, tensor_at(step->in[SIGNAL], (size_t)start), re, im,
                     (size_t)frames->size);
        for (int64_t k = 0; k < frames->size; k++)
            re[k] *= memory.window[k];
        fourier_run(&frames->plan, false, memory.spectrum, memory.scratch);
        if (!is_transposed)
            fourier_store(dtype, false, re, im,
                          tensor_at(step->out[0], 2 * (size_t)(i * frames->n_bins)),
                          (size_t)frames->n_bins);
        for (int64_t k = 0; k < frames->n_bins && is_transposed; k++) {
            int64_t at = (batch * frames->n_bins + k) * frames->n + frame;
            fourier_store(dtype, false, re + k, im + k, tensor_at(step->out[0], 2 * (size_t)at), 1);
        }
    }
}

const struct op_def op_stft = {
    .type = "STFT",
    .opset = 15,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct stft_attrs),
    .state_size = sizeof(struct stft_state),
    .infer = infer,
    .prepare = prepare,
    .compute = run,
};
