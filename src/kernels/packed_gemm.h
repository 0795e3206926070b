/* Dense products C = A * B, where B is packed into panels that the micro-kernels read sequentially.
 * Constant weights are packed once (prepacked). The blocking is that of BLIS: a micro-kernel
 * computes a tile of mr x nr of C over kc terms, and all of B is multiplied by mc rows of A at a
 * time. Every sum adds its terms in the order of k, regardless of the number of rows, the layout
 * and the level, so that packing does not change results.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_PACKED_GEMM_H
#define IRRUN_KERNELS_PACKED_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/epilogue.h"
#include "kernels/gemm.h"
#include "kernels/recurrent_cells.h"
#include "kernels/tiles.h"

/* Columns are packed in groups of 16: a cache line of f32, one vector of AVX-512 or two of AVX2. */
#define PANEL_GROUP 16
#define PANEL_MAX_WIDTH 6 /* maximum groups per panel */
#define GEMM_MAX_MR 8     /* maximum rows of C per call of a micro-kernel */
/* The maximum number of terms of an f32 sum before it is added to C: with 1024 terms, the rounding
 * error would come close to the tolerance of recurrent ops. Even, because bf16 terms come in
 * pairs. */
#define GEMM_MAX_KC 512

/* Larger weights are assumed not to stay in an L2 cache (0.5 to 2 MB), so that each product reads
 * them again. */
#define L2_BYTES (1UL << 20)

/* The type of the elements of b. Micro-kernels convert f16 to f32 in registers. Products with a
 * bf16 matrix also round a to bf16, to nearest even. Sums are always f32. */
enum weight_type { WEIGHTS_F32, WEIGHTS_F16, WEIGHTS_BF16 };

static inline size_t weight_bytes(enum weight_type type)
{
    return type == WEIGHTS_F32 ? sizeof(float) : sizeof(uint16_t);
}

/* c[row][column] = add[row][column] + sum over k of a[row][k] * b[k][column], for the rows and
 * groups of columns that the micro-kernel computes. add may be c. If b is bf16, a holds bf16 pairs,
 * two terms in the 4 bytes of a float, and lda counts pairs. */
struct gemm_args {
    size_t ahead; /* prefetch distance in bytes; 0: no prefetch */
    size_t k;
    size_t rows, n_groups; /* for AMX tiles; otherwise constants of the micro-kernel */
    const void *b;
    size_t b_group_bytes; /* for AMX tiles: bytes from one group of columns of b to the next */
    const float *a;
    size_t lda;
    const float *add;
    size_t ld_add; /* 0: the same row of `add` for all rows */
    float *c;
    size_t ldc;
};
typedef void gemm_microkernel_fn(const struct gemm_args *args);

/* Micro-kernels for bf16 with AMX tiles (tiles.h), for 1 to TILE_ROWS rows. b is padded with zeros
 * to a multiple of TILE_PAIRS pairs. */
struct gemm_tiles {
    gemm_microkernel_fn *multiply[PANEL_MAX_WIDTH + 1]; /* [groups] */
    tiles_end_fn *end;
};

/* A packed k x n matrix. A panel consists of `width` groups of columns. A micro-panel consists of
 * nr_groups of these groups, interleaved along k (nr = 16 * nr_groups); a micro-kernel reads it
 * sequentially. With AMX tiles, a micro-panel is one group, and the micro-kernel reads all groups
 * of a panel, one tile of each group at a time. */
struct packed_matrix {
    size_t k, n_panels;
    size_t width;
    enum weight_type type;
    /* Rounds n elements of a row of a to bf16: to pairs if `type` is bf16; to floats if bf16
     * weights were converted to f32. NULL: a is not rounded. */
    void (*round)(const void *from, void *to, size_t n);
    /* Set by packed_matrix_layout. */
    /* Terms of a column that are adjacent in memory: two for bf16, otherwise one. */
    size_t step_k;
    size_t nr_groups;  /* divides width */
    size_t step_bytes; /* bytes from k to k + step_k */
    size_t kc;         /* terms after which sums are added to C, at most GEMM_MAX_KC */
    /* The matrix is prefetched: it does not stay in an L2 cache or, with many rows, in a quarter of
     * it. */
    bool prefetches;
    size_t micropanel_bytes;
    size_t panel_bytes;
    size_t max_mr;
    gemm_microkernel_fn *microkernels[GEMM_MAX_MR + 1]; /* [rows] */
    const struct gemm_tiles *tiles;                     /* NULL: microkernels are used instead */
    const void *data;   /* [n_panels][width / nr_groups][k / step_k][nr_groups][16][step_k] */
    size_t first_panel; /* the panel with which `data` begins */
};

/* The micro-kernels of a level; NULL if the sums would not fit into registers. The micro-kernel for
 * one group and one row always exists. */
struct gemm_microkernels {
    gemm_microkernel_fn *f32[PANEL_MAX_WIDTH + 1][GEMM_MAX_MR + 1]; /* [nr_groups][mr] */
    gemm_microkernel_fn *f16[PANEL_MAX_WIDTH + 1][GEMM_MAX_MR + 1];
    gemm_microkernel_fn *bf16[PANEL_MAX_WIDTH + 1][GEMM_MAX_MR + 1];
    bool has_f16;
    void (*round_pairs)(const void *from, void *to, size_t n); /* NULL: the level has no bf16 */
    struct gemm_tiles tiles;
    /* The micro-kernels of a lower level, if they are faster for one or two rows; otherwise
     * NULL. */
    const struct gemm_microkernels *for_few_f16_rows;
    struct recurrent_cells cells;
};

/* Sets packed_b->type and packed_b->round for weights stored as `source`. The type is f32 if the
 * level has no micro-kernels for `source`. */
void packed_matrix_set_type(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                            enum weight_type source);

/* Chooses nr and the micro-kernels that are best for `rows` rows (products of more or fewer rows
 * work, too), and computes the layout and the size of the data. Returns false if a size
 * overflows. */
bool packed_matrix_layout(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                          size_t rows, size_t *size_bytes);

/* Packs a group of 16 columns: element k of column j is source[j * ld + k] for j < n_columns,
 * otherwise 0. The source may have any alignment. source_type is packed_b->type unless the latter
 * is f32. */
void packed_matrix_pack_group(const struct packed_matrix *packed_b, void *data, size_t panel,
                              size_t group, const void *source, enum weight_type source_type,
                              size_t ld, size_t n_columns);

/* Does the same for a row-major source: element k of column j is source[k * ld + j]. */
void packed_matrix_pack_columns(const struct packed_matrix *packed_b, void *data, size_t panel,
                                size_t group, const void *source, enum weight_type source_type,
                                size_t ld, size_t n_columns);

/* The product of any number of rows and one panel. Members are as in struct gemm_args. The caller
 * has already rounded a if packed_b->round is set. */
struct panel_product {
    size_t panel, rows;
    const float *a;
    size_t lda;
    const float *add;
    size_t ld_add;
    float *c;
    size_t ldc;
};
void packed_gemm_panel(const struct packed_matrix *packed_b, const struct panel_product *product);

/* Releases the AMX tiles. Each thread calls this after its last packed_gemm_panel; see
 * tiles_end_fn. */
void packed_gemm_end(const struct packed_matrix *packed_b);

/* The product c (+)= a * packed_b for some panels, with an epilogue. c has n columns; the last
 * panel may extend past them. packed_gemm rounds a if packed_b->round is set. */
struct packed_gemm {
    size_t begin, end; /* panels to multiply by */
    bool is_added;     /* adds the product to c; otherwise to the bias */
    size_t m, n;
    const float *a;
    size_t lda;
    float *c;
    size_t ldc;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;                    /* index of c[0] in the output of the epilogue */
};
void packed_gemm(const struct packed_matrix *packed_b, const struct packed_gemm *gemm);

#endif
