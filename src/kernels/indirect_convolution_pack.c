/* Packs the weights of an indirect convolution in the order in which the micro-kernels read them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/indirect_convolution.h"
#include "tensor/half.h"

struct packing {
    const struct indirect_convolution *conv;
    const struct subconvolution *sub;
    const unsigned char *weights; /* weights of one group */
    enum weight_type type;
};

static void read_weights(const struct packing *packing, size_t first, size_t n, float *to)
{
    const unsigned char *from = packing->weights + first * weight_bytes(packing->type);
    if (packing->type == WEIGHTS_F16)
        f16_to_f32_n(from, to, n);
    else if (packing->type == WEIGHTS_BF16)
        bf16_to_f32_n(from, to, n);
    else
        memcpy(to, from, n * sizeof *to);
}

/* Reads n bf16 pairs: the weights of filter `row` for two channels and the same tap. */
static void read_pairs(const struct packing *packing, size_t row, size_t begin, size_t n, float *to)
{
    const struct indirect_convolution *conv = packing->conv;
    size_t n_taps = packing->sub->k / (size_t)conv->c_in, size = sizeof(uint16_t);
    const unsigned char *filter = packing->weights + row * conv->n_channels * n_taps * size;
    for (size_t k = begin; k < begin + n; k++) {
        size_t channel = 2 * (conv->run > 0 ? k % (size_t)conv->c_in : k / n_taps);
        size_t tap = conv->run > 0 ? k / (size_t)conv->c_in : k % n_taps;
        const unsigned char *from = filter + (channel * n_taps + tap) * size;
        uint16_t pair[2] = {0};
        memcpy(&pair[0], from, size);
        if (channel + 1 < conv->n_channels)
            memcpy(&pair[1], from + n_taps * size, size);
        memcpy(to++, pair, sizeof pair);
    }
}

/* Returns the index, in a filter, of the weight for tap i of phase `phase` of a subconvolution. */
static size_t find_transposed(const struct packing *packing, size_t phase, size_t i)
{
    const struct indirect_convolution *conv = packing->conv;
    const struct subconvolution *sub = packing->sub;
    int64_t n_taps[3], f[3], j[3], at = 0;
    subconvolution_taps(conv, sub, n_taps);
    window_unravel(sub->n_phases, (int64_t)phase, f);
    window_unravel(n_taps, (int64_t)i, j);
    for (int d = 0; d < 3; d++)
        at = at * conv->kernel[d] + sub->first_phase[d] + f[d] +
             (n_taps[d] - 1 - j[d]) * conv->out_stride[d];
    return (size_t)at;
}

static void read_transposed(const struct packing *packing, size_t row, size_t begin, size_t n,
                            float *to)
{
    const struct indirect_convolution *conv = packing->conv;
    size_t n_phases = (size_t)window_product(packing->sub->n_phases);
    size_t n_taps = packing->sub->k / (size_t)conv->c_in;
    size_t n_kernel = (size_t)window_product(conv->kernel);
    for (size_t k = begin; k < begin + n; k++) {
        size_t filter = k / n_taps * (size_t)conv->c_out + row / n_phases;
        size_t at = find_transposed(packing, row % n_phases, k % n_taps);
        read_weights(packing, filter * n_kernel + at, 1, to++);
    }
}

static void read_by_tap(const struct packing *packing, size_t row, size_t begin, size_t n,
                        float *to)
{
    size_t k = packing->sub->k, c_in = (size_t)packing->conv->c_in, n_taps = k / c_in;
    for (size_t i = begin; i < begin + n; i++)
        read_weights(packing, row * k + i % c_in * n_taps + i / c_in, 1, to++);
}

/* Reads weights begin ... begin + n - 1 of a row of A; zeros beyond the last row. */
static void read_terms(const struct packing *packing, size_t row, size_t begin, size_t n, float *to)
{
    const struct subconvolution *sub = packing->sub;
    size_t n_rows = (size_t)(packing->conv->c_out * window_product(sub->n_phases));
    if (row >= n_rows)
        memset(to, 0, n * sizeof *to);
    else if (packing->conv->has_pairs)
        read_pairs(packing, row, begin, n, to);
    else if (packing->conv->is_transposed)
        read_transposed(packing, row, begin, n, to);
    else if (terms_are_by_tap(packing->conv))
        read_by_tap(packing, row, begin, n, to);
    else
        read_weights(packing, row * sub->k + begin, n, to);
}

/* Packs the weights of a block of n terms for all row tiles. */
static float *pack_block(const struct packing *packing, size_t begin, size_t n, float *packed)
{
    const struct subconvolution *sub = packing->sub;
    float lines[IGEMM_MAX_MR][IGEMM_MAX_KC];
    for (size_t first = 0; first < sub->n_row_tiles * sub->mr; first += sub->mr) {
        for (size_t row = 0; row < sub->mr; row++)
            read_terms(packing, first + row, begin, n, lines[row]);
        for (size_t k = 0; k < n; k++)
            for (size_t row = 0; row < sub->mr; row++)
                *packed++ = lines[row][k];
    }
    return packed;
}

/* Packs the weights of a block of n terms for all panels of a phase. */
static float *pack_channels(const struct packing *packing, size_t phase, size_t begin, size_t n,
                            float *packed)
{
    const struct indirect_convolution *conv = packing->conv;
    size_t lanes = conv->microkernels->lanes, c_out = (size_t)conv->c_out;
    size_t n_phases = (size_t)window_product(packing->sub->n_phases);
    float terms[IGEMM_MAX_PANEL_KC];
    for (size_t panel = 0; panel < conv->n_panels; panel++) {
        size_t first = panel_begin(conv, panel) * lanes;
        size_t n_columns = panel_begin(conv, panel + 1) * lanes - first;
        for (size_t column = 0; column < n_columns; column++) {
            size_t channel = first + column;
            size_t row = channel < c_out ? channel * n_phases + phase : SIZE_MAX;
            read_terms(packing, row, begin, n, terms);
            for (size_t k = 0; k < n; k++)
                packed[k * n_columns + column] = terms[k];
        }
        packed += n * n_columns;
    }
    return packed;
}

/* Packs the weights of Winograd's GEMMs. */
static void pack_winograd(const struct packing *packing, float *packed)
{
    const struct indirect_convolution *conv = packing->conv;
    size_t lanes = conv->microkernels->lanes, c_in = (size_t)conv->c_in, n;
    size_t n_elements = conv->tile[0] * conv->tile[1], n_taps = packing->sub->k / c_in;
    for (size_t begin = 0; begin < conv->winograd_k; begin += n) {
        size_t rest = conv->winograd_k - begin;
        n = rest < conv->winograd_kc ? rest : conv->winograd_kc;
        for (size_t panel = 0; panel < conv->n_panels; panel++) {
            size_t first = panel_begin(conv, panel) * lanes;
            size_t n_columns = panel_begin(conv, panel + 1) * lanes - first;
            for (size_t i = 0; i < n * n_columns; i++) {
                float taps[WINOGRAD_MAX_KERNEL * WINOGRAD_MAX_KERNEL], elements[16];
                size_t channel = first + i % n_columns, k = begin + i / n_columns;
                if (channel < (size_t)conv->c_out)
                    read_weights(packing, (channel * c_in + k % c_in) * n_taps, n_taps, taps);
                else
                    memset(taps, 0, sizeof taps);
                winograd_transform_weights(conv, taps, k / c_in, elements);
                for (size_t e = 0; e < n_elements; e++)
                    packed[e * conv->winograd_k * conv->ld_sums + i] = elements[e];
            }
            packed += n * n_columns;
        }
    }
}

static float *pack_group(const struct packing *packing, float *packed)
{
    const struct subconvolution *sub = packing->sub;
    size_t n_phases = (size_t)window_product(sub->n_phases), n;
    bool channels_in_lanes = packing->conv->channels_in_lanes;
    for (size_t phase = 0; phase < (channels_in_lanes ? n_phases : 1); phase++)
        for (size_t begin = 0; begin < sub->k; begin += n) {
            n = sub->k - begin < sub->kc ? sub->k - begin : sub->kc;
            packed = channels_in_lanes ? pack_channels(packing, phase, begin, n, packed)
                                       : pack_block(packing, begin, n, packed);
        }
    return packed;
}

void indirect_convolution_pack(const struct indirect_convolution *conv, const void *weights,
                               enum weight_type type, float *packed)
{
    size_t n_weights = (size_t)(conv->c_out * conv->c_in * window_product(conv->kernel));
    size_t size = weight_bytes(type);
    float *begin = packed;
    for (const struct subconvolution *sub = conv->subconvolutions;
         sub < conv->subconvolutions + conv->n_subconvolutions; sub++)
        for (size_t group = 0; group < (size_t)conv->n_groups; group++) {
            const unsigned char *filters = (const unsigned char *)weights;
            struct packing packing = {conv, sub, filters + group * n_weights * size, type};
            packed = pack_group(&packing, packed);
            if (conv->tile[0] > 0)
                pack_winograd(&packing,
                              begin + conv->winograd_weight + group * conv->winograd_floats);
        }
}
