/* Convolution in f32 as an indirect GEMM: a product with the matrix that im2col would write,
 * without writing it. XNNPACK does this with channels innermost (NHWC); here every channel is a
 * plane (NCHW).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_INDIRECT_CONVOLUTION_H
#define IRRUN_KERNELS_INDIRECT_CONVOLUTION_H

#include "kernels/convolution.h"
#include "kernels/igemm_f32.h"
#include "kernels/thread_pool.h"

/* C = A * B, where A [M][K] is the filters and B [K][N] is what im2col would write. M is the output
 * channels, K the input channels times the taps (the elements of the kernel), N the output
 * positions. Row k of B is a channel, shifted by a tap, which is in memory already. An indirection
 * buffer has its offset, which the micro-kernel adds to the address of its positions.
 *
 *     channel, padded     rows of B, of 9: a kernel of 3 x 3, pads of 1
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
 * the phases of the output. They share B, are further rows of A, and their positions are stored s
 * apart. If the kernel is not a multiple of s, the later phases have one tap less and become a
 * separate subconvolution: a tap of zero would make NaN of an infinity.
 *
 * All this has positions in the lanes of vectors. Small outputs and strides waste lanes or copies;
 * for them the channels are in the lanes: a tile is one of the transpose of C, and its rows are any
 * output positions. The input is copied with its pads, or read in place if it has none. The same is
 * used if the channels are last in the input or in the output, which then consists of such tiles.
 *
 * If the kernel is 3 x 3, 1 x 3 or 3 x 1 and has neither strides nor dilations, Winograd's minimal
 * filtering may replace this: F(2 x 2, 3 x 3) computes 2 x 2 outputs from a tile of 4 x 4 elements
 * with 16 products instead of 36, one in each of 16 GEMMs. Every output still depends on its own
 * inputs only. But an infinity becomes NaN, so positions among which a sum is not finite are
 * computed again without Winograd. */

/* The part of B that a tile reads for this many terms stays in an L1 cache while all of A is read:
 * 128 rows of two cache lines are 16 KB. */
#define IGEMM_MAX_KC 128

#define MAX_SUBCONVOLUTIONS 8 /* long and short phases in each dimension */

/* One GEMM: the whole convolution, or, of a transposed one, the phases with the same taps. With
 * channels in lanes, a tile is mr positions, nr positions are a chunk (the part of the sums that is
 * computed before it is stored), and the numbers of tiles are not used. */
struct subconvolution {
    int64_t first_phase[3], n_phases[3];    /* of the output */
    int64_t first_tap[3];                   /* of window.kernel: it has all from there on */
    size_t mr, n_row_tiles;                 /* of the channels times phases of a group */
    size_t nr, n_column_tiles;              /* of the positions */
    size_t k, kc;                           /* c_in * taps, and how many are summed at a time */
    size_t first_indirection, first_weight; /* the start of its part of these */
    size_t first_position;                  /* with channels in lanes: of its first phase */
    size_t n_positions;                     /* with channels in lanes: of all its phases */
};

struct indirect_convolution {
    struct window window; /* from the input to positions */
    int64_t n_groups, c_in, c_out;
    bool is_transposed;
    bool is_by_channels; /* channels are in the lanes, not positions */
    const struct igemm_microkernels *microkernels;

    /* The output: position p of phase f is stored at p * out_stride + f - out_crop, if that is
     * in out. */
    int64_t out[3], out_stride[3], out_crop[3];
    int64_t kernel[3]; /* of the filters: all phases together */

    /* The padded copy, [n_groups][c_in][n_planes][plane]; if is_masked, plane is a channel of the
     * input as one row, and out is as well. */
    int64_t n_planes[3], plane[3], plane_stride[3];
    size_t channel_floats; /* of its planes, or of the input */
    size_t copy_floats;

    /* Channels in lanes: n_panels of them, as equal as can be. */
    bool is_in_place;         /* there is no copy */
    bool in_is_last, is_last; /* the channels of the input lie last, and so in the copy; those of
                                   the output do */
    size_t pixel_floats;      /* in the input or the copy, from pixel to pixel */
    size_t n_panels, n_vectors, ld_sums;

    /* Winograd: tiles of tile[0] x tile[1] elements, 4 or 1; tile[0] = 0: without. A chunk has
     * n_tiles at most, in whole rows. */
    size_t tile[2], n_row_tiles, n_tiles, tile_stride;
    size_t winograd_kc, winograd_indirection, winograd_position, winograd_weight;

    /* Instead of the copy. */
    bool is_masked;
    size_t mask_bytes;              /* of a tap: a bit for each position */
    int64_t min_offset, max_offset; /* in the indirection buffer */

    struct subconvolution subconvolutions[MAX_SUBCONVOLUTIONS];
    size_t n_subconvolutions;
    size_t acc_floats; /* of a thread: the sums of a column of tiles and their biases; with channels
                          in lanes those of a chunk, and room to transpose or transform it */
    size_t packed_floats;
    size_t n_indirections, n_positions;

    /* Set by indirect_convolution_fill. */
    const struct indirection *indirection; /* [n_indirections] */
    const unsigned char *masks;            /* [window.kernel][mask_bytes] */
    const int32_t *positions;              /* [n_positions]: in the copy */
};

/* Plans a convolution, without its buffers. Returns false if there is nothing to compute, a size
 * overflows, or it is a transposed convolution with dilations or negative pads. */
bool indirect_convolution_plan(struct indirect_convolution *conv,
                               const struct igemm_microkernels *microkernels,
                               const struct convolution *convolution, int64_t n_groups,
                               bool is_transposed, bool is_by_channels);

/* Adds Winograd's filtering to a plan with channels in lanes; returns false if it does not
 * apply. */
bool indirect_convolution_plan_winograd(struct indirect_convolution *conv);

/* Returns the cost without the copy, in the unit of indirect_convolution_choose. */
double winograd_cost(const struct indirect_convolution *conv);

/* Plans the fastest way. Also returns false if the direct loops are faster. */
bool indirect_convolution_choose(struct indirect_convolution *conv,
                                 const struct igemm_microkernels *microkernels,
                                 const struct convolution *convolution, int64_t n_groups,
                                 bool is_transposed);

/* Computes the scratch memory of indirect_convolution_run; returns false if the size overflows. */
bool indirect_convolution_scratch(const struct indirect_convolution *conv, unsigned n_threads,
                                  size_t *n_bytes);

/* Fills the indirections, the positions and, if it is masked, the masks of all taps. The memory
 * must be zeroed, and must outlive conv. */
void indirect_convolution_fill(struct indirect_convolution *conv, struct indirection *indirection,
                               int32_t *positions, unsigned char *masks);

/* Packs the weights: [n_groups][c_out][c_in][kernel], or [n_groups][c_in][c_out][kernel] of a
 * transposed convolution, of f32 or f16, at any address. packed: of each subconvolution
 * [n_groups][k / kc][n_row_tiles][kc][mr], or, with channels in lanes,
 * [n_groups][phases][k / kc][n_panels][kc][channels]. */
void indirect_convolution_pack(const struct indirect_convolution *conv, const void *weights,
                               bool is_f16, float *packed);

/* Returns the number of output positions in each dimension of a plane. */
static inline const int64_t *indirect_convolution_positions(const struct indirect_convolution *conv)
{
    return conv->is_masked ? conv->plane : conv->window.out;
}

/* Transforms the taps of a filter and a channel to the elements of a tile. The weights of
 * Winograd's GEMMs follow the others: [n_groups][elements][c_in / kc][n_panels][kc][channels]. */
void winograd_transform_weights(const struct indirect_convolution *conv, const float *taps,
                                float *elements);

/* A product for any positions, with channels in lanes. */
struct channels_product {
    size_t k, kc, mr, n; /* n positions */
    const float *a;
    const struct indirection *indirection;
    const int32_t *positions;
    const float *packed;
    const float *biases; /* NULL: zeros */
    const float *bounds; /* as in igemm_channels_args */
    float *sums;         /* [n][ld_sums] */
};
void indirect_convolution_multiply(const struct indirect_convolution *conv,
                                   const struct channels_product *product);

/* Computes n_rows rows of the output from `row` on, [n_rows][row][ld_sums], by Winograd's
 * filtering. `memory` is for the transforms. Returns false if a sum is not finite. */
bool winograd_run(const struct indirect_convolution *conv, const float *in, const float *packed,
                  const float *biases, size_t row, size_t n_rows, float *memory, float *sums);

/* Returns the number of vectors in the panels before this one. */
static inline size_t panel_begin(const struct indirect_convolution *conv, size_t panel)
{
    return conv->n_vectors * panel / conv->n_panels;
}

/* Computes how many taps of window.kernel a subconvolution has. */
void subconvolution_taps(const struct indirect_convolution *conv, const struct subconvolution *sub,
                         int64_t n_taps[3]);

/* Phase `number` of a subconvolution: it has positions begin ... begin + n - 1 of each dimension
 * that are in out. */
struct phase {
    int64_t at[3], begin[3], n[3];
};
struct phase subconvolution_phase(const struct indirect_convolution *conv,
                                  const struct subconvolution *sub, int64_t number);

/* One batch element. */
struct indirect_convolution_job {
    const float *in;           /* [n_groups][c_in][in] */
    size_t n_before, n_behind; /* floats around it that can be read */
    const float *packed;       /* by indirect_convolution_pack */
    float *out;                /* [n_groups][c_out][out] */
    float *scratch;
    struct thread_pool *pool;
    const struct epilogue *epilogue; /* NULL: none. Else out is its element `first` */
    size_t first;
};

/* A thread's share with channels in lanes, of the input as it is copied or lies. With an epilogue
 * that is a map. */
void indirect_convolution_by_channels(const struct indirect_convolution *conv,
                                      const struct indirect_convolution_job *job, size_t share,
                                      size_t n_shares, float *sums);

/* The same bytes for any thread pool. */
void indirect_convolution_run(const struct indirect_convolution *conv,
                              const struct indirect_convolution_job *job);

#endif
