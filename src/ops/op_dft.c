/* DFT-7, IDFT-7, RDFT-9 and IRDFT-9: Fourier transforms along axes, of complex numbers (a last
 * dimension of 2) or real numbers. Signals are cropped or padded with zeros to the signal size. The
 * transforms are computed in double.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/fourier.h"
#include "ops/indexing.h"
#include "ops/movement.h"

enum { DATA, AXES, SIGNAL_SIZE };
#define LIMIT ((int64_t)FOURIER_MAX_LENGTH) /* complex numbers in scratch memory */

struct dft_family {
    bool is_inverse;
    bool from_real, to_real;
};

/* `work` is the shape of the signal in scratch memory: complex numbers, whose imaginary parts
 * follow all real parts. */
struct dft_state {
    uint32_t rank, n_axes;
    uint32_t axes[IRRUN_MAX_RANK];    /* as the input `axes` lists them */
    struct irrun_shape in, work, out; /* without the last dimension of complex numbers */
    struct irrun_shape loaded;        /* the part of `in` that is read; it fits into `work` */
    struct fourier *plans;            /* [n_axes] */
    size_t n_numbers, n_batch; /* complex numbers in `work`, and in the largest batch of lines */
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_FLOAT},
    {"axes", .types = TYPES_INTEGER},
    {"signal_size", .types = TYPES_INTEGER, .is_optional = true},
};

/* ---- infer -------------------------------------------------------------------------------- */

static bool read_axes(struct infer *infer, struct dft_state *state)
{
    const struct dft_family *family = infer->op->def->family;
    struct i64_list axes = {0};
    bool is_set[IRRUN_MAX_RANK];
    if (!infer_ints(infer, AXES, &axes) || !infer_axes(infer, &axes, state->rank, is_set))
        return false;
    if (axes.n == 0 && (family->from_real || family->to_real))
        return infer_fail_input(infer, AXES, "at least one axis");
    state->n_axes = axes.n;
    for (uint32_t i = 0; i < axes.n; i++)
        if (!infer_axis(infer, axes.items[i], state->rank, &state->axes[i]))
            return false;
    return true;
}

/* Computes the sizes of axis i. In RDFT and IRDFT, the complex tensor has only half of the signal
 * along the last axis. */
static bool size_axis(struct infer *infer, struct dft_state *state, uint32_t i, int64_t size)
{
    const struct dft_family *family = infer->op->def->family;
    uint32_t axis = state->axes[i];
    bool is_half = i + 1 == state->n_axes;
    int64_t in = state->in.dims[axis];
    if (size == -1)
        size = is_half && family->to_real ? 2 * (in - 1) : in;
    int64_t least = is_half && family->from_real ? 1 : 0;
    if (size < least || size > LIMIT)
        return infer_fail(infer,
                          "the signal has %lld elements along axis %u, expected %lld to %lld",
                          (long long)size, axis, (long long)least, (long long)LIMIT);
    int64_t half = size / 2 + 1, taken = is_half && family->to_real ? half : size;
    state->work.dims[axis] = size;
    state->loaded.dims[axis] = in < taken ? in : taken;
    state->out.dims[axis] = is_half && family->from_real ? half : size;
    return true;
}

static bool size_axes(struct infer *infer, struct dft_state *state)
{
    struct i64_list sizes = {0};
    int64_t n_numbers;
    if (infer->n_inputs > SIGNAL_SIZE) {
        if (!infer_ints(infer, SIGNAL_SIZE, &sizes))
            return false;
        if (sizes.n != state->n_axes)
            return infer_fail_input(infer, SIGNAL_SIZE, "%u sizes, one per axis", state->n_axes);
    }
    state->work = state->loaded = state->out = state->in;
    for (uint32_t i = 0; i < state->n_axes; i++)
        if (!size_axis(infer, state, i, sizes.n ? sizes.items[i] : -1))
            return false;
    if (!shape_count(&state->work, &n_numbers) || n_numbers > LIMIT)
        return infer_fail(infer, "the signal is too large");
    return true;
}

static bool infer(struct infer *infer)
{
    const struct dft_family *family = infer->op->def->family;
    struct dft_state *state = infer->state;
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    if (!family->from_real && (data->rank < 1 || data->dims[data->rank - 1] != 2))
        return infer_fail_input(infer, DATA, "complex numbers: a last dimension of 2");
    state->in = *data;
    state->rank = state->in.rank = data->rank - !family->from_real;
    if (!read_axes(infer, state) || !size_axes(infer, state))
        return false;
    struct irrun_shape out = state->out;
    if (!family->to_real && out.rank == IRRUN_MAX_RANK)
        return infer_fail_input(infer, DATA, "at most %d dimensions", IRRUN_MAX_RANK - 1);
    if (!family->to_real)
        out.dims[out.rank++] = 2;
    return infer_output(infer, 0, infer->in[DATA]->dtype, &out);
}

/* ---- prepare ------------------------------------------------------------------------------ */

static bool prepare(struct prepare *prepare)
{
    struct dft_state *state = prepare->state;
    if (shape_n_elements(&prepare->out[0]->shape) == 0)
        return true;
    size_t n_scratch = 0;
    state->n_numbers = (size_t)shape_n_elements(&state->work);
    state->plans =
        arena_alloc_array(prepare->arena, state->n_axes, sizeof *state->plans, prepare->err);
    if (!state->plans)
        return false;
    for (uint32_t i = 0; i < state->n_axes; i++) {
        size_t n = (size_t)state->work.dims[state->axes[i]];
        void *memory = arena_alloc(prepare->arena, fourier_plan_bytes(n), prepare->err);
        if (!memory)
            return false;
        fourier_plan(&state->plans[i], n, memory);
        size_t n_lines = fourier_batch(n, state->n_numbers / n);
        size_t n_bytes = fourier_scratch_bytes(n, n_lines);
        state->n_batch = n * n_lines > state->n_batch ? n * n_lines : state->n_batch;
        n_scratch = n_bytes > n_scratch ? n_bytes : n_scratch;
    }
    prepare->made.scratch_bytes =
        (state->n_numbers + state->n_batch) * 2 * sizeof(double) + n_scratch;
    return true;
}

/* ---- run ---------------------------------------------------------------------------------- */

/* Iterates over the rows of a box that begins at index 0 of two tensors. */
struct rows {
    const struct irrun_shape *box;
    int64_t a_strides[IRRUN_MAX_RANK], b_strides[IRRUN_MAX_RANK];
    int64_t index[IRRUN_MAX_RANK];
    int64_t n, a, b; /* the current row: its length, and its offset in both tensors */
};

static struct rows rows_of(const struct irrun_shape *box, const struct irrun_shape *a,
                           const struct irrun_shape *b)
{
    struct rows rows = {.box = box, .n = box->rank ? box->dims[box->rank - 1] : 1};
    move_strides(a, rows.a_strides);
    move_strides(b, rows.b_strides);
    return rows;
}

static bool next_row(struct rows *rows)
{
    if (rows->box->rank == 0)
        return false;
    for (uint32_t i = rows->box->rank - 1; i-- > 0;) {
        rows->a += rows->a_strides[i];
        rows->b += rows->b_strides[i];
        if (++rows->index[i] < rows->box->dims[i])
            return true;
        rows->a -= rows->index[i] * rows->a_strides[i];
        rows->b -= rows->index[i] * rows->b_strides[i];
        rows->index[i] = 0;
    }
    return false;
}

static void load(const struct step *step, double *work)
{
    const struct dft_state *state = step->state;
    bool is_real = ((const struct dft_family *)step->op->def->family)->from_real;
    const struct irrun_tensor *in = step->in[DATA];
    size_t size = is_real ? 1 : 2; /* elements of a number */
    double *re = work, *im = work + state->n_numbers;
    memset(work, 0, state->n_numbers * 2 * sizeof *work);
    if (shape_n_elements(&state->loaded) == 0)
        return;
    struct rows rows = rows_of(&state->loaded, &state->in, &state->work);
    do
        fourier_load(in->dtype, is_real, tensor_at(in, (size_t)rows.a * size), re + rows.b,
                     im + rows.b, (size_t)rows.n);
    while (next_row(&rows));
}

static void store(const struct step *step, const double *work)
{
    const struct dft_state *state = step->state;
    bool is_real = ((const struct dft_family *)step->op->def->family)->to_real;
    struct irrun_tensor *out = step->out[0];
    size_t size = is_real ? 1 : 2;
    const double *re = work, *im = work + state->n_numbers;
    struct rows rows = rows_of(&state->out, &state->out, &state->work);
    do
        fourier_store(out->dtype, is_real, re + rows.b, im + rows.b,
                      tensor_at(out, (size_t)rows.a * size), (size_t)rows.n);
    while (next_row(&rows));
}

static void copy_strided(const double *from, size_t from_step, double *to, size_t to_step, size_t n)
{
    for (size_t k = 0; k < n; k++)
        to[k * to_step] = from[k * from_step];
}

/* Copies n_lines lines along an axis, from line `first` on, from `work` to `lines` or back. */
static void copy_lines(const struct axis_view *view, double *work, double *lines, size_t n_lines,
                       size_t first, bool is_back)
{
    size_t n = (size_t)view->n, n_inner = (size_t)view->n_inner;
    for (size_t i = 0; i < n_lines; i++) {
        size_t outer = (first + i) / n_inner, inner = (first + i) % n_inner;
        double *at = work + outer * n * n_inner + inner;
        if (is_back)
            copy_strided(lines + i, n_lines, at, n_inner, n);
        else
            copy_strided(at, n_inner, lines + i, n_lines, n);
    }
}

static void transform_axis(const struct step *step, uint32_t axis, double *work, double *memory)
{
    const struct dft_state *state = step->state;
    const struct dft_family *family = step->op->def->family;
    const struct axis_view view = axis_view_of(&state->work, state->axes[axis]);
    size_t n = (size_t)view.n, n_all = state->n_numbers / n;
    struct fourier_lines lines = {0, memory, memory + state->n_batch};
    double *work_im = work + state->n_numbers, *scratch = memory + 2 * state->n_batch;
    for (size_t first = 0; first < n_all; first += lines.n) {
        lines.n = fourier_batch(n, n_all - first);
        copy_lines(&view, work, lines.re, lines.n, first, false);
        copy_lines(&view, work_im, lines.im, lines.n, first, false);
        if (family->to_real && axis + 1 == state->n_axes)
            fourier_complete(lines, n);
        fourier_run(&state->plans[axis], family->is_inverse, lines, scratch);
        copy_lines(&view, work, lines.re, lines.n, first, true);
        copy_lines(&view, work_im, lines.im, lines.n, first, true);
    }
}

static void run(const struct step *step)
{
    const struct dft_state *state = step->state;
    if (shape_n_elements(&step->out[0]->shape) == 0)
        return;
    double *work = step->scratch;
    load(step, work);
    for (uint32_t i = 0; i < state->n_axes; i++)
        transform_axis(step, i, work, work + 2 * state->n_numbers);
    store(step, work);
}

#define DFT_OP(object, type_, opset_, ...)                                                         \
    const struct op_def object = {                                                                 \
        .type = type_,                                                                             \
        .opset = opset_,                                                                           \
        OP_INPUTS(inputs),                                                                         \
        .state_size = sizeof(struct dft_state),                                                    \
        .family = &(const struct dft_family){__VA_ARGS__},                                         \
        .infer = infer,                                                                            \
        .prepare = prepare,                                                                        \
        .compute = run,                                                                            \
    }

DFT_OP(op_dft, "DFT", 7, .is_inverse = false);
DFT_OP(op_idft, "IDFT", 7, .is_inverse = true);
DFT_OP(op_rdft, "RDFT", 9, .from_real = true);
DFT_OP(op_irdft, "IRDFT", 9, .is_inverse = true, .to_real = true);
