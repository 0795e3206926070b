/* Interpolate: the input elements that each output of a resized axis reads, and the op's state.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INTERPOLATION_H
#define IRRUN_OPS_INTERPOLATION_H

#include "kernels/resample.h"
#include "ops/op.h"

enum interpolation_mode {
    INTERPOLATION_NEAREST,
    INTERPOLATION_LINEAR,
    INTERPOLATION_LINEAR_ONNX,
    INTERPOLATION_CUBIC,
    INTERPOLATION_BILINEAR_PILLOW,
    INTERPOLATION_BICUBIC_PILLOW,
};
#define INTERPOLATION_MODES "nearest|linear|linear_onnx|cubic|bilinear_pillow|bicubic_pillow"

enum coordinate_mode {
    COORDINATE_HALF_PIXEL,
    COORDINATE_PYTORCH_HALF_PIXEL,
    COORDINATE_ASYMMETRIC,
    COORDINATE_TF_HALF_PIXEL_FOR_NN,
    COORDINATE_ALIGN_CORNERS,
};
#define COORDINATE_MODES                                                                           \
    "half_pixel|pytorch_half_pixel|asymmetric|tf_half_pixel_for_nn|align_corners"

enum nearest_mode {
    NEAREST_ROUND_PREFER_FLOOR,
    NEAREST_ROUND_PREFER_CEIL,
    NEAREST_FLOOR,
    NEAREST_CEIL,
    NEAREST_SIMPLE,
};
#define NEAREST_MODES "round_prefer_floor|round_prefer_ceil|floor|ceil|simple"

/* Resizing of one axis. The input has n_in elements, padded with zeros to n_padded. */
struct resized_axis {
    int64_t n_in, n_padded, n_out;
    int64_t pad_begin;
    float scale;     /* the attribute, or n_out / n_padded */
    bool is_resized; /* false: the axis is only padded */
};

struct interpolation {
    enum interpolation_mode mode;
    enum coordinate_mode coordinate_mode;
    enum nearest_mode nearest_mode;
    bool is_antialiased; /* antialias is set and an axis is downsampled */
    double cube_coeff;
};

/* Returns the input element that output i copies in mode nearest, or -1 in the padding. */
int64_t nearest_source(const struct interpolation *method, const struct resized_axis *axis,
                       int64_t i);

/* Computes the taps for all other modes, in memory from the arena. */
bool make_taps(const struct interpolation *method, const struct resized_axis *axis,
               struct taps *taps, struct arena *arena, struct irrun_error *err);

/* An axis that is resized or padded. */
struct changed_axis {
    uint32_t axis;
    struct taps taps; /* all modes but nearest */
    int64_t *sources; /* nearest: [n_out], -1 = padding */
};

struct interpolate_state {
    enum interpolation_mode mode;
    uint32_t n_axes;
    struct changed_axis axes[IRRUN_MAX_RANK]; /* in the order of computation: last axis first */
    struct irrun_shape in, out;
    size_t n_buffer;       /* elements of the largest intermediate result */
    bool has_byte_offsets; /* nearest: sources of axes[0] are byte offsets; none is padding */
};

bool interpolate_prepare(struct prepare *prepare);

#endif
