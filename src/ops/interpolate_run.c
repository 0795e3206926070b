/* Runs Interpolate: resamples along one axis after the other, or copies elements in mode nearest.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "kernels/indexed_copy.h"
#include "ops/interpolation.h"

#define ELEMENT_WORK 50 /* work per element, in the unit of thread_pool_n_parts */

/* ---- resampling --------------------------------------------------------------------------- */

/* Units begin … begin + n - 1. The elements of a unit have the same indices in the dimensions
 * before the first changed axis. */
struct part {
    const struct interpolate_state *state;
    size_t begin, n;
};

/* Returns the first changed axis. The list of axes begins with the last one. */
static uint32_t first_axis(const struct interpolate_state *state)
{
    return state->axes[state->n_axes - 1].axis;
}

static size_t n_units(const struct interpolate_state *state)
{
    return state->n_axes == 0 ? 1 : (size_t)shape_product(&state->in, 0, first_axis(state));
}

/* Returns the number of elements per unit. */
static size_t unit_elements(const struct interpolate_state *state, const struct irrun_shape *shape)
{
    return (size_t)shape_product(shape, first_axis(state), shape->rank);
}

/* Return the products of the dimensions before and after a changed axis at the time when it is
 * resampled: the dimensions before it still have input sizes, those after it have output sizes. */
static size_t n_outer(const struct part *part, uint32_t axis)
{
    return part->n * (size_t)shape_product(&part->state->in, first_axis(part->state), axis);
}

static size_t n_inner(const struct interpolate_state *state, uint32_t axis)
{
    return (size_t)shape_product(&state->out, axis + 1, state->out.rank);
}

/* Returns the index in each buffer at which the elements of a part begin. */
static size_t buffer_offset(const struct part *part)
{
    return part->state->n_buffer / n_units(part->state) * part->begin;
}

static void resample_floats(const struct part *part, const float *from, float *scratch, float *out)
{
    const struct interpolate_state *state = part->state;
    float *buffers[2] = {scratch + buffer_offset(part),
                         scratch + buffer_offset(part) + state->n_buffer};
    for (uint32_t k = 0; k < state->n_axes; k++) {
        const struct changed_axis *changed = &state->axes[k];
        float *to = k + 1 == state->n_axes ? out : buffers[k % 2];
        resample_f32(&changed->taps, n_outer(part, changed->axis), n_inner(state, changed->axis),
                     from, to);
        from = to;
    }
}

/* Rounds integers as OpenVINO's reference implementation does: to nearest in linear and the
 * Pillow modes, otherwise toward zero. Clamps them to the range of their type. */
static void round_to_type(double *numbers, size_t n, enum irrun_dtype dtype,
                          enum interpolation_mode mode)
{
    bool is_signed = dtype_is_signed(dtype);
    bool is_to_nearest = mode != INTERPOLATION_LINEAR_ONNX && mode != INTERPOLATION_CUBIC;
    int n_bits = (int)dtype_size(dtype) * 8;
    double highest = ldexp(1, n_bits - is_signed), lowest = is_signed ? -highest : 0;
    highest = n_bits == 64 ? nextafter(highest, 0) : highest - 1;
    for (size_t i = 0; i < n; i++) {
        double x = is_to_nearest ? round(numbers[i]) : trunc(numbers[i]);
        numbers[i] = x < lowest ? lowest : x < highest ? x : highest;
    }
}

static void resample_as_f64(const struct part *part, const struct irrun_tensor *in, double *scratch,
                            const struct irrun_tensor *out)
{
    const struct interpolate_state *state = part->state;
    double *buffers[2] = {scratch + buffer_offset(part),
                          scratch + buffer_offset(part) + state->n_buffer};
    size_t in_unit = unit_elements(state, &state->in), out_unit = unit_elements(state, &state->out);
    bool is_integer = dtype_is_integer(in->dtype);
    bool is_pillow = state->mode >= INTERPOLATION_BILINEAR_PILLOW;
    convert_elements(in->dtype, tensor_at(in, part->begin * in_unit), IRRUN_F64, buffers[0],
                     part->n * in_unit);
    for (uint32_t k = 0; k < state->n_axes; k++) {
        const struct changed_axis *changed = &state->axes[k];
        size_t outer = n_outer(part, changed->axis), inner = n_inner(state, changed->axis);
        double *to = buffers[(k + 1) % 2];
        resample_f64(&changed->taps, outer, inner, buffers[k % 2], to);
        if (is_integer && (is_pillow || k + 1 == state->n_axes))
            round_to_type(to, outer * changed->taps.n_out * inner, in->dtype, state->mode);
    }
    convert_elements(IRRUN_F64, buffers[state->n_axes % 2], out->dtype,
                     tensor_at(out, part->begin * out_unit), part->n * out_unit);
}

/* ---- nearest ------------------------------------------------------------------------------ */

#define BLOCK 64 /* pieces whose offsets are computed at a time */

/* Copies pieces sources[0 … n-1] of `from` to contiguous memory; -1 means zeros. */
static void copy_pieces(const int64_t *sources, size_t n, const char *from, size_t piece_bytes,
                        char *to)
{
    int64_t offsets[BLOCK];
    for (size_t i = 0; i < n;) {
        size_t n_now = 0;
        while (n_now < BLOCK && i + n_now < n && sources[i + n_now] >= 0) {
            offsets[n_now] = sources[i + n_now] * (int64_t)piece_bytes;
            n_now++;
        }
        indexed_gather(from, offsets, n_now, piece_bytes, to + i * piece_bytes);
        i += n_now;
        for (; i < n && sources[i] < 0; i++)
            memset(to + i * piece_bytes, 0, piece_bytes);
    }
}

/* Writes n slices. A slice is changed axis k - 1 and the dimensions after it. Changed axis 0 is the
 * innermost. */
static void copy_nearest(const struct interpolate_state *state, uint32_t k, size_t n,
                         size_t element_bytes, const char *from, char *to)
{
    const struct changed_axis *changed = &state->axes[k - 1];
    uint32_t axis = changed->axis, rank = state->in.rank;
    size_t n_in = (size_t)state->in.dims[axis], n_out = (size_t)state->out.dims[axis];
    size_t in_bytes = (size_t)shape_product(&state->in, axis + 1, rank) * element_bytes;
    size_t out_bytes = (size_t)shape_product(&state->out, axis + 1, rank) * element_bytes;
    size_t n_between = k > 1 ? (size_t)shape_product(&state->in, axis + 1, changed[-1].axis) : 0;
    for (size_t slice = 0; slice < n; slice++, from += n_in * in_bytes) {
        if (k == 1) {
            if (state->has_byte_offsets)
                indexed_gather(from, changed->sources, n_out, in_bytes, to);
            else
                copy_pieces(changed->sources, n_out, from, in_bytes, to);
            to += n_out * out_bytes;
            continue;
        }
        for (size_t i = 0; i < n_out; i++) {
            int64_t source = changed->sources[i];
            if (source < 0)
                memset(to, 0, out_bytes);
            else if (i > 0 && source == changed->sources[i - 1])
                memcpy(to, to - out_bytes, out_bytes);
            else
                copy_nearest(state, k - 1, n_between, element_bytes,
                             from + (size_t)source * in_bytes, to);
            to += out_bytes;
        }
    }
}

/* ---- all modes ---------------------------------------------------------------------------- */

static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct interpolate_state *state = step->state;
    const struct part part = {state, begin, end - begin};
    const struct irrun_tensor *in = step->in[0], *out = step->out[0];
    if (shape_n_elements(&state->out) == 0)
        return;
    if (state->n_axes == 0) {
        tensor_copy(out, in);
        return;
    }
    const void *from = tensor_at(in, begin * unit_elements(state, &state->in));
    void *to = tensor_at(out, begin * unit_elements(state, &state->out));
    if (state->mode == INTERPOLATION_NEAREST)
        copy_nearest(state, state->n_axes, part.n, dtype_size(in->dtype), from, to);
    else if (in->dtype == IRRUN_F32)
        resample_floats(&part, from, step->scratch, to);
    else
        resample_as_f64(&part, in, step->scratch, out);
}

/* Converts the sources of the innermost changed axis to byte offsets, if none is padding. */
static void convert_to_bytes(struct interpolate_state *state, size_t element_bytes)
{
    const struct changed_axis *changed = &state->axes[0];
    size_t n = (size_t)state->out.dims[changed->axis];
    size_t piece_bytes = n_inner(state, changed->axis) * element_bytes;
    if (state->has_byte_offsets)
        return; /* prepare has run before */
    for (size_t i = 0; i < n; i++)
        if (changed->sources[i] < 0)
            return;
    for (size_t i = 0; i < n; i++)
        changed->sources[i] *= (int64_t)piece_bytes;
    state->has_byte_offsets = true;
}

/* Requests two buffers: of floats for f32, otherwise of doubles. Inputs of other types are
 * converted to the first buffer. */
bool interpolate_prepare(struct prepare *prepare)
{
    struct interpolate_state *state = prepare->state;
    size_t n_in = (size_t)shape_n_elements(&state->in);
    bool is_f32 = prepare->in[0]->dtype == IRRUN_F32;
    double n_out = (double)shape_n_elements(&state->out);
    if (!prepare_sharing(prepare, run_units, n_units(state), ELEMENT_WORK * n_out))
        return false;
    if (state->n_axes == 0 || n_out == 0)
        return true;
    if (state->mode == INTERPOLATION_NEAREST) {
        convert_to_bytes(state, dtype_size(prepare->in[0]->dtype));
        return true;
    }
    if (!is_f32 && n_in > state->n_buffer)
        state->n_buffer = n_in;
    return prepare_scratch(prepare, state->n_buffer, 2 * (is_f32 ? sizeof(float) : sizeof(double)));
}
