/* Interpolate-1, -4 and -11: resizes tensors along some axes. Computes the shapes and plans each
 * axis (interpolation.c); interpolate_run.c computes the elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/checked.h"
#include "ops/interpolation.h"

enum { DATA };
enum shape_mode { SHAPE_SIZES, SHAPE_SCALES };

struct interpolate_attrs {
    int mode, shape_calculation_mode, coordinate_transformation_mode, nearest_mode;
    bool antialias, align_corners; /* align_corners: version 1 only */
    double cube_coeff;
    struct i64_list pads_begin, pads_end, axes; /* axes: version 1 only */
};

struct interpolate_family {
    uint32_t sizes, scales, axes; /* input indices; NO_INPUT: none */
};

#define NO_INPUT UINT32_MAX
#define MAX_PAD (1 << 24) /* larger pads are useless and slow */

/* ---- attributes and inputs ---------------------------------------------------------------- */

#define PADS                                                                                       \
    ATTR(struct interpolate_attrs, pads_begin, "0"),                                               \
        ATTR(struct interpolate_attrs, pads_end, "0"),                                             \
        ATTR(struct interpolate_attrs, antialias, "false")

static const struct attr_def v1_attr_table[] = {
    ATTR_CHOICE(struct interpolate_attrs, mode, NULL, INTERPOLATION_MODES),
    ATTR(struct interpolate_attrs, axes, NULL),
    ATTR(struct interpolate_attrs, align_corners, "true"),
    PADS,
};
static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct interpolate_attrs, mode, NULL, INTERPOLATION_MODES),
    ATTR_CHOICE(struct interpolate_attrs, shape_calculation_mode, NULL, "sizes|scales"),
    ATTR_CHOICE(struct interpolate_attrs, coordinate_transformation_mode, "half_pixel",
                COORDINATE_MODES),
    ATTR_CHOICE(struct interpolate_attrs, nearest_mode, "round_prefer_floor", NEAREST_MODES),
    ATTR(struct interpolate_attrs, cube_coeff, "-0.75"),
    PADS,
};

static const struct op_input_def v1_inputs[] = {
    {"data", .types = TYPES_NUMBER},
    {"target_spatial_shape", .types = TYPES_INTEGER},
};
static const struct op_input_def v4_inputs[] = {
    {"data", .types = TYPES_NUMBER},
    {"sizes", .types = TYPES_INTEGER},
    {"scales", .types = TYPES_FLOAT},
    {"axes", .types = TYPES_INTEGER, .is_optional = true},
};
static const struct op_input_def v11_inputs[] = {
    {"image", .types = TYPES_NUMBER},
    {"scales_or_sizes", .types = TYPES_NUMBER},
    {"axes", .types = TYPES_INTEGER, .is_optional = true},
};

/* ---- shapes ------------------------------------------------------------------------------- */

static bool read_axes(struct infer *infer, struct i64_list *axes)
{
    const struct interpolate_family *family = infer->op->def->family;
    static const int64_t all[IRRUN_MAX_RANK] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                8, 9, 10, 11, 12, 13, 14, 15};
    *axes = (struct i64_list){all, infer->in[DATA]->shape.rank};
    if (family->axes == NO_INPUT)
        *axes = ((const struct interpolate_attrs *)infer->attrs)->axes;
    else if (infer->n_inputs > family->axes)
        return infer_ints(infer, family->axes, axes);
    return true;
}

/* Reads item k of a list of sizes or scales, one per axis. */
static bool read_target(struct infer *infer, uint32_t input, uint32_t n_axes, uint32_t k,
                        double *number)
{
    const struct irrun_shape *shape = &infer->in[input]->shape;
    if (shape->rank != 1 || shape->dims[0] < n_axes)
        return infer_fail_input(infer, input, "a list of %u numbers, one per axis", n_axes);
    const struct irrun_tensor *value = infer_value(infer, input);
    if (value)
        *number = element_as_f64(value->dtype, value->data, k);
    return value != NULL;
}

/* Computes the new size and the scale of one axis. Like the reference, adds 1e-6 to a scale before
 * multiplying by it, so that 1/3 of 3 is 1. */
static bool find_size(struct infer *infer, uint32_t n_axes, uint32_t k, struct resized_axis *axis)
{
    const struct interpolate_family *family = infer->op->def->family;
    const struct interpolate_attrs *attrs = infer->attrs;
    bool by_scale = attrs->shape_calculation_mode == SHAPE_SCALES && family->axes != NO_INPUT;
    double number = 0;
    if (!read_target(infer, by_scale ? family->scales : family->sizes, n_axes, k, &number))
        return false;
    axis->is_resized = true;
    if (by_scale) {
        axis->scale = (float)number;
        double size = floor((double)((float)axis->n_padded * (axis->scale + 1e-6f)));
        if (!(axis->scale > 0 && size < 0x1p53))
            return infer_fail(infer, "scale %u is %g, expected a number above 0", k, number);
        axis->n_out = (int64_t)size;
    } else {
        if (!(number >= 0 && number < 0x1p53))
            return infer_fail(infer, "size %u is %g, expected 0 or more", k, number);
        axis->n_out = (int64_t)number;
        axis->scale = (float)axis->n_out / (float)axis->n_padded;
    }
    if (axis->n_padded == 0 && axis->n_out > 0)
        return infer_fail_input(infer, DATA, "at least one element along every axis");
    return true;
}

static bool read_pads(struct infer *infer, struct resized_axis axes[IRRUN_MAX_RANK])
{
    const struct interpolate_attrs *attrs = infer->attrs;
    const struct irrun_shape *in = &infer->in[DATA]->shape;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t begin = i < attrs->pads_begin.n ? attrs->pads_begin.items[i] : 0;
        int64_t end = i < attrs->pads_end.n ? attrs->pads_end.items[i] : 0;
        if (begin < 0 || begin > MAX_PAD || end < 0 || end > MAX_PAD)
            return infer_fail(infer, "pads %lld and %lld of axis %u, expected 0 ... %d",
                              (long long)begin, (long long)end, i, MAX_PAD);
        int64_t n;
        if (!checked_add_i64(in->dims[i], begin + end, &n))
            return infer_fail(infer, "the output would be too large");
        axes[i] = (struct resized_axis){in->dims[i], n, n, begin, 1, false};
    }
    return true;
}

static bool find_axes(struct infer *infer, struct resized_axis axes[IRRUN_MAX_RANK])
{
    const struct irrun_shape *in = &infer->in[DATA]->shape;
    struct i64_list list = {0};
    bool is_listed[IRRUN_MAX_RANK];
    if (!read_pads(infer, axes) || !read_axes(infer, &list) ||
        !infer_axes(infer, &list, in->rank, is_listed))
        return false;
    for (uint32_t k = 0; k < list.n; k++) {
        int64_t axis = list.items[k] + (list.items[k] < 0 ? in->rank : 0);
        if (!find_size(infer, list.n, k, &axes[axis]))
            return false;
    }
    return true;
}

/* Converts the attributes of version 1 to those of version 4, as the reference does. */
static void convert_v1(const struct interpolate_attrs *attrs, const struct irrun_shape *in,
                       struct interpolation *method)
{
    bool is_padded = false;
    for (uint32_t i = 0; i < attrs->pads_begin.n; i++)
        is_padded |= attrs->pads_begin.items[i] != 0;
    for (uint32_t i = 0; i < attrs->pads_end.n; i++)
        is_padded |= attrs->pads_end.items[i] != 0;
    bool is_plane = in->rank == 4 && attrs->axes.n == 2;
    for (uint32_t i = 0; is_plane && i < 2; i++)
        is_plane = attrs->axes.items[i] == 2 || attrs->axes.items[i] == 3;
    if (method->mode == INTERPOLATION_LINEAR && in->rank < 5)
        method->mode = INTERPOLATION_LINEAR_ONNX;
    bool is_linear =
        method->mode == INTERPOLATION_LINEAR || method->mode == INTERPOLATION_LINEAR_ONNX;
    method->nearest_mode = NEAREST_SIMPLE;
    method->cube_coeff = -0.75;
    method->coordinate_mode = attrs->align_corners                   ? COORDINATE_ALIGN_CORNERS
                              : is_linear && !is_padded && !is_plane ? COORDINATE_HALF_PIXEL
                                                                     : COORDINATE_ASYMMETRIC;
}

static struct interpolation find_method(struct infer *infer, const struct resized_axis *axes)
{
    const struct interpolate_attrs *attrs = infer->attrs;
    const struct irrun_shape *in = &infer->in[DATA]->shape;
    struct interpolation method = {
        (enum interpolation_mode)attrs->mode,
        (enum coordinate_mode)attrs->coordinate_transformation_mode,
        (enum nearest_mode)attrs->nearest_mode,
        false,
        attrs->cube_coeff,
    };
    if (((const struct interpolate_family *)infer->op->def->family)->axes == NO_INPUT)
        convert_v1(attrs, in, &method);
    for (uint32_t i = 0; i < in->rank; i++)
        method.is_antialiased |= attrs->antialias && axes[i].is_resized && axes[i].scale < 1;
    return method;
}

/* Returns whether the axis is neither resized nor padded nor antialiased. */
static bool is_unchanged(const struct interpolation *method, const struct resized_axis *axis)
{
    bool is_smoothed =
        method->mode == INTERPOLATION_LINEAR && method->is_antialiased && axis->is_resized;
    return axis->n_in == axis->n_padded && axis->n_in == axis->n_out && !is_smoothed;
}

static bool plan_axis(struct infer *infer, const struct interpolation *method,
                      const struct resized_axis *axis, struct changed_axis *changed)
{
    if (method->mode != INTERPOLATION_NEAREST)
        return make_taps(method, axis, &changed->taps, infer->arena, infer->err);
    int64_t *sources =
        arena_alloc_array(infer->arena, (size_t)axis->n_out, sizeof *sources, infer->err);
    if (!sources)
        return false;
    for (int64_t i = 0; i < axis->n_out; i++)
        sources[i] = nearest_source(method, axis, i);
    changed->sources = sources;
    return true;
}

static bool infer(struct infer *infer)
{
    struct interpolate_state *state = infer->state;
    struct irrun_shape out = infer->in[DATA]->shape;
    struct resized_axis axes[IRRUN_MAX_RANK];
    if (!find_axes(infer, axes))
        return false;
    for (uint32_t i = 0; i < out.rank; i++)
        out.dims[i] = axes[i].n_out;
    if (!infer_output(infer, 0, infer->in[DATA]->dtype, &out))
        return false;
    struct interpolation method = find_method(infer, axes);
    *state =
        (struct interpolate_state){.mode = method.mode, .in = infer->in[DATA]->shape, .out = out};
    if (shape_n_elements(&out) == 0)
        return true;
    struct irrun_shape so_far = state->in;
    for (uint32_t i = out.rank; i-- > 0;) {
        int64_t n_so_far;
        if (is_unchanged(&method, &axes[i]))
            continue;
        struct changed_axis *changed = &state->axes[state->n_axes++];
        changed->axis = i;
        so_far.dims[i] = axes[i].n_out;
        if (!shape_count(&so_far, &n_so_far))
            return infer_fail(infer, "an intermediate result would be too large");
        if (!plan_axis(infer, &method, &axes[i], changed))
            return false;
        if ((size_t)n_so_far > state->n_buffer)
            state->n_buffer = (size_t)n_so_far;
    }
    return true;
}

#define INTERPOLATE_OP(object, opset_, opset_last_, inputs_, attrs_, ...)                          \
    const struct op_def object = {                                                                 \
        .type = "Interpolate",                                                                     \
        .opset = opset_,                                                                           \
        .opset_last = opset_last_,                                                                 \
        OP_INPUTS(inputs_),                                                                        \
        OP_ATTRS(attrs_, struct interpolate_attrs),                                                \
        .state_size = sizeof(struct interpolate_state),                                            \
        .family = &(const struct interpolate_family){__VA_ARGS__},                                 \
        .infer = infer,                                                                            \
        .prepare = interpolate_prepare,                                                            \
    }

INTERPOLATE_OP(op_interpolate_v1, 1, 3, v1_inputs, v1_attr_table, 1, NO_INPUT, NO_INPUT);
INTERPOLATE_OP(op_interpolate_v4, 4, 10, v4_inputs, attr_table, 1, 2, 3);
INTERPOLATE_OP(op_interpolate_v11, 11, 0, v11_inputs, attr_table, 1, 1, 2);
