/* Shapes, preparation and execution of convolutions and transposed convolutions, grouped or not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/grouped_convolution.h"

#include <string.h>

#include "base/checked.h"
#include "ops/cost.h"

enum { DATA, FILTERS };

bool convolution_infer_channels(struct infer *infer, bool is_transposed)
{
    struct grouped_convolution *grouped = infer->state;
    struct convolution *one = &grouped->one;
    uint32_t n_group_dims = *(const uint32_t *)infer->op->def->family;
    const struct irrun_shape *data = &infer->in[DATA]->shape, *filters = &infer->in[FILTERS]->shape;
    if (data->rank < 3 || data->rank > 5)
        return infer_fail_input(infer, DATA,
                                "3 to 5 dimensions: batch, channels, 1 to 3 spatial ones");
    if (filters->rank != data->rank + n_group_dims)
        return infer_fail_input(infer, FILTERS, "%u dimensions", data->rank + n_group_dims);
    grouped->is_transposed = is_transposed;
    grouped->n_batches = data->dims[0];
    grouped->n_groups = n_group_dims ? filters->dims[0] : 1;
    one->c_out = filters->dims[n_group_dims + (is_transposed ? 1 : 0)];
    one->c_in = filters->dims[n_group_dims + (is_transposed ? 0 : 1)];
    int64_t c_in, c_out, n_channels = data->dims[one->in_pixel_stride ? data->rank - 1 : 1];
    if (!checked_mul_i64(one->c_in, grouped->n_groups, &c_in) || c_in != n_channels)
        return infer_fail_input(infer, FILTERS, "filters for %lld input channels",
                                (long long)n_channels);
    if (!checked_mul_i64(one->c_out, grouped->n_groups, &c_out))
        return infer_fail(infer, "the output has too many channels");
    one->in_pixel_stride *= c_in;
    one->out_pixel_stride *= c_out;
    return true;
}

bool convolution_infer_output(struct infer *infer, bool channels_last)
{
    struct grouped_convolution *grouped = infer->state;
    struct window *window = &grouped->one.window;
    const int64_t *sizes = grouped->is_transposed ? window->in : window->out;
    uint32_t rank = infer->in[DATA]->shape.rank - 2;
    struct irrun_shape out = {.rank = rank + 2, .dims = {grouped->n_batches}};
    out.dims[channels_last ? rank + 1 : 1] = grouped->one.c_out * grouped->n_groups;
    for (uint32_t i = 0; i < rank; i++)
        out.dims[(channels_last ? 1 : 2) + i] = sizes[3 - rank + i];
    window_align(window);
    return infer_output(infer, 0, infer->in[DATA]->dtype, &out);
}

bool convolution_wants_indirect(const struct prepare *prepare, struct indirect_convolution *conv)
{
    const struct grouped_convolution *grouped = prepare->state;
    return prepacked_convolution_is_wanted(prepare, &grouped->one, grouped->n_groups,
                                           grouped->is_transposed, conv);
}

/* A convolution of one input channel is computed by the depthwise kernels if it has at most this
 * many filters. With more, a GEMM is faster. */
#define MAX_FILTERS 2

bool convolution_wants_depthwise(const struct prepare *prepare)
{
    const struct grouped_convolution *grouped = prepare->state;
    bool have_same_layout =
        (grouped->one.in_pixel_stride > 0) == (grouped->one.out_pixel_stride > 0);
    return prepare->in[DATA]->dtype == IRRUN_F32 && kernels_may_pack(prepare->kernels) &&
           !grouped->is_transposed && grouped->one.c_in == 1 && have_same_layout &&
           (grouped->n_groups > 1 || grouped->one.c_out <= MAX_FILTERS);
}

static struct depthwise describe_depthwise(const struct prepare *prepare)
{
    const struct grouped_convolution *grouped = prepare->state;
    const struct convolution *one = &grouped->one;
    return (struct depthwise){.window = one->window,
                              .kernels = prepare->kernels->depthwise_f32,
                              .term = DEPTHWISE_PRODUCTS,
                              .n_batches = grouped->n_batches,
                              .n_channels = grouped->n_groups,
                              .multiplier = one->c_out,
                              .channels_last = one->in_pixel_stride > 0};
}

bool convolution_wants_packed_depthwise(const struct prepare *prepare)
{
    struct depthwise depthwise = describe_depthwise(prepare);
    return convolution_wants_depthwise(prepare) && depthwise.channels_last &&
           depthwise_measure(&depthwise);
}

/* Packs the filters of a depthwise convolution with the channels last. */
static bool pack_depthwise(struct prepare *prepare, struct grouped_convolution *grouped)
{
    const struct depthwise *depthwise = &grouped->depthwise;
    const struct irrun_tensor *filters = prepare_constant(prepare, FILTERS);
    bool is_new;
    float *data = prepare_prepacked(prepare, LAYOUT_DEPTHWISE,
                                    depthwise->packed_floats * sizeof *data, &is_new);
    if (data && is_new) {
        size_t n = (size_t)shape_n_elements(&filters->shape);
        const void *elements = prepare_elements(prepare, FILTERS, 0, n);
        if (!elements)
            return false;
        depthwise_pack(depthwise, elements, filters->dtype == IRRUN_F16, data);
    }
    grouped->packed.filters = data;
    return data != NULL;
}

static void run_depthwise_rows(const void *convolution, const struct row_job *job)
{
    const struct grouped_convolution *grouped = convolution;
    depthwise_run_rows(&grouped->depthwise,
                       &(struct depthwise_job){.in = job->in,
                                               .weights = grouped->packed.filters,
                                               .out = job->out,
                                               .epilogue = job->epilogue,
                                               .first = job->first},
                       job->begin, job->end);
}

static void run_indirect_rows(const void *convolution, const struct row_job *job)
{
    const struct grouped_convolution *grouped = convolution;
    indirect_convolution_run_rows(
        &grouped->packed.conv,
        &(struct indirect_convolution_job){.in = job->in,
                                           .packed = grouped->packed.filters,
                                           .out = job->out,
                                           .scratch = job->scratch,
                                           .epilogue = job->epilogue,
                                           .first = job->first},
        job->begin, job->end);
}

/* Offers the convolution for a row chain, which computes it row by row, if the channels are last
 * and there are two spatial dimensions. */
static void offer_rows(struct prepare *prepare, struct grouped_convolution *grouped)
{
    const struct indirect_convolution *conv = &grouped->packed.conv;
    const struct window *w = &grouped->one.window;
    size_t n_in = (size_t)(grouped->one.c_in * grouped->n_groups);
    size_t n_out = (size_t)(grouped->one.c_out * grouped->n_groups);
    bool is_possible = grouped->is_depthwise
                           ? grouped->depthwise.channels_last && w->in[0] * w->out[0] == 1
                           : indirect_convolution_has_rows(conv) && !grouped->packed.rounds_input;
    if (!is_possible || prepare->out[0]->dtype != IRRUN_F32)
        return;
    grouped->rows = (struct row_op){
        .run = grouped->is_depthwise ? run_depthwise_rows : run_indirect_rows,
        .convolution = grouped,
        .window = w,
        .reads_rows = grouped->is_depthwise || conv->in_channels_last,
        .in_row_floats = (size_t)w->in[2] * n_in,
        .row_floats = (size_t)w->out[2] * n_out,
        .scratch_floats = grouped->is_depthwise ? 0 : share_floats(conv),
        .n_batches = (size_t)grouped->n_batches,
        .n_terms = (double)(n_out * (size_t)grouped->one.c_in) * (double)window_product(w->kernel) *
                   (double)window_product(w->out),
    };
    prepare->made.rows = &grouped->rows;
}

bool convolution_prepare(struct prepare *prepare, convolution_group_fn *run_group)
{
    struct grouped_convolution *grouped = prepare->state;
    const struct convolution *one = &grouped->one;
    grouped->direct = convolution_direct(prepare->in[DATA]->dtype);
    grouped->run_group = run_group;
    prepare_epilogue(prepare);
    grouped->depthwise = describe_depthwise(prepare);
    /* With the channels last, the depthwise kernels need packed filters. */
    if (convolution_wants_depthwise(prepare) &&
        (!grouped->depthwise.channels_last || prepare->prepacked != 0) &&
        !depthwise_prepare(prepare, &grouped->depthwise, &grouped->is_depthwise))
        return false;
    if (grouped->is_depthwise && grouped->depthwise.channels_last &&
        !pack_depthwise(prepare, grouped))
        return false;
    if (prepare->prepacked == 0 && !grouped->is_depthwise)
        return true;
    prepare->made.epilogue.bias =
        (struct repetition){one->out_pixel_stride > 0 ? 1 : (size_t)convolution_n_out(grouped),
                            (size_t)(one->c_out * grouped->n_groups)};
    if (!grouped->is_depthwise && (!convolution_wants_indirect(prepare, &grouped->packed.conv) ||
                                   !prepacked_convolution_pack(prepare, one, &grouped->packed)))
        return false;
    offer_rows(prepare, grouped);
    return true;
}

static void run_depthwise(const struct step *step)
{
    const struct grouped_convolution *grouped = step->state;
    const float *packed = grouped->packed.filters;
    depthwise_run(&grouped->depthwise,
                  &(struct depthwise_job){.in = step->in[DATA]->data,
                                          .weights = packed ? packed : step->in[FILTERS]->data,
                                          .out = step->out[0]->data,
                                          .scratch = step->scratch,
                                          .pool = step->pool,
                                          .epilogue = step->epilogue});
}

static void run_groups(const struct step *step)
{
    const struct grouped_convolution *grouped = step->state;
    const struct convolution *one = &grouped->one;
    size_t size = dtype_size(step->in[DATA]->dtype), n_groups = (size_t)grouped->n_groups;
    size_t n_in = (size_t)(one->c_in * convolution_n_in(grouped));
    size_t n_out = (size_t)(one->c_out * convolution_n_out(grouped));
    size_t in_step = one->in_pixel_stride > 0 ? (size_t)one->c_in : n_in;
    size_t out_step = one->out_pixel_stride > 0 ? (size_t)one->c_out : n_out;
    size_t filter_bytes =
        (size_t)(one->c_out * one->c_in * window_product(one->window.kernel)) * size;
    const char *in = step->in[DATA]->data, *filters = step->in[FILTERS]->data;
    char *out = step->out[0]->data;
    for (size_t batch = 0; batch < (size_t)grouped->n_batches; batch++) {
        for (size_t group = 0; group < n_groups; group++) {
            size_t first = batch * n_groups * n_out + group * out_step;
            grouped->run_group(step, in + (batch * n_groups * n_in + group * in_step) * size,
                               filters + group * filter_bytes, out + first * size, first);
        }
    }
    /* With the channels last, the output of a group is not contiguous, so run_group runs no
     * epilogue. */
    if (one->out_pixel_stride > 0)
        epilogue_run(step->epilogue, 0, (size_t)grouped->n_batches * n_groups * n_out);
}

bool convolution_run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct grouped_convolution *grouped = step->state;
    if (shape_n_elements(&step->out[0]->shape) == 0)
        return true;
    if (grouped->is_depthwise)
        run_depthwise(step);
    else if (grouped->packed.filters)
        prepacked_convolution_run(&grouped->packed, step, grouped->n_batches);
    else
        run_groups(step);
    return true;
}

/* Counts a multiply-add for each output element and each weight of its channel; for a transposed
 * convolution, for each input element and each weight of its channel. The leading dimensions of the
 * filters are the groups and the channels of that tensor. */
double convolution_flops(const struct op *op, struct irrun_tensor *const *in,
                         struct irrun_tensor *const *out)
{
    const struct irrun_shape *filters = &in[1]->shape;
    uint32_t n_group_dims = *(const uint32_t *)op->def->family;
    bool is_transposed = strstr(op->def->type, "Backprop") != NULL;
    double n_channels =
        n_group_dims < filters->rank ? (double)shape_product(filters, 0, n_group_dims + 1) : 0;
    return 2 * cost_n(is_transposed ? in[0] : out[0]) * cost_ratio(cost_n(in[1]), n_channels);
}
