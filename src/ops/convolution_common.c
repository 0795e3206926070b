/* Channels, output and groups of convolutions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/convolution_common.h"

#include "base/checked.h"

enum { DATA, FILTERS };

bool convolution_infer_channels(struct infer *infer, bool is_transposed, struct convolution *one,
                                struct convolution_groups *groups)
{
    uint32_t n_leading = *(const uint32_t *)infer->op->def->family;
    const struct irrun_shape *data = &infer->in[DATA]->shape, *filters = &infer->in[FILTERS]->shape;
    if (data->rank < 3 || data->rank > 5)
        return infer_fail_input(infer, DATA,
                                "3 to 5 dimensions: batch, channels, 1 to 3 spatial ones");
    if (filters->rank != data->rank + n_leading)
        return infer_fail_input(infer, FILTERS, "%u dimensions", data->rank + n_leading);
    groups->n_batches = data->dims[0];
    groups->n_groups = n_leading ? filters->dims[0] : 1;
    one->c_out = filters->dims[n_leading + (is_transposed ? 1 : 0)];
    one->c_in = filters->dims[n_leading + (is_transposed ? 0 : 1)];
    int64_t c_in;
    if (checked_mul_i64(one->c_in, groups->n_groups, &c_in) && c_in == data->dims[1])
        return true;
    infer_fail_input(infer, FILTERS, "filters for %lld input channels", (long long)data->dims[1]);
    return infer_hint_input(infer, DATA);
}

bool convolution_infer_output(struct infer *infer, const struct convolution *one,
                              const struct convolution_groups *groups, const int64_t sizes[3])
{
    uint32_t rank = infer->in[DATA]->shape.rank - 2;
    int64_t c_out;
    if (!checked_mul_i64(one->c_out, groups->n_groups, &c_out))
        return infer_fail(infer, "the output has too many channels");
    struct irrun_shape out = {.rank = rank + 2, .dims = {groups->n_batches, c_out}};
    for (uint32_t i = 0; i < rank; i++)
        out.dims[2 + i] = sizes[3 - rank + i];
    return infer_output(infer, 0, infer->in[DATA]->dtype, &out);
}

void convolution_walk(const struct step *step, const struct convolution *one,
                      const struct convolution_groups *groups, int64_t n_in, int64_t n_out,
                      convolution_group_fn *convolve)
{
    size_t size = dtype_size(step->in[DATA]->dtype), first = 0;
    size_t in_bytes = (size_t)(one->c_in * n_in) * size, n_elements = (size_t)(one->c_out * n_out);
    size_t filter_bytes =
        (size_t)(one->c_out * one->c_in * window_product(one->window.kernel)) * size;
    const char *in = step->in[DATA]->data;
    char *out = step->out[0]->data;
    for (int64_t batch = 0; batch < groups->n_batches; batch++) {
        const char *filters = step->in[FILTERS]->data; /* NULL: they are packed */
        for (int64_t group = 0; group < groups->n_groups; group++) {
            convolve(step, in, filters, out + first * size, first);
            in += in_bytes;
            filters = filters ? filters + filter_bytes : NULL;
            first += n_elements;
        }
    }
}
