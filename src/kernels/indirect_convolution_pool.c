/* Max pooling of the sums of an indirect convolution while they are in the cache.
 * SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>

#include "base/checked.h"
#include "kernels/indirect_convolution.h"

/* Returns whether the dimensions of the pooling correspond to those of the output. If the pooling
 * kernel is as wide as the image, window_align moves the dimensions of the pooling, but not those
 * of the output. */
static bool has_same_dimensions(const struct indirect_convolution *conv,
                                const struct pooling *pooling)
{
    return conv->out[0] == 1 && (size_t)conv->out[1] / pooling->kernel[0] == pooling->n[0] &&
           (size_t)conv->out[2] / pooling->kernel[1] == pooling->n[1];
}

/* Reorders the positions of the convolution by pooling windows. */
static void fill_windows(const struct indirect_convolution *conv)
{
    const struct pooling *pooling = conv->pooling;
    int32_t *positions = conv->positions + conv->subconvolutions[0].first_position;
    for (size_t window = 0; window < pooling->n[0] * pooling->n[1]; window++)
        for (size_t tap = 0; tap < pooling->kernel[0] * pooling->kernel[1]; tap++) {
            size_t row = window / pooling->n[1] * pooling->kernel[0] + tap / pooling->kernel[1];
            size_t column = window % pooling->n[1] * pooling->kernel[1] + tap % pooling->kernel[1];
            const int64_t q[3] = {0, (int64_t)row, (int64_t)column};
            *positions++ = indirect_convolution_position(conv, q);
        }
}

bool indirect_convolution_add_pooling(struct indirect_convolution *conv,
                                      const struct pooling *pooling)
{
    size_t n_taps = pooling->kernel[0] * pooling->kernel[1];
    bool has_whole_rows = conv->tile[0] == 0 || (conv->tile[0] == 4 && pooling->kernel[0] == 2);
    if (!conv->channels_in_lanes || !conv->out_channels_last || conv->is_transposed ||
        conv->n_groups > 1 || !has_same_dimensions(conv, pooling) || !has_whole_rows ||
        (conv->copy_rows > 0 &&
         conv->subconvolutions[0].nr / (size_t)conv->out[2] < pooling->kernel[0]) ||
        n_taps > POOLING_MAX_TAPS)
        return false;
    conv->pooling = pooling;
    conv->has_windows =
        conv->tile[0] == 0 && conv->row_length == 0 && conv->run == 0 && !conv->skips_pads;
    if (conv->has_windows)
        fill_windows(conv);
    return true;
}

bool indirect_convolution_stores_maxima(const struct indirect_convolution *conv,
                                        const float *bounds)
{
    return conv->has_windows && conv->ld_sums == (size_t)conv->c_out &&
           conv->pooling->kernel[0] * conv->pooling->kernel[1] == IGEMM_POOLED && bounds &&
           bounds[0] >= -FLT_MAX;
}

struct pooled_chunks indirect_convolution_pooled_chunks(const struct indirect_convolution *conv)
{
    const struct pooling *pooling = conv->pooling;
    size_t nr = conv->subconvolutions[0].nr, width = pooling->n[1] * pooling->kernel[1];
    size_t n_taps = pooling->kernel[0] * pooling->kernel[1];
    struct pooled_chunks chunks = {.n_rows = pooling->kernel[0]};
    if (conv->has_windows) {
        bool has_rows = conv->copy_rows > 0; /* chunks copy the input of whole rows of windows */
        size_t n_units = has_rows ? nr / (size_t)conv->out[2] / pooling->kernel[0] : nr / n_taps;
        chunks.unit = has_rows ? pooling->n[1] : 1;
        chunks.n_units = pooling->n[0] * (has_rows ? 1 : pooling->n[1]);
        chunks.n = divide_up(chunks.n_units, n_units);
        return chunks;
    }
    chunks.n_columns = nr / n_taps * pooling->kernel[1];
    if (conv->tile[0] > 0 || conv->copy_rows > 0) {
        chunks.n_columns = width = (size_t)conv->out[2];
        chunks.n_rows = nr / width / pooling->kernel[0] * pooling->kernel[0];
    }
    chunks.n_across = divide_up(width, chunks.n_columns);
    chunks.n = chunks.n_across * divide_up(pooling->n[0] * pooling->kernel[0], chunks.n_rows);
    return chunks;
}

/* Returns whether a window contains -inf. */
static bool has_minus_infinity(const struct pooling *pooling, const float *sums,
                               const int32_t *offsets)
{
    for (size_t tap = 0; tap < pooling->kernel[0] * pooling->kernel[1]; tap++)
        if (sums[offsets[tap]] == -INFINITY)
            return true;
    return false;
}

/* Replaces the maximum of windows that hold only NaN, which is -inf, with the lowest finite number,
 * as max_pool_fn does. */
static void raise_maxima(const struct pooling *pooling, const struct depthwise_tile *tile)
{
    for (size_t i = 0; i < tile->n; i++)
        for (size_t channel = 0; channel < tile->n_channels; channel++) {
            float *maximum = tile->out + i * tile->out_step + channel;
            const float *sums = tile->image + (ptrdiff_t)i * tile->image_step + channel;
            if (*maximum == -INFINITY && !has_minus_infinity(pooling, sums, tile->offsets))
                *maximum = -FLT_MAX;
        }
}

/* Pools n windows, whose first sums are `step` floats apart. `offsets` are the offsets of the sums
 * of one window. */
static void pool_row(const struct indirect_convolution *conv, const float *sums, size_t step,
                     const int32_t *offsets, size_t n, float *out)
{
    const struct pooling *pooling = conv->pooling;
    size_t c_out = (size_t)conv->c_out;
    float check[DEPTHWISE_MAX_LANES];
    for (size_t lane = 0; lane < DEPTHWISE_MAX_LANES; lane++)
        check[lane] = INFINITY;
    const struct depthwise_tile tile = {
        .image = sums,
        .image_step = (ptrdiff_t)step,
        .out = out,
        .out_step = c_out,
        .n = n,
        .offsets = offsets,
        .n_slices = 1,
        .n_lines = pooling->kernel[0],
        .n_taps = pooling->kernel[1],
        .line_taps = pooling->kernel[1],
        .check = check,
        .n_channels = c_out,
    };
    pooling->maxima(&tile);
    for (size_t lane = 0; lane < DEPTHWISE_MAX_LANES; lane++)
        if (check[lane] == -INFINITY) {
            raise_maxima(pooling, &tile);
            break;
        }
}

void indirect_convolution_pool(const struct indirect_convolution *conv,
                               const struct pooled_sums *pooled, float *out)
{
    const struct pooling *pooling = conv->pooling;
    size_t n_y = pooling->kernel[0], n_x = pooling->kernel[1], c_out = (size_t)conv->c_out;
    size_t x = pooled->column / n_x, n = pooled->n_columns / n_x;
    int32_t offsets[POOLING_MAX_TAPS];
    n = n < pooling->n[1] - x ? n : pooling->n[1] - x;
    for (size_t tap = 0; tap < n_y * n_x; tap++)
        offsets[tap] = (int32_t)((tap / n_x * pooled->n_columns + tap % n_x) * conv->ld_sums);
    for (size_t row = 0; row + n_y <= pooled->n_rows; row += n_y)
        pool_row(conv, pooled->sums + row * pooled->n_columns * conv->ld_sums, n_x * conv->ld_sums,
                 offsets, n, out + ((pooled->row + row) / n_y * pooling->n[1] + x) * c_out);
}

void indirect_convolution_pool_windows(const struct indirect_convolution *conv, const float *sums,
                                       size_t n, float *out)
{
    size_t n_taps = conv->pooling->kernel[0] * conv->pooling->kernel[1];
    int32_t offsets[POOLING_MAX_TAPS];
    for (size_t tap = 0; tap < n_taps; tap++)
        offsets[tap] = (int32_t)(tap * conv->ld_sums);
    pool_row(conv, sums, n_taps * conv->ld_sums, offsets, n, out);
}
