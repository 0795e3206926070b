/* Packs constant operands of products.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/prepacked_matrix.h"

/* The width of the panels of large matrices, in groups of 16 columns. */
#define MAX_PANEL_WIDTH 4

static bool are_f32(const struct prepare *prepare)
{
    enum irrun_dtype a = prepare->in[0]->dtype, b = prepare->in[1]->dtype;
    return (a == IRRUN_F32 || a == IRRUN_F16) && (b == IRRUN_F32 || b == IRRUN_F16);
}

bool prepacked_matrix_is_allowed(const struct prepare *prepare)
{
    return kernels_may_pack(prepare->kernels) && are_f32(prepare);
}

enum weight_type prepare_weight_type(struct prepare *prepare, uint32_t i)
{
    enum irrun_dtype dtype = prepare_constant(prepare, i)->dtype;
    return dtype == IRRUN_F16 ? WEIGHTS_F16 : dtype == IRRUN_BF16 ? WEIGHTS_BF16 : WEIGHTS_F32;
}

bool prepacked_matrix_is_wanted(const struct prepare *prepare, size_t n)
{
    /* With fewer columns, padding would multiply the size. */
    return are_f32(prepare) && ((kernels_may_pack(prepare->kernels) && n >= PANEL_GROUP) ||
                                (kernels_must_pack(prepare->kernels) && n > 0));
}

/* Returns the width of panels in groups. A matrix of fewer groups has one narrower panel, so that
 * no group is only padding. If the registers cannot hold the sums of four groups, a panel of three
 * groups takes 6 % less time than one of four, which is computed two groups at a time. */
static size_t choose_width(const struct gemm_microkernels *kernels, size_t n_groups, size_t rows)
{
    size_t mr = rows < GEMM_MAX_MR ? rows : GEMM_MAX_MR;
    if (n_groups > 0 && n_groups < MAX_PANEL_WIDTH)
        return n_groups;
    return n_groups % 3 == 0 && !kernels->f32[4][mr] && kernels->f32[3][mr] ? 3 : MAX_PANEL_WIDTH;
}

bool packed_matrix_plan(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                        size_t k, size_t n, size_t rows, size_t *size_bytes)
{
    size_t n_groups = divide_up(n, PANEL_GROUP);
    size_t width = choose_width(kernels, n_groups, rows);
    *packed_b = (struct packed_matrix){.k = k,
                                       .n_panels = divide_up(n_groups, width),
                                       .width = width,
                                       .type = packed_b->type,
                                       .round = packed_b->round};
    return packed_matrix_layout(packed_b, kernels, rows, size_bytes);
}

/* Packs n_columns columns of a matrix that has n columns into a group. */
static void fill_group(const struct packed_matrix *packed_b, size_t group, const void *columns,
                       enum weight_type source, size_t n, size_t n_columns, bool is_transposed,
                       void *data)
{
    size_t panel = group / packed_b->width, place = group % packed_b->width;
    if (is_transposed)
        packed_matrix_pack_group(packed_b, data, panel, place, columns, source, packed_b->k,
                                 n_columns);
    else
        packed_matrix_pack_columns(packed_b, data, panel, place, columns, source, n, n_columns);
}

/* Returns the number of columns of a group, and sets *column to the first one. */
static size_t columns_of(size_t group, size_t n, size_t *column)
{
    size_t first = group * PANEL_GROUP, left = first < n ? n - first : 0;
    *column = left > 0 ? first : 0;
    return left < PANEL_GROUP ? left : PANEL_GROUP;
}

void packed_matrix_fill(const struct packed_matrix *packed_b, size_t begin, size_t end,
                        const void *matrix, enum weight_type source, size_t n, bool is_transposed,
                        void *data)
{
    size_t size = source != WEIGHTS_F32 ? sizeof(uint16_t) : sizeof(float), column;
    for (size_t group = begin * packed_b->width; group < end * packed_b->width; group++) {
        size_t n_columns = columns_of(group, n, &column);
        const void *from = (const char *)matrix + column * (is_transposed ? packed_b->k : 1) * size;
        fill_group(packed_b, group, from, source, n, n_columns, is_transposed, data);
    }
}

/* A row-major matrix is read in slices of about SLICE_BYTES. The rows per slice are a multiple of
 * SLICE_ROWS, the rows of an AMX tile. */
#define SLICE_BYTES ((size_t)256 << 10)
#define SLICE_ROWS ((size_t)2 * TILE_PAIRS)

/* Packs all columns, one slice of rows at a time. */
static bool fill_by_rows(struct prepare *prepare, uint32_t input,
                         const struct packed_matrix *packed_b, enum weight_type source, size_t n,
                         unsigned char *data)
{
    size_t max_rows = SLICE_BYTES / (n * sizeof(float)) / SLICE_ROWS * SLICE_ROWS;
    struct packed_matrix part = *packed_b;
    max_rows = max_rows > 0 ? max_rows : SLICE_ROWS;
    for (size_t first = 0; first < packed_b->k; first += part.k) {
        part.k = packed_b->k - first < max_rows ? packed_b->k - first : max_rows;
        const void *rows = prepare_elements(prepare, input, first * n, part.k * n);
        if (!rows)
            return false;
        packed_matrix_fill(&part, 0, part.n_panels, rows, source, n, false,
                           data + first / packed_b->step_k * packed_b->step_bytes);
    }
    return true;
}

/* Packs the matrix in parts, because prepare_elements may have to compute the elements. */
static bool fill_from_input(struct prepare *prepare, uint32_t input,
                            const struct packed_matrix *packed_b, enum weight_type source, size_t n,
                            bool is_transposed, void *data)
{
    size_t k = packed_b->k, column;
    if (!is_transposed)
        return fill_by_rows(prepare, input, packed_b, source, n, data);
    for (size_t group = 0; group < packed_b->n_panels * packed_b->width; group++) {
        size_t n_columns = columns_of(group, n, &column);
        const void *from = prepare_elements(prepare, input, column * k, n_columns * k);
        if (!from)
            return false;
        fill_group(packed_b, group, from, source, n, n_columns, true, data);
    }
    return true;
}

bool prepacked_matrix_pack(struct prepare *prepare, uint32_t input, size_t k, size_t n,
                           bool is_transposed, size_t rows, struct packed_matrix *packed_b)
{
    const struct gemm_microkernels *kernels = prepare->kernels->packed_gemm;
    enum weight_type source = prepare_weight_type(prepare, input);
    size_t size_bytes;
    bool is_new;
    packed_matrix_set_type(packed_b, kernels, source);
    if (!packed_matrix_plan(packed_b, kernels, k, n, rows, &size_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    void *data = prepare_prepacked(prepare, (uint32_t)packed_b->nr_groups, size_bytes, &is_new);
    if (data && is_new &&
        !fill_from_input(prepare, input, packed_b, source, n, is_transposed, data))
        return false;
    packed_b->data = data;
    return data != NULL;
}
