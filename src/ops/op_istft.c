/* ISTFT-16: the inverse of STFT, from frames to a signal. Divides the sum of overlapping frames by
 * the sum of their windows.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "ops/frames.h"

#define LIMIT (INT64_C(1) << 40) /* elements of the signal */

struct istft_attrs {
    bool center, normalized;
};

struct istft_state {
    struct frames frames;
    int64_t n_batches;
    int64_t n_overlap_add; /* from the start of the first frame to the end of the last */
    int64_t n_signal;      /* elements per output signal */
    int64_t margin;        /* elements of the overlap-add before the signal */
};

static const struct attr_def attr_table[] = {
    ATTR(struct istft_attrs, center, NULL),
    ATTR(struct istft_attrs, normalized, NULL),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_FLOAT, .same = 1},
    {"window", .types = TYPES_FLOAT, .same = 1},
    {"frame_size", .types = TYPES_INTEGER},
    {"frame_step", .types = TYPES_INTEGER},
    {"signal_length", .types = TYPES_INTEGER, .is_optional = true},
};

static bool find_length(struct infer *infer, struct istft_state *state)
{
    const struct frames *frames = &state->frames;
    if (frames->n > LIMIT / frames->step)
        return infer_fail(infer, "the signal is too large: %lld frames with frame_step %lld",
                          (long long)frames->n, (long long)frames->step);
    state->n_overlap_add = frames->n == 0 ? 0 : (frames->n - 1) * frames->step + frames->size;
    bool is_centered = ((const struct istft_attrs *)infer->attrs)->center;
    state->margin = is_centered ? frames->size / 2 : 0;
    state->n_signal = state->n_overlap_add - (is_centered ? frames->size : 0);
    state->n_signal = state->n_signal < 0 ? 0 : state->n_signal;
    if (infer->n_inputs <= SIGNAL_LENGTH)
        return true;
    if (!infer_int(infer, SIGNAL_LENGTH, &state->n_signal))
        return false;
    return state->n_signal >= 0 ||
           infer_fail(infer, "signal_length must not be negative, but is %lld",
                      (long long)state->n_signal);
}

static bool infer(struct infer *infer)
{
    struct istft_state *state = infer->state;
    struct frames *frames = &state->frames;
    const struct irrun_shape *data = &infer->in[SIGNAL]->shape;
    if ((data->rank != 3 && data->rank != 4) || data->dims[data->rank - 1] != 2)
        return infer_fail_input(infer, SIGNAL, "[bins,frames,2] or [batch,bins,frames,2]");
    if (!infer_frames(infer, frames))
        return false;
    if (data->dims[data->rank - 3] != frames->n_bins) {
        infer_fail_input(infer, SIGNAL, "%lld bins", (long long)frames->n_bins);
        return infer_hint_input(infer, FRAME_SIZE);
    }
    frames->n = data->dims[data->rank - 2];
    state->n_batches = data->rank == 4 ? data->dims[0] : 1;
    if (!find_length(infer, state))
        return false;
    struct irrun_shape out = {.rank = data->rank - 2, .dims = {state->n_batches}};
    out.dims[out.rank - 1] = state->n_signal;
    return infer_output(infer, 0, infer->in[SIGNAL]->dtype, &out);
}

static bool prepare(struct prepare *prepare)
{
    struct istft_state *state = prepare->state;
    return frames_prepare(prepare, &state->frames, 2 * state->n_overlap_add);
}

static void add_frame(const struct step *step, int64_t batch, int64_t frame,
                      const struct frames_memory *memory, double *overlap_add)
{
    const struct istft_state *state = step->state;
    const struct frames *frames = &state->frames;
    enum irrun_dtype dtype = step->in[SIGNAL]->dtype;
    double *re = memory->spectrum.re, *im = memory->spectrum.im;
    for (int64_t k = 0; k < frames->n_bins; k++) {
        int64_t at = (batch * frames->n_bins + k) * frames->n + frame;
        fourier_load(dtype, false, tensor_at(step->in[SIGNAL], 2 * (size_t)at), re + k, im + k, 1);
    }
    fourier_complete(memory->spectrum, (size_t)frames->size);
    fourier_run(&frames->plan, true, memory->spectrum, memory->scratch);
    for (int64_t k = 0; k < frames->size; k++)
        overlap_add[frame * frames->step + k] += re[k];
}

static void store_signal(const struct step *step, int64_t batch, double *overlap_add,
                         const double *windows)
{
    const struct istft_state *state = step->state;
    double factor = ((const struct istft_attrs *)step->op->attrs)->normalized
                        ? sqrt((double)state->frames.size)
                        : 1;
    for (int64_t i = 0; i < state->n_overlap_add; i++)
        overlap_add[i] = windows[i] != 0 ? overlap_add[i] * factor / windows[i] : 0;
    int64_t n = state->n_overlap_add - state->margin;
    n = n < 0 ? 0 : n < state->n_signal ? n : state->n_signal;
    size_t size = dtype_size(step->out[0]->dtype);
    char *out = (char *)step->out[0]->data + (size_t)(batch * state->n_signal) * size;
    convert_elements(IRRUN_F64, overlap_add + state->margin, step->out[0]->dtype, out, (size_t)n);
    memset(out + (size_t)n * size, 0, (size_t)(state->n_signal - n) * size);
}

static void run(const struct step *step)
{
    const struct istft_state *state = step->state;
    const struct frames *frames = &state->frames;
    if (shape_n_elements(&step->out[0]->shape) == 0)
        return;
    struct frames_memory memory = frames_scratch(step, frames);
    double *overlap_add = memory.extra, *windows = overlap_add + state->n_overlap_add;
    memset(windows, 0, (size_t)state->n_overlap_add * sizeof *windows);
    for (int64_t frame = 0; frame < frames->n; frame++)
        for (int64_t k = 0; k < frames->size; k++)
            windows[frame * frames->step + k] += memory.window[k];
    for (int64_t batch = 0; batch < state->n_batches; batch++) {
        memset(overlap_add, 0, (size_t)state->n_overlap_add * sizeof *overlap_add);
        for (int64_t frame = 0; frame < frames->n; frame++)
            add_frame(step, batch, frame, &memory, overlap_add);
        store_signal(step, batch, overlap_add, windows);
    }
}

const struct op_def op_istft = {
    .type = "ISTFT",
    .opset = 16,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct istft_attrs),
    .state_size = sizeof(struct istft_state),
    .infer = infer,
    .prepare = prepare,
    .compute = run,
};
