/* Dense products C = A * B with B packed into panels, which the product reads sequentially.
 * Constant weights are packed once (prepacked). The blocking is that of BLIS: a micro-kernel
 * computes mr x nr of C, over kc terms at a time, for mc rows at a time over all of B. Every sum
 * adds its terms in the order of k, whatever the number of rows, the layout and the level, so that
 * packing does not change results.
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
#define PANEL_MAX_WIDTH 6 /* groups in a panel */
#define GEMM_MAX_MR 8     /* rows of C that a micro-kernel computes */
/* A sum is added to C after at most this many terms: with 1024 terms in one f32 sum, the rounding
 * error would come close to the tolerance of a recurrent run. Even, because bf16 has pairs. */
#define GEMM_MAX_KC 512

/* Weights of more bytes do not stay in an L2 cache (0.5 to 2 MB): each product reads them again. */
#define L2_BYTES (1UL << 20)

/* The type of the elements of b. A micro-kernel widens f16 in registers. A product with bf16 rounds
 * a to bf16 too, to nearest even. Sums are f32 with all of them. */
enum weight_type { WEIGHTS_F32, WEIGHTS_F16, WEIGHTS_BF16 };

static inline size_t weight_bytes(enum weight_type type)
{
    return type == WEIGHTS_F32 ? sizeof(float) : sizeof(uint16_t);
}

/* c[row][column] = add[row][column] + sum over k of a[row][k] * b[k][column], for the mr
 * rows and groups of columns of the function. add may be c. With b of bf16, a has pairs of bf16:
 * two terms in the 4 bytes of a float, and lda counts pairs. */
struct gemm_args {
    size_t ahead; /* prefetch distance in bytes; 0: no prefetch */
    size_t k;
    size_t rows, n_groups; /* for tiles; otherwise they are constants of the function */
    const void *b;
    size_t b_group_bytes; /* for tiles: from one group of columns of b to the next */
    const float *a;
    size_t lda;
    const float *add;
    size_t ld_add; /* 0: the same row for all */
    float *c;
    size_t ldc;
};
typedef void gemm_microkernel_fn(const struct gemm_args *args);

/* Products in bf16 by tiles (tiles.h), of 1 to TILE_ROWS rows. b is padded with zeros to a multiple
 * of TILE_PAIRS pairs. */
struct gemm_tiles {
    gemm_microkernel_fn *multiply[PANEL_MAX_WIDTH + 1]; /* [groups] */
    tiles_end_fn *end;
};

/* A k x n matrix. A panel is `width` groups of columns. A micro-panel is nr_groups of them,
 * interleaved along k (nr = 16 * nr_groups), which the micro-kernel reads sequentially. With AMX
 * tiles, a micro-panel is one group, and the micro-kernel reads all groups of a panel, a tile of
 * each at a time. */
struct packed_matrix {
    size_t k, n_panels;
    size_t width;
    enum weight_type type;
    /* Rounds n elements of a row of a to bf16, for weights that are or were bf16: to pairs, or, if
     * type is f32, to floats. NULL: a is not rounded. */
    void (*round)(const void *from, void *to, size_t n);
    /* Set by packed_matrix_layout. */
    size_t step_k;     /* terms that are side by side in memory: two of bf16, otherwise one */
    size_t nr_groups;  /* divides width */
    size_t step_bytes; /* bytes from k to k + step_k */
    size_t kc;         /* sums are added to C every kc terms, at most GEMM_MAX_KC */
    bool prefetches;   /* the data does not stay in an L2 cache; or, with many rows, not in the
                        * quarter of it that other layers leave */
    size_t micropanel_bytes;
    size_t panel_bytes;
    size_t max_mr;
    gemm_microkernel_fn *microkernels[GEMM_MAX_MR + 1]; /* [rows] */
    const struct gemm_tiles *tiles;                     /* NULL: microkernels are used instead */
    const void *data;   /* [n_panels][width / nr_groups][k / step_k][nr_groups][16][step_k] */
    size_t first_panel; /* the panel that data begins with */
};

/* The micro-kernels of a level. One whose sums would not fit into registers is NULL. The one of one
 * group and one row always exists. */
struct gemm_microkernels {
    gemm_microkernel_fn *f32[PANEL_MAX_WIDTH + 1][GEMM_MAX_MR + 1]; /* [nr_groups][mr] */
    gemm_microkernel_fn *f16[PANEL_MAX_WIDTH + 1][GEMM_MAX_MR + 1];
    gemm_microkernel_fn *bf16[PANEL_MAX_WIDTH + 1][GEMM_MAX_MR + 1];
    bool has_f16;
    void (*round_pairs)(const void *from, void *to, size_t n); /* NULL: there is no bf16 */
    struct gemm_tiles tiles;
    /* The micro-kernels of another level, if they are faster for one or two rows; otherwise
     * NULL. */
    const struct gemm_microkernels *for_few_f16_rows;
    struct recurrent_cells cells;
};

/* Sets the type and `round` for weights stored as `source`: f32 where the level has no
 * micro-kernels for it. */
void packed_matrix_set_type(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                            enum weight_type source);

/* Chooses nr and the micro-kernels for products of `rows` rows (other numbers of rows work too),
 * and computes the layout and the size of the data. Returns false if a size overflows. */
bool packed_matrix_layout(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                          size_t rows, size_t *size_bytes);

/* Packs a group of 16 columns: column j is source[j * ld + k] for j < n_columns, otherwise zeros.
 * The source has any alignment. Its type is that of packed_b, or packed_b is f32. */
void packed_matrix_pack_group(const struct packed_matrix *packed_b, void *data, size_t panel,
                              size_t group, const void *source, enum weight_type source_type,
                              size_t ld, size_t n_columns);

/* Does the same for a row-major source: element k of column j is source[k * ld + j]. */
void packed_matrix_pack_columns(const struct packed_matrix *packed_b, void *data, size_t panel,
                                size_t group, const void *source, enum weight_type source_type,
                                size_t ld, size_t n_columns);

/* The product of any number of rows and the columns of one panel; the members are those of struct
 * gemm_args. The caller has rounded a. */
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

/* A thread calls this after its products of panels; see tiles_end_fn. */
void packed_gemm_end(const struct packed_matrix *packed_b);

/* The product of some panels of c (+)= a * weights, with an epilogue. c has n columns; the last
 * panel may have more. The product rounds a. */
struct packed_gemm {
    size_t begin, end; /* range of panels */
    bool is_added;     /* to c; otherwise to the bias */
    size_t m, n;
    const float *a;
    size_t lda;
    float *c;
    size_t ldc;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;                    /* index of c[0] in the output of the epilogue */
};
void packed_gemm(const struct packed_matrix *packed_b, const struct packed_gemm *matrix);

#endif
