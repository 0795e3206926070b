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
 * Positions run along the padded rows, which are longer than the output rows: results at "-" are
 * not stored. A tile of C is mr x nr. Its sums start with the bias, and kc terms are added at a
 * time. The padded copy is not always used:
 *
 * - If the convolution has strides, the copy is divided into planes (space to depth): positions
 *   0, s, 2s ... of a row, then 1, s + 1 ..., so that the elements of a tap are still contiguous.
 * - If the output is as large as the input, there is no copy: the input is read in place. Its rows
 *   have no pads, so a shift reads wrong elements at their ends; masks make them zeros.
 *
 * A transposed convolution with stride s consists of s convolutions per dimension, each with every
 * s-th tap. They compute the phases of the output: their positions are stored s apart. All phases
 * share B, and each adds rows to A. If the kernel size is not a multiple of s, the later phases
 * have one tap less and become a separate subconvolution, since a padding tap of zero would turn
 * infinity into NaN.
 *
 * All of the above has positions in the lanes of vectors. Small outputs would waste lanes, and
 * strides need copies. In these cases the lanes hold channels instead: a tile is part of the
 * transpose of C, and its rows are any output positions. The input is copied with its pads, or read
 * in place if it has no pads. A line (one dimension) is also read in place: positions with
 * different taps in the pads are in different tiles, and each tile skips its taps in pads. The
 * lanes also hold channels if the channels are last in the input or in the output; then tiles can
 * be stored directly to the output.
 *
 * If the kernel is 3 x 3, 1 x 3 or 3 x 1 and has neither strides nor dilations, Winograd's minimal
 * filtering may replace the product: F(2 x 2, 3 x 3) computes 2 x 2 outputs from a tile of 4 x 4
 * elements with 16 multiplications instead of 36, one in each of 16 GEMMs. Every output still
 * depends only on its own inputs. But infinity becomes NaN, so a row of tiles, or a part of a line,
 * in which a sum is not finite is computed again without Winograd.
 *
 * Kernels of size 5 and 7 are divided into parts of three taps: taps 0, 1, 2; then a zero and taps
 * 3, 4; then a zero and taps 5, 6. Each part begins two elements after the previous part. So does
 * each tile, so a part multiplies the transformed elements of a later tile. The zero makes the
 * first element of a transformed part zero, so that 5 x 5 takes 55 multiplications instead of 100.
 *
 * In bf16 the copy consists of pairs of channels of a pixel: 0 and 1, 2 and 3 ... A pair takes the
 * place of a float, so c_in is the number of pairs. AMX tiles need adjacent pairs, so for them the
 * copy has the channels last. */

/* The maximum kc. The part of B that a tile reads for so many terms stays in an L1 cache while all
 * of A is read: 128 rows of two cache lines are 16 KB. With channels in lanes, the weights of a
 * panel stay in L1 instead, so panels of fewer vectors may have more terms. */
#define IGEMM_MAX_KC 128
#define IGEMM_MAX_PANEL_KC (IGEMM_MAX_KC * IGEMM_MAX_VECTORS)

#define LINE_FLOATS 16 /* floats in a cache line */
/* Channels whose distance is a multiple of 1 KB map to a few sets of an L1 cache. */
#define SET_FLOATS 256
/* Pixels whose distance is a multiple of 512 bytes map to an eighth of the sets of an L1 cache. If
 * a tile read all taps of one channel before the next channel, it would evict the pixels. */
#define FAR_FLOATS 128

#define WINOGRAD_MAX_KERNEL 7

#define MAX_SUBCONVOLUTIONS 8 /* phases with all taps or one less, in each of 3 dimensions */

/* One GEMM: the whole convolution or, if it is transposed, the phases that use the same taps. With
 * channels in lanes, a tile has mr positions, a chunk has nr positions, and n_row_tiles and
 * n_column_tiles are not used. */
struct subconvolution {
    int64_t first_phase[3], n_phases[3]; /* range of phases of the output */
    int64_t first_tap[3];      /* 1 if the phases lack tap 0 of window.kernel, otherwise 0 */
    size_t mr, n_row_tiles;    /* rows of C: the phases of a group's channels */
    size_t nr, n_column_tiles; /* columns of C: the positions */
    size_t k, kc;              /* number of terms, c_in * taps; terms summed at a time */
    size_t first_indirection, first_weight; /* indices into the arrays of the convolution */
    size_t first_position; /* channels in lanes: index of the first phase's positions */
    size_t n_positions;    /* channels in lanes: number of positions of all phases */
};

/* A max pooling of the output: n[0] rows of n[1] windows, each of kernel[0] rows and kernel[1]
 * columns, that do not overlap. Output rows and columns after the last window are dropped. */
struct pooling {
    size_t kernel[2], n[2];
    depthwise_tile_fn *maxima;
};
#define POOLING_MAX_TAPS 16 /* maximum positions per window */

struct indirect_convolution {
    struct window window; /* maps input elements to positions */
    int64_t n_groups, c_in, c_out;
    bool is_transposed;
    bool channels_in_lanes; /* otherwise positions are in the lanes of vectors */
    const struct igemm_microkernels *microkernels;

    const struct pooling *pooling; /* NULL: none; otherwise only the pooled results are stored */
    bool has_windows;              /* the positions of a pooling window are consecutive */

    /* Position p of phase f is stored at output position p * out_stride + f - out_crop, if the
     * latter lies inside out. */
    int64_t out[3], out_stride[3], out_crop[3];
    int64_t kernel[3]; /* size of the filters, including all phases */

    /* The padded copy, [n_groups][c_in][n_planes][plane]. If is_masked, nothing is copied: `plane`
     * is a channel of the input as one row, and the output rows have the same length. */
    int64_t n_planes[3], plane[3], plane_stride[3];
    size_t channel_floats; /* floats per channel, in the copy or the input */
    size_t copy_floats;
    /* Channels in lanes: rows that a thread copies per chunk; 0: the image is copied at once. */
    size_t copy_rows;

    /* The following members are for channels in lanes. The sizes of the n_panels panels differ by
     * at most one vector. */
    bool is_in_place; /* the input is not copied */
    bool skips_pads;  /* in place, with pads: taps in pads are skipped, and the terms of a tap are
                       * contiguous */
    bool in_channels_last, copy_channels_last, out_channels_last;
    size_t pixel_floats; /* floats from one pixel to the next, in the input or the copy */
    bool has_pairs;      /* the copy consists of bf16 pairs; c_in is the number of pairs */
    size_t run;        /* struct igemm_tiles, with terms in the order [tap][channel]; 0: no tiles */
    size_t row_length; /* positions per row if igemm_microkernels.width_3 is used; otherwise 0 */
    size_t n_channels; /* input channels of all groups; the last pair may have only one channel */
    size_t n_panels, n_vectors, ld_sums;
    /* Tiles are stored directly to an output with the channels last, except with Winograd or
     * pooling. The last vector of a pixel may overlap the next pixel, which is stored later. */
    bool stores_pixels;

    /* Winograd: tiles have tile[0] rows and tile[1] columns, each 4 or 1; without Winograd, tile[0]
     * is 0. `unit` is the number of positions of a row of tiles, or of a part of a line. A chunk
     * consists of whole units, and has at most n_tiles tiles. */
    size_t tile[2], unit, n_tiles;
    size_t tile_floats, tile_channel; /* transformed input: floats per tile, and per channel */
    /* Floats from one element of the tiles to the next, in the transformed input and the sums. */
    size_t in_element, sums_element;
    size_t winograd_k, winograd_kc, winograd_indirection, winograd_position, winograd_weight;
    size_t winograd_floats; /* floats of Winograd weights per group */

    /* Masks replace the copy if is_masked. */
    bool is_masked;
    size_t mask_bytes;              /* bytes per tap: one bit per position */
    int64_t min_offset, max_offset; /* range of the offsets in the indirection buffer */

    struct subconvolution subconvolutions[MAX_SUBCONVOLUTIONS];
    size_t n_subconvolutions;
    /* Per thread: the sums and biases of a column of tiles; with channels in lanes, the sums of a
     * chunk, and a buffer for their transpose or Winograd's transforms. */
    size_t sums_floats;
    size_t packed_floats;
    size_t n_indirections, n_positions;

    /* Set by indirect_convolution_fill. */
    const struct indirection *indirection; /* [n_indirections] */
    const unsigned char *masks;            /* [window.kernel][mask_bytes] */
    int32_t *positions;                    /* [n_positions]: offsets in the copy */
};

/* Plans a convolution, but does not fill its buffers. Returns false if there is nothing to compute,
 * a size overflows, or a transposed convolution has dilations or negative pads. */
bool indirect_convolution_plan(struct indirect_convolution *conv,
                               const struct igemm_microkernels *microkernels,
                               const struct convolution *convolution, int64_t n_groups,
                               bool is_transposed, bool channels_in_lanes);

/* Adds Winograd's filtering to a plan with channels in lanes. Returns false if Winograd is not
 * applicable; the plan may then be unusable. */
bool indirect_convolution_plan_winograd(struct indirect_convolution *conv);

/* Return estimated times in 1/16 cycle. winograd_cost: a convolution by Winograd's filtering,
 * without the copy. multiplication_cost: one multiplication with channels in lanes. reading_cost:
 * to read n_floats weights n times; 0 if the weights stay in an L2 cache. */
double winograd_cost(const struct indirect_convolution *conv);
double multiplication_cost(const struct indirect_convolution *conv);
double reading_cost(double n_floats, double n);

/* Changes a plan with channels in lanes that copies the image, so that each chunk consists of whole
 * rows and copies only the input rows that it reads. Returns false if this is not applicable. */
bool indirect_convolution_plan_rows(struct indirect_convolution *conv);

/* Plans a convolution of one group in bf16, with channels in lanes. Returns false if the level has
 * no bf16 or indirect_convolution_plan would return false. */
bool indirect_convolution_plan_pairs(struct indirect_convolution *conv,
                                     const struct igemm_microkernels *microkernels,
                                     const struct convolution *convolution);

/* Makes a convolution with filled buffers pool its output. Returns false if it cannot. */
bool indirect_convolution_add_pooling(struct indirect_convolution *conv,
                                      const struct pooling *pooling);

/* Replaces a plan in f32 with a plan in bf16 if the latter is estimated to take less time than the
 * f32 convolution and a separate rounding of its input. */
void indirect_convolution_choose_pairs(struct indirect_convolution *conv,
                                       const struct igemm_microkernels *microkernels,
                                       const struct convolution *convolution);

/* Plans the variant that is estimated to be fastest. Returns false if none is possible or
 * convolution_direct is faster. */
bool indirect_convolution_choose(struct indirect_convolution *conv,
                                 const struct igemm_microkernels *microkernels,
                                 const struct convolution *convolution, int64_t n_groups,
                                 bool is_transposed);

/* Computes the size of the scratch memory of indirect_convolution_run; returns false if it
 * overflows. */
bool indirect_convolution_scratch(const struct indirect_convolution *conv, unsigned n_threads,
                                  size_t *n_bytes);

/* Fills the indirections, the positions and, if is_masked, the masks of all taps. The arrays must
 * be zeroed before the call, and must outlive conv. */
void indirect_convolution_fill(struct indirect_convolution *conv, struct indirection *indirection,
                               int32_t *positions, unsigned char *masks);

/* Packs weights [n_groups][c_out][c_in][kernel], or [n_groups][c_in][c_out][kernel] for a
 * transposed convolution, with any alignment; for pairs, the weights are bf16. Per subconvolution,
 * `packed` gets [n_groups][k / kc][n_row_tiles][kc][mr] or, with channels in lanes,
 * [n_groups][phases][k / kc][n_panels][kc][channels]. */
void indirect_convolution_pack(const struct indirect_convolution *conv, const void *weights,
                               enum weight_type type, float *packed);

/* Returns the number of positions to compute in each dimension of a plane. */
static inline const int64_t *indirect_convolution_positions(const struct indirect_convolution *conv)
{
    return conv->is_masked ? conv->plane : conv->window.out;
}

/* Fills the indirections and positions of Winograd's GEMMs. */
void winograd_fill(const struct indirect_convolution *conv, struct indirection *indirection,
                   int32_t *positions);

/* Transforms a part of the taps of one filter and one channel to the elements of a tile. In
 * `packed`, the weights of Winograd's GEMMs follow the untransformed ones:
 * [n_groups][elements][parts * c_in / kc][n_panels][kc][channels]. */
void winograd_transform_weights(const struct indirect_convolution *conv, const float *taps,
                                size_t part, float *elements);

/* Arguments of a product for n output positions, with channels in lanes. */
struct channels_product {
    size_t k, kc, mr;  /* as in struct subconvolution */
    size_t n;          /* positions */
    size_t begin, end; /* range of terms to sum */
    size_t row_length; /* positions per row; 0: tiles need not lie in one row */
    size_t row_index;  /* index of the first position in its row */
    const float *a;
    const struct indirection *indirection;
    const int32_t *positions;
    const float *packed;
    const float *biases; /* NULL: zeros */
    const float *bounds; /* as in igemm_channels_args */
    float *sums;         /* [n][ldc] */
    size_t ldc;
    bool prefetches; /* prefetch `packed` */
    float *maxima;   /* as in igemm_channels_args; NULL: none; `sums` is then scratch memory */
};
void indirect_convolution_multiply(const struct indirect_convolution *conv,
                                   const struct channels_product *product);
/* Computes positions of a line, from `first` on, with the taps that lie inside the input. */
void indirect_convolution_multiply_line(const struct indirect_convolution *conv,
                                        const struct channels_product *product, int64_t first);

/* Computes a product for whole units, from position `first` on, by Winograd's filtering. `packed`
 * holds the transformed weights; `memory` is scratch for the transforms. */
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

/* A phase of a subconvolution: its index `at` in each dimension, and the positions begin ... begin
 * + n - 1 that lie inside the output. */
struct phase {
    int64_t at[3], begin[3], n[3];
};
struct phase subconvolution_phase(const struct indirect_convolution *conv,
                                  const struct subconvolution *sub, int64_t number);

/* Returns whether the terms are in the order [tap][channel]; otherwise the order is
 * [channel][tap]. */
static inline bool terms_are_by_tap(const struct indirect_convolution *conv)
{
    bool has_far_pixels = conv->copy_channels_last && conv->pixel_floats % FAR_FLOATS == 0 &&
                          !conv->has_pairs && conv->row_length == 0;
    return conv->run > 0 || conv->skips_pads || has_far_pixels;
}

/* Arguments to run a convolution for one batch element. */
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
/* Copies rows begin ... end - 1 of the padded image to the start of `to`. */
void indirect_convolution_copy_rows(const struct indirect_convolution *conv, const float *in,
                                    int64_t begin, int64_t end, float *to);

#define SHORT_ROW 16 /* floats; for shorter rows, a loop is faster than a call of memcpy */

static inline void copy_row(const float *restrict from, float *restrict to, int64_t n)
{
    if (n >= SHORT_ROW)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = from[i];
}

/* Returns the number of floats of scratch memory per thread, in addition to the shared copy. */
static inline size_t share_floats(const struct indirect_convolution *conv)
{
    return conv->sums_floats + (conv->copy_rows > 0 ? conv->copy_floats : 0);
}

/* Returns the offset of a position in the copy, or in the input. */
int32_t indirect_convolution_position(const struct indirect_convolution *conv, const int64_t q[3]);

/* The n chunks of a convolution with a pooling. With has_windows, they consist of units of `unit`
 * windows: one window, or a row of windows. Otherwise a chunk has n_rows x n_columns positions, and
 * n_across chunks lie side by side. */
struct pooled_chunks {
    size_t n, unit, n_units, n_across, n_rows, n_columns;
};
struct pooled_chunks indirect_convolution_pooled_chunks(const struct indirect_convolution *conv);

/* Returns whether micro-kernels can store the maxima of windows. */
bool indirect_convolution_stores_maxima(const struct indirect_convolution *conv,
                                        const float *bounds);

/* Sums [n_rows][n_columns][ld_sums] of the output positions from `row` and `column` on, to be
 * pooled. */
struct pooled_sums {
    const float *sums;
    size_t row, column, n_rows, n_columns;
};
void indirect_convolution_pool(const struct indirect_convolution *conv,
                               const struct pooled_sums *pooled, float *out);
/* Pools sums [n][positions of a window][ld_sums] of n windows. */
void indirect_convolution_pool_windows(const struct indirect_convolution *conv, const float *sums,
                                       size_t n, float *out);

/* Computes share `share` of n_shares, with channels in lanes. Reads the copy in job->scratch, or
 * job->in if is_in_place. Applies the epilogue if it is a map. */
void indirect_convolution_by_channels(const struct indirect_convolution *conv,
                                      const struct indirect_convolution_job *job, size_t share,
                                      size_t n_shares, float *sums);

/* Returns whether indirect_convolution_run_rows can compute the output. */
bool indirect_convolution_has_rows(const struct indirect_convolution *conv);

/* Computes rows begin ... end - 1 of the output. job->in and job->out are the addresses of row 0,
 * even if row 0 is not in memory. job->scratch has share_floats floats. */
void indirect_convolution_run_rows(const struct indirect_convolution *conv,
                                   const struct indirect_convolution_job *job, int64_t begin,
                                   int64_t end);

/* Computes one batch element. The result does not depend on the number of threads. */
void indirect_convolution_run(const struct indirect_convolution *conv,
                              const struct indirect_convolution_job *job);

#endif
