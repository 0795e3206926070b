/* A constant matrix of an op in panels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/packed_matrix.h"

/* Panels are this many groups of 16 columns wide. */
#define PANEL_WIDTH 4

bool packed_matrix_is_wanted(const struct prepare *prepare, uint32_t a, uint32_t b, size_t n)
{
    const struct kernels *kernels = prepare->kernels;
    enum irrun_dtype a_dtype = prepare->in[a]->dtype, b_dtype = prepare->in[b]->dtype;
    bool is_f32 = (a_dtype == IRRUN_F32 || a_dtype == IRRUN_F16) &&
                  (b_dtype == IRRUN_F32 || b_dtype == IRRUN_F16);
    bool is_asked = kernels->gemm == IRRUN_GEMM_AUTO || kernels->gemm == IRRUN_GEMM_PACKED;
    /* Fewer columns would be padded to several times their size. */
    return is_asked && kernels->panels && is_f32 && n >= PANEL_GROUP;
}

bool packed_matrix_plan(struct panels *panels, const struct panel_kernels *kernels, size_t k,
                        size_t n, size_t rows, size_t *size_bytes)
{
    size_t columns = PANEL_WIDTH * PANEL_GROUP;
    bool is_f16 = panels->is_f16;
    *panels = (struct panels){.k = k,
                              .n_panels = n / columns + (n % columns != 0),
                              .width = PANEL_WIDTH,
                              .is_f16 = is_f16};
    return panels_finish(panels, kernels, rows, size_bytes);
}

void packed_matrix_fill(const struct panels *panels, const void *matrix, bool is_f16, size_t n,
                        bool is_transposed, void *data)
{
    size_t n_groups = panels->n_panels * PANEL_WIDTH;
    size_t size = is_f16 ? sizeof(uint16_t) : sizeof(float);

    for (size_t group = 0; group < n_groups; group++) {
        size_t column = group * PANEL_GROUP, left = column < n ? n - column : 0;
        size_t n_columns = left < PANEL_GROUP ? left : PANEL_GROUP;
        size_t first = left > 0 ? column * (is_transposed ? panels->k : 1) : 0;
        const void *from = (const char *)matrix + first * size;
        if (is_transposed)
            panels_pack_group(panels, data, group / PANEL_WIDTH, group % PANEL_WIDTH, from, is_f16,
                              panels->k, n_columns);
        else
            panels_pack_columns(panels, data, group / PANEL_WIDTH, group % PANEL_WIDTH, from,
                                is_f16, n, n_columns);
    }
}

bool packed_matrix_pack(struct prepare *prepare, uint32_t input, size_t k, size_t n,
                        bool is_transposed, size_t rows, struct panels *panels)
{
    const struct panel_kernels *kernels = prepare->kernels->panels;
    const struct irrun_tensor *matrix = prepare_constant(prepare, input);
    size_t size_bytes;
    bool is_new;

    if (!matrix)
        return false;
    bool is_f16 = matrix->dtype == IRRUN_F16;
    panels->is_f16 = is_f16 && kernels->f16[2][1] != NULL;
    if (!packed_matrix_plan(panels, kernels, k, n, rows, &size_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    void *data = prepare_pack(prepare, (uint32_t)panels->stream, size_bytes, &is_new);
    if (data && is_new)
        packed_matrix_fill(panels, matrix->data, is_f16, n, is_transposed, data);
    panels->data = data;
    return data != NULL;
}
