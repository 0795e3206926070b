/* Convolution in f32 as an indirect GEMM: a product with the matrix that im2col would write,
 * without writing it. XNNPACK does this with channels innermost (NHWC); here every channel is a
 * plane (NCHW).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_INDIRECT_CONVOLUTION_H
#define IRRUN_KERNELS_INDIRECT_CONVOLUTION_H

#include <string.h>

#include "kernels/convolution.h"
#include "kernels/depthwise_kernels.h"
#include "kernels/igemm_f32.h"
#include "kernels/packed_gemm.h"
#include "kernels/thread_pool.h"

/* C = A * B, where A [M][K] is the filters and B [K][N] is what im2col would write. M is the output
 * channels, K the input channels times the taps (the elements of the kernel), N the output
 * positions. Row k of B is a channel, shifted by a tap, and is in memory already. An indirection
 * buffer holds its offset, which the micro-kernel adds to the address of its positions.
 *
 *     channel, padded     some of the 9 rows of B for a kernel of 3 x 3 and pads of 1
 *
 *       0 0 0 0 0         k = 0, tap (0,0), offset  0     0 0 0 0 0   0 a b c 0   0 d e f 0
 *       0 a b c 0         k = 1, tap (0,1), offset  1     0 0 0 0 0   a b c 0 0   d e f 0 0
 *       0 d e f 0         ...
 *       0 g h i 0         k = 4, tap (1,1), offset  6     a b c 0 0   d e f 0 0   g h i 0 0
 *       0 0 0 0 0         k = 8, tap (2,2), offset 12     e f 0 0 g   h i 0 0 0   0 0 0 0 0
 *
 *                         columns of C                    x x x - -   x x x - -   x x x - -
 *                                                         |--- nr ---|--- nr ---|--- nr ---|
 *
 * Positions run along the padded rows, which are longer than those of the output: results at "-"
 * are not stored. A tile of C is mr x nr, sums kc terms at a time, and starts with the bias. The
 * padded copy is not always used:
 *
 * - If the convolution has strides, the copy is divided into planes (space to depth): positions
 *   0, s, 2s ... of a row, then 1, s + 1 ..., so that the elements of a tap are still contiguous.
 * - If the output is as large as the input, there is no copy: the input is read in place. Its rows
 *   have no pads, so a shift reads wrong elements at their ends; masks make them zeros.
 *
 * A transposed convolution with stride s is s convolutions (in each dimension) with every s-th tap:
 * the phases of the output. They share B, each adds rows to A, and their positions are stored s
 * apart. If the kernel is not a multiple of s, the later phases have one tap less and become a
 * separate subconvolution, since a tap of zero would turn infinity into NaN.
 *
 * So far, the lanes of vectors hold positions. Small outputs would waste lanes, and strides need
 * copies. For them the lanes hold channels: a tile is one of the transpose of C, and its rows are
 * any output positions. The input is copied with its pads, or read in place if it has none. A line
 * (one dimension) is also read in place: positions with different taps in the pads are in different
 * tiles, which skip these taps. The lanes also hold channels if the channels are last in the input
 * or in the output. An output with the channels last consists of such tiles.
 *
 * If the kernel is 3 x 3, 1 x 3 or 3 x 1 and has neither strides nor dilations, Winograd's minimal
 * filtering may replace this: F(2 x 2, 3 x 3) computes 2 x 2 outputs from a tile of 4 x 4 elements
 * with 16 products instead of 36, one in each of 16 GEMMs. Every output still depends on its own
 * inputs only. But infinity becomes NaN, so rows of tiles, or parts of a line, in which a sum is
 * not finite are computed again without Winograd.
 *
 * Kernels of 5 and 7 are divided into parts of three: taps 0, 1, 2, then 3, 4 after a zero, then 5,
 * 6 after a zero. Each part begins two elements after the previous one, as the next tile does, so
 * it multiplies the elements of the next tile. A first tap of zero makes the first element of a
 * part zero, so that 5 x 5 takes 55 products instead of 100.
 *
 * In bf16 the copy consists of pairs of channels of a pixel: 0 and 1, 2 and 3 ... A pair takes the
 * place of a float, and everything else sees half as many channels. AMX tiles need adjacent pairs,
 * so for them the copy has the channels last. */

/* The part of B that a tile reads for this many terms stays in an L1 cache while all of A is read:
 * 128 rows of two cache lines are 16 KB. With channels in lanes, the weights of a panel stay in L1
 * instead, so panels of fewer vectors have more terms. */
#define IGEMM_MAX_KC 128
#define IGEMM_MAX_PANEL_KC (IGEMM_MAX_KC * IGEMM_MAX_VECTORS)

#define LINE_FLOATS 16 /* floats in a cache line */
/* Channels whose distance is a multiple of 1 KB map to a few sets of an L1 cache. */
#define SET_FLOATS 256
/* Pixels whose distance is a multiple of 512 bytes map to an eighth of the sets. If a tile read all
 * taps of one channel and then of the next, their cache lines would be evicted in between. */
#define FAR_FLOATS 128

#define WINOGRAD_MAX_KERNEL 7

#define MAX_SUBCONVOLUTIONS 8 /* long and short phases in each dimension */

/* One GEMM: the whole convolution, or, for a transposed one, the phases that use the same taps.
 * With channels in lanes, a tile is mr positions, a chunk is nr positions, and n_row_tiles and
 * n_column_tiles are not used. */
struct subconvolution {
    int64_t first_phase[3], n_phases[3];    /* of the output */
    int64_t first_tap[3];                   /* 1 if the phases lack tap 0 of window.kernel, or 0 */
    size_t mr, n_row_tiles;                 /* rows of C: the phases of a group's channels */
    size_t nr, n_column_tiles;              /* columns of C: the positions */
    size_t k, kc;                           /* c_in * taps; how many of them are summed at a time */
    size_t first_indirection, first_weight; /* in the arrays of the convolution */
    size_t first_position;                  /* channels in lanes: of the first phase */
    size_t n_positions;                     /* channels in lanes: of all phases */
};

/* A max pooling of the output: n[0] x n[1] windows of kernel[0] x kernel[1] that do not overlap.
 * Rows and columns after the last window are dropped. */
struct pooling {
    size_t kernel[2], n[2];
    depthwise_tile_fn *maxima;
};
#define POOLING_MAX_TAPS 16 /* of a window */

struct indirect_convolution {
    struct window window; /* from the input to positions */
    int64_t n_groups, c_in, c_out;
    bool is_transposed;
    bool channels_in_lanes; /* otherwise positions are in the lanes of vectors */
    const struct igemm_microkernels *microkernels;

    const struct pooling *pooling; /* NULL: none. Otherwise only its results are stored */
    bool has_windows;              /* the positions of a pooling window are consecutive */

    /* The output: position p of phase f is stored at p * out_stride + f - out_crop, if this is
     * inside out. */
    int64_t out[3], out_stride[3], out_crop[3];
    int64_t kernel[3]; /* of the filters, with all phases */

    /* The padded copy, [n_groups][c_in][n_planes][plane]. If is_masked, there is none: plane is a
     * channel of the input as one row, and the rows of the output have the same length. */
    int64_t n_planes[3], plane[3], plane_stride[3];
    size_t channel_floats; /* of the planes of a channel in the copy, or in the input */
    size_t copy_floats;
    size_t copy_rows; /* channels in lanes: rows that a thread copies for a chunk; 0: the whole
                       * image is copied first */

    /* For channels in lanes. The sizes of the n_panels panels differ by at most one vector. */
    bool is_in_place; /* the input is not copied */
    bool skips_pads;  /* in place, with pads: taps in pads are skipped, and the terms of a tap are
                       * contiguous */
    bool in_channels_last, copy_channels_last, out_channels_last;
    size_t pixel_floats; /* from one pixel to the next, in the input or the copy */
    bool has_pairs;      /* the copy has pairs of bf16, of which there are c_in */
    size_t run;          /* contiguous pairs (struct igemm_tiles), where the terms are in the order
                          * [tap][channel]; 0: there are no tiles */
    size_t row;          /* positions of a row if igemm_microkernels.row is used; otherwise 0 */
    size_t n_channels;   /* of the input, of all groups; the last pair may have only one */
    size_t n_panels, n_vectors, ld_sums;
    bool stores_pixels; /* except with Winograd or pooling, tiles are stored directly to an output
                         * with the channels last. The last vector of a pixel may overlap the next
                         * pixel, which is stored later */

    /* Winograd: tiles of tile[0] x tile[1] elements, each 4 or 1; tile[0] is 0 without it. A unit
     * is the positions of a row of tiles, or a part of a line. A chunk consists of whole units, and
     * has at most n_tiles tiles. */
    size_t tile[2], unit, n_tiles;
    size_t tile_floats, tile_channel; /* of the transformed input: from tile to tile, and from
                                       * channel to channel */
    size_t in_element, sums_element;  /* from one element of the tiles to the next: of the input,
                                       * of the sums */
    size_t winograd_k, winograd_kc, winograd_indirection, winograd_position, winograd_weight;
    size_t winograd_floats; /* of the weights of a group */

    /* Masks, which replace the copy. */
    bool is_masked;
    size_t mask_bytes;              /* for each tap: one bit for each position */
    int64_t min_offset, max_offset; /* the range of the offsets in the indirection buffer */

    struct subconvolution subconvolutions[MAX_SUBCONVOLUTIONS];
    size_t n_subconvolutions;
    size_t acc_floats; /* for each thread: the sums and biases of a column of tiles; with channels
                        * in lanes: the sums of a chunk and a buffer for their transpose or
                        * transforms */
    size_t packed_floats;
    size_t n_indirections, n_positions;

    /* Set by indirect_convolution_fill. */
    const struct indirection *indirection; /* [n_indirections] */
    const unsigned char *masks;            /* [window.kernel][mask_bytes] */
    int32_t *positions;                    /* [n_positions]: offsets in the copy */
};

/* Plans a convolution, without its buffers. Returns false if there is nothing to compute, a size
 * overflows, or it is a transposed convolution with dilations or negative pads. */
bool indirect_convolution_plan(struct indirect_convolution *conv,
                               const struct igemm_microkernels *microkernels,
                               const struct convolution *convolution, int64_t n_groups,
                               bool is_transposed, bool channels_in_lanes);

/* Adds Winograd's filtering to a plan with channels in lanes. Returns false if it is not
 * applicable. */
bool indirect_convolution_plan_winograd(struct indirect_convolution *conv);

/* Return estimated times, in 1/16 cycle: of a convolution by Winograd's filtering, without the
 * copy; of one multiplication with channels in lanes; and of reading n_floats weights n times, or 0
 * if they stay in an L2 cache. */
double winograd_cost(const struct indirect_convolution *conv);
double multiplication_cost(const struct indirect_convolution *conv);
double reading_cost(double n_floats, double n);

/* Changes a plan with channels in lanes that copies the image, so that each chunk consists of whole
 * rows and copies only what it reads. Returns false if this is not applicable. */
bool indirect_convolution_plan_rows(struct indirect_convolution *conv);

/* Plans a convolution of one group in bf16, with channels in lanes. Returns false if the level has
 * no bf16, or as indirect_convolution_plan does. */
bool indirect_convolution_plan_pairs(struct indirect_convolution *conv,
                                     const struct igemm_microkernels *microkernels,
                                     const struct convolution *convolution);

/* Changes a convolution whose buffers are filled, so that it pools its output. Returns false if
 * this is impossible. */
bool indirect_convolution_add_pooling(struct indirect_convolution *conv,
                                      const struct pooling *pooling);

/* Replaces a plan with one in bf16 if the latter takes less time than the plan and the rounding of
 * its input together. */
void indirect_convolution_choose_pairs(struct indirect_convolution *conv,
                                       const struct igemm_microkernels *microkernels,
                                       const struct convolution *convolution);

/* Plans the fastest variant. Also returns false if the direct loops are faster. */
bool indirect_convolution_choose(struct indirect_convolution *conv,
                                 const struct igemm_microkernels *microkernels,
                                 const struct convolution *convolution, int64_t n_groups,
                                 bool is_transposed);

/* Computes the size of the scratch memory of indirect_convolution_run; returns false if it
 * overflows. */
bool indirect_convolution_scratch(const struct indirect_convolution *conv, unsigned n_threads,
                                  size_t *n_bytes);

/* Fills the indirections, the positions and, if is_masked, the masks of all taps. The memory must
 * be zeroed, and must outlive conv. */
void indirect_convolution_fill(struct indirect_convolution *conv, struct indirection *indirection,
                               int32_t *positions, unsigned char *masks);

/* Packs the weights: [n_groups][c_out][c_in][kernel], or [n_groups][c_in][c_out][kernel] for a
 * transposed convolution, at any address; pairs are packed from bf16. packed has, for each
 * subconvolution, [n_groups][k / kc][n_row_tiles][kc][mr], or with channels in lanes
 * [n_groups][phases][k / kc][n_panels][kc][channels]. */
void indirect_convolution_pack(const struct indirect_convolution *conv, const void *weights,
                               enum weight_type type, float *packed);

/* Returns the number of output positions in each dimension of a plane. */
static inline const int64_t *indirect_convolution_positions(const struct indirect_convolution *conv)
{
    return conv->is_masked ? conv->plane : conv->window.out;
}

/* Fills the indirections and positions of Winograd's GEMMs. */
void winograd_fill(const struct indirect_convolution *conv, struct indirection *indirection,
                   int32_t *positions);

/* Transforms a part of the taps of one filter and one channel to the elements of a tile. The
 * weights of Winograd's GEMMs follow the others:
 * [n_groups][elements][parts * c_in / kc][n_panels][kc][channels]. */
void winograd_transform_weights(const struct indirect_convolution *conv, const float *taps,
                                size_t part, float *elements);

/* A product for n output positions, with channels in lanes. */
struct channels_product {
    size_t k, kc, mr;  /* as in struct subconvolution */
    size_t n;          /* positions */
    size_t begin, end; /* the terms that are summed */
    size_t row, at;    /* positions of a row (0: no rows); index of the first one in its row */
    const float *a;
    const struct indirection *indirection;
    const int32_t *positions;
    const float *packed;
    const float *biases; /* NULL: zeros */
    const float *bounds; /* as in igemm_channels_args */
    float *sums;         /* [n][ldc] */
    size_t ldc;
    bool prefetches; /* packed is prefetched */
    float *maxima;   /* as in igemm_channels_args; then `sums` has partial sums. NULL: none */
};
void indirect_convolution_multiply(const struct indirect_convolution *conv,
                                   const struct channels_product *product);
/* Computes positions of a line, from `first` on, by the taps that lie inside the input. */
void indirect_convolution_multiply_line(const struct indirect_convolution *conv,
                                        const struct channels_product *product, int64_t first);

/* Computes a product for whole units, from position `first` on, by Winograd's filtering with its
 * own weights. `memory` is scratch for the transforms. */
void winograd_run(const struct indirect_convolution *conv, const struct channels_product *product,
                  const float *packed, size_t first, float *memory);

/* Returns the number of vectors in the panels before `panel`. */
static inline size_t panel_begin(const struct indirect_convolution *conv, size_t panel)
{
    return conv->n_vectors * panel / conv->n_panels;
}

/* Computes the number of taps of a subconvolution in each dimension. */
void subconvolution_taps(const struct indirect_convolution *conv, const struct subconvolution *sub,
                         int64_t n_taps[3]);

/* A phase of a subconvolution. Positions begin ... begin + n - 1 of each dimension are inside the
 * output. */
struct phase {
    int64_t at[3], begin[3], n[3];
};
struct phase subconvolution_phase(const struct indirect_convolution *conv,
                                  const struct subconvolution *sub, int64_t number);

/* Returns whether the terms are in the order [tap][channel]; otherwise it is [channel][tap]. */
static inline bool terms_are_by_tap(const struct indirect_convolution *conv)
{
    bool has_far_pixels = conv->copy_channels_last && conv->pixel_floats % FAR_FLOATS == 0 &&
                          !conv->has_pairs && conv->row == 0;
    return conv->run > 0 || conv->skips_pads || has_far_pixels;
}

/* The data of one batch element. */
struct indirect_convolution_job {
    const float *in;          /* [n_groups][c_in][in] */
    size_t n_before, n_after; /* readable floats before and after the input */
    const float *packed;      /* written by indirect_convolution_pack */
    float *out;               /* [n_groups][c_out][out]; with a pooling, [n][n][c_out] */
    float *scratch;
    struct thread_pool *pool;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;                    /* index of out[0] in the output of the epilogue */
};

/* Copies a thread's share of the whole input, with its pads. */
void indirect_convolution_copy(const struct indirect_convolution *conv, const float *in,
                               size_t share, size_t n_shares, float *to);
/* Copies rows begin ... end - 1 of the padded image. `to` is the copy of these rows alone. */
void indirect_convolution_copy_rows(const struct indirect_convolution *conv, const float *in,
                                    int64_t begin, int64_t end, float *to);

#define SHORT_ROW 16 /* floats; for fewer, a loop is faster than a call of memcpy */

static inline void copy_row(const float *restrict from, float *restrict to, int64_t n)
{
    if (n >= SHORT_ROW)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = from[i];
}

/* Returns the number of floats of scratch memory of each thread, besides a common copy. */
static inline size_t share_floats(const struct indirect_convolution *conv)
{
    return conv->acc_floats + (conv->copy_rows > 0 ? conv->copy_floats : 0);
}

/* Returns the offset of a position in the copy, or in the input. */
int32_t indirect_convolution_position(const struct indirect_convolution *conv, const int64_t q[3]);

/* The chunks of a convolution with a pooling. With has_windows they consist of units of windows:
 * one, or a row of them. Otherwise they are n_rows x n_columns positions, n_across in a row. */
struct pooled_chunks {
    size_t n, unit, n_units, n_across, n_rows, n_columns;
};
struct pooled_chunks indirect_convolution_pooled_chunks(const struct indirect_convolution *conv);

/* Returns whether micro-kernels can store the maxima of windows. */
bool indirect_convolution_stores_maxima(const struct indirect_convolution *conv,
                                        const float *bounds);

/* Pools the sums [n_rows][n_columns][ld_sums] of the positions from `row` and `column` on. */
struct pooled_sums {
    const float *sums;
    size_t row, column, n_rows, n_columns;
};
void indirect_convolution_pool(const struct indirect_convolution *conv,
                               const struct pooled_sums *pooled, float *out);
/* Pools the sums [n][positions of a window][ld_sums] of n windows. */
void indirect_convolution_pool_windows(const struct indirect_convolution *conv, const float *sums,
                                       size_t n, float *out);

/* Computes share `share` of n_shares, with channels in lanes; job->in is the input or its copy.
 * Applies the epilogue if it is a map. */
void indirect_convolution_by_channels(const struct indirect_convolution *conv,
                                      const struct indirect_convolution_job *job, size_t share,
                                      size_t n_shares, float *sums);

/* Returns whether indirect_convolution_run_rows can compute rows of the output, with the channels
 * last. */
bool indirect_convolution_has_rows(const struct indirect_convolution *conv);

/* Computes rows begin ... end - 1 of the output. job->in and job->out are where row 0 of the image
 * would be, even if it is not in memory. job->scratch has share_floats floats. */
void indirect_convolution_run_rows(const struct indirect_convolution *conv,
                                   const struct indirect_convolution_job *job, int64_t begin,
                                   int64_t end);

/* Computes one batch element. The result does not depend on the number of threads. */
void indirect_convolution_run(const struct indirect_convolution *conv,
                              const struct indirect_convolution_job *job);

#endif
