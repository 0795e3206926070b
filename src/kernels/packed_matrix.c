/* Chooses the layout of the packed matrices of packed_gemm.h, and packs them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/packed_gemm.h"

#include <string.h>

#include "base/checked.h"
#include "kernels/pack_transpose.h"
#include "tensor/half.h"

#define FEW_ROWS 2    /* maximum number of rows for which for_few_f16_rows is used */
#define ENOUGH_ROWS 6 /* rows of a micro-kernel that are enough if the rows need several calls */

/* The minimum number of terms for AMX tiles; with fewer, most of a tile would be zeros. */
#define TILES_MIN_K 32

/* Returns the width, in groups, of the widest micro-panel that has a micro-kernel for this many
 * rows, or for ENOUGH_ROWS if there are more than GEMM_MAX_MR rows. */
static size_t choose_nr_groups(const struct gemm_microkernels *kernels, size_t width, size_t rows)
{
    size_t nr_groups = width;
    rows = rows <= GEMM_MAX_MR ? rows : ENOUGH_ROWS;
    while (nr_groups > 1 && (width % nr_groups != 0 || !kernels->f32[nr_groups][rows]))
        nr_groups--;
    return nr_groups;
}

/* Returns the size in bytes of step_k terms of a column: of an element or a bf16 pair. */
static size_t element_bytes(const struct packed_matrix *packed_b)
{
    return packed_b->step_k * weight_bytes(packed_b->type);
}

/* Returns the number of steps of step_k terms, including those that pad a tile. */
static size_t count_steps(const struct packed_matrix *packed_b)
{
    size_t n = packed_b->k / packed_b->step_k + packed_b->k % packed_b->step_k;
    return packed_b->tiles ? divide_up(n, TILE_PAIRS) * TILE_PAIRS : n;
}

void packed_matrix_set_type(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                            enum weight_type source)
{
    bool has_type = source == WEIGHTS_BF16 ? kernels->round_pairs != NULL : kernels->has_f16;
    packed_b->type = has_type ? source : WEIGHTS_F32;
    packed_b->round = source != WEIGHTS_BF16 ? NULL
                      : has_type             ? kernels->round_pairs
                                             : bf16_round_n;
}

static void set_microkernels(struct packed_matrix *packed_b,
                             const struct gemm_microkernels *kernels)
{
    gemm_microkernel_fn *const *by_rows =
        (packed_b->type == WEIGHTS_BF16  ? kernels->bf16
         : packed_b->type == WEIGHTS_F16 ? kernels->f16
                                         : kernels->f32)[packed_b->nr_groups];
    packed_b->max_mr = 0;
    for (size_t rows = 1; rows <= GEMM_MAX_MR; rows++) {
        packed_b->microkernels[rows] = by_rows[rows];
        if (by_rows[rows])
            packed_b->max_mr = rows;
    }
    if (packed_b->tiles)
        packed_b->max_mr = TILE_ROWS;
}

bool packed_matrix_layout(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                          size_t rows, size_t *size_bytes)
{
    size_t n_blocks = divide_up(packed_b->k, GEMM_MAX_KC);
    enum weight_type type = packed_b->type;

    if (type == WEIGHTS_F16 && rows <= FEW_ROWS && kernels->for_few_f16_rows)
        kernels = kernels->for_few_f16_rows;
    bool has_tiles =
        type == WEIGHTS_BF16 && packed_b->k >= TILES_MIN_K && tiles_request(kernels->tiles.end);
    packed_b->tiles = has_tiles ? &kernels->tiles : NULL;
    packed_b->nr_groups = has_tiles ? 1 : choose_nr_groups(kernels, packed_b->width, rows);
    set_microkernels(packed_b, kernels);
    packed_b->step_k = type == WEIGHTS_BF16 ? 2 : 1;
    packed_b->step_bytes = packed_b->nr_groups * PANEL_GROUP * element_bytes(packed_b);
    packed_b->kc = n_blocks > 1 ? divide_up(packed_b->k, n_blocks) : packed_b->k;
    /* Every block of kc terms except the last consists of whole steps or tiles. */
    size_t step = packed_b->tiles ? 2 * TILE_PAIRS : packed_b->step_k;
    packed_b->kc += n_blocks > 1 && packed_b->kc % step > 0 ? step - packed_b->kc % step : 0;
    bool is_done =
        checked_mul(packed_b->step_bytes, count_steps(packed_b), &packed_b->micropanel_bytes) &&
        checked_mul(packed_b->width / packed_b->nr_groups, packed_b->micropanel_bytes,
                    &packed_b->panel_bytes) &&
        checked_mul(packed_b->n_panels, packed_b->panel_bytes, size_bytes);
    packed_b->prefetches =
        is_done && *size_bytes > (rows > 2 * packed_b->max_mr ? L2_BYTES / 4 : L2_BYTES);
    return is_done;
}

/* Packs a block with fewer than 16 columns or elements; the rest of the block becomes zero. */
static void pack_edge(unsigned char *to, size_t to_step, const unsigned char *from,
                      size_t from_step, size_t n_columns, size_t n, size_t size)
{
    unsigned char block[PANEL_GROUP][PANEL_GROUP * sizeof(float)] = {{0}};

    for (size_t j = 0; j < n_columns; j++)
        for (size_t i = 0; i < n; i++)
            memcpy(block[i] + j * size, from + j * from_step + i * size, size);
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * to_step, block[i], PANEL_GROUP * size);
}

/* Zeros what follows the last whole step of a group: an incomplete pair, and the pairs that pad a
 * tile. */
static void zero_pads(const struct packed_matrix *packed_b, unsigned char *to)
{
    for (size_t i = packed_b->k / packed_b->step_k; i < count_steps(packed_b); i++)
        memset(to + i * packed_b->step_bytes, 0, PANEL_GROUP * element_bytes(packed_b));
}

/* Packs n_columns rows of the source, of any alignment, as columns. Transposes 16 elements of each
 * row at a time: a cache line of f32, so that every line of the source is read once. A bf16 pair is
 * treated as a 32-bit element; the last pair may be incomplete. */
static void pack_rows(const struct packed_matrix *packed_b, unsigned char *to,
                      const unsigned char *from, size_t from_step, size_t n_columns)
{
    size_t size = element_bytes(packed_b);

    zero_pads(packed_b, to);
    for (size_t left = packed_b->k / packed_b->step_k; left > 0;) {
        size_t n = left < PANEL_GROUP ? left : PANEL_GROUP;
        if (n_columns == PANEL_GROUP && n == PANEL_GROUP)
            (size == sizeof(uint16_t) ? pack_transpose_f16 : pack_transpose_f32)(
                from, from_step, to, packed_b->step_bytes);
        else
            pack_edge(to, packed_b->step_bytes, from, from_step, n_columns, n, size);
        left -= n;
        to += n * packed_b->step_bytes;
        from += n * size;
    }
    for (size_t j = 0; j < n_columns && packed_b->k % packed_b->step_k > 0; j++)
        memcpy(to + j * size, from + j * from_step, sizeof(uint16_t));
}

/* The number of elements of each column that are converted to f32 at a time. */
#define WIDENED 64

static void widen(enum weight_type type, const void *from, void *to, size_t n)
{
    (type == WEIGHTS_BF16 ? bf16_to_f32_n : f16_to_f32_n)(from, to, n);
}

/* As pack_rows, but converts f16 or bf16 to a packed matrix of f32. */
static void pack_widened(const struct packed_matrix *packed_b, unsigned char *to,
                         const unsigned char *from, enum weight_type type, size_t from_step,
                         size_t n_columns)
{
    float block[PANEL_GROUP][WIDENED];
    struct packed_matrix part = *packed_b;

    for (size_t first = 0; first < packed_b->k; first += WIDENED) {
        part.k = packed_b->k - first < WIDENED ? packed_b->k - first : WIDENED;
        for (size_t j = 0; j < n_columns; j++)
            widen(type, from + j * from_step + first * sizeof(uint16_t), block[j], part.k);
        pack_rows(&part, to + first * packed_b->step_bytes, (const unsigned char *)block,
                  sizeof block[0], n_columns);
    }
}

/* Returns the byte offset of a group of columns. */
static size_t group_at(const struct packed_matrix *packed_b, size_t panel, size_t group)
{
    return panel * packed_b->panel_bytes +
           group / packed_b->nr_groups * packed_b->micropanel_bytes +
           group % packed_b->nr_groups * PANEL_GROUP * element_bytes(packed_b);
}

void packed_matrix_pack_group(const struct packed_matrix *packed_b, void *data, size_t panel,
                              size_t group, const void *source, enum weight_type source_type,
                              size_t ld, size_t n_columns)
{
    unsigned char *to = (unsigned char *)data + group_at(packed_b, panel, group);

    if (source_type != packed_b->type)
        pack_widened(packed_b, to, source, source_type, ld * sizeof(uint16_t), n_columns);
    else
        pack_rows(packed_b, to, source, ld * weight_bytes(source_type), n_columns);
}

/* Interleaves two rows of bf16, or one row with zeros if `odd` is NULL. */
static void pack_pairs(unsigned char *to, const unsigned char *even, const unsigned char *odd,
                       size_t n_columns)
{
    memset(to, 0, PANEL_GROUP * 2 * sizeof(uint16_t));
    for (size_t j = 0; j < n_columns; j++) {
        memcpy(to + 4 * j, even + 2 * j, sizeof(uint16_t));
        if (odd)
            memcpy(to + 4 * j + 2, odd + 2 * j, sizeof(uint16_t));
    }
}

void packed_matrix_pack_columns(const struct packed_matrix *packed_b, void *data, size_t panel,
                                size_t group, const void *source, enum weight_type source_type,
                                size_t ld, size_t n_columns)
{
    size_t group_bytes = PANEL_GROUP * element_bytes(packed_b);
    size_t source_bytes = weight_bytes(source_type), row_bytes = ld * source_bytes;
    unsigned char *to = (unsigned char *)data + group_at(packed_b, panel, group);
    const unsigned char *from = source;

    zero_pads(packed_b, to);
    for (size_t k = 0; k < packed_b->k; k += packed_b->step_k) {
        if (n_columns < PANEL_GROUP)
            memset(to, 0, group_bytes);
        if (source_type != packed_b->type)
            widen(source_type, from, to, n_columns);
        else if (source_type == WEIGHTS_BF16)
            pack_pairs(to, from, k + 1 < packed_b->k ? from + row_bytes : NULL, n_columns);
        else if (n_columns == PANEL_GROUP && source_type == WEIGHTS_F32) /* memcpy is inlined */
            memcpy(to, from, PANEL_GROUP * sizeof(float));
        else
            memcpy(to, from, n_columns * source_bytes);
        to += packed_b->step_bytes;
        from += packed_b->step_k * row_bytes;
    }
}
