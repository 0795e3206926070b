/* Runs LSTM, GRU and RNN in f32. One product with W computes the input part of the gates for a
 * chunk of time steps. Each step then multiplies the state by R, panel by panel, and applies the
 * activations to the units of a panel immediately. Weights are prepacked panels, in f32 or in the
 * original f16 or bf16, or unpacked f32 for a GEMM.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_RECURRENT_F32_H
#define IRRUN_KERNELS_RECURRENT_F32_H

#include "kernels/packed_gemm.h"
#include "kernels/recurrent.h"
#include "kernels/thread_pool.h"

/* The weights of struct recurrent_f32_tensors; w and r may be f16 or bf16, with any alignment. */
struct recurrent_weights {
    const void *w, *r;
    const float *b, *p; /* NULL: zeros */
};

/* W, or some gates of R, of one direction. */
struct recurrent_matrix {
    size_t first_gate, n_gates;    /* in the order that panels use: f, i, c, o for LSTM */
    struct packed_matrix packed_b; /* the columns of a panel are [n_gates][units] */
    size_t packed_bytes;
    gemm_f32_fn *gemm;    /* NULL: the packed matrix is used */
    const float *weights; /* for `gemm`: all gates, [G*H][k] */
};

struct recurrent_f32 {
    struct recurrent common;
    const struct gemm_microkernels *kernels;
    gemm_f32_fn *project, *step; /* products with W and R in place, in f32; NULL: packed */
    bool has_one_panel;          /* a GEMM computes all hidden units at once */
    bool has_peepholes;
    enum weight_type w_type, r_type; /* types of the source weights */
    unsigned n_threads;              /* threads of the pool */
    const void *w_pack, *r_pack;     /* see recurrent_f32_pack_w, recurrent_f32_pack_r */

    /* The layout. A panel covers all gates of `units` hidden units. */
    recurrent_cell_fn *cell;
    size_t units, n_panels;
    /* Floats per panel of a row of gates: [G][units], rounded up to a whole group. */
    size_t columns;
    bool resets_first;               /* GRU without linear_before_reset: two products per step */
    struct recurrent_matrix w, r;    /* r: without gate h for a GRU that resets first */
    struct recurrent_matrix r_reset; /* gate h of such a GRU */
    size_t w_pack_bytes, r_pack_bytes, w_direction_bytes, r_direction_bytes;
    size_t n_workers; /* threads that share the panels of a direction */
    bool is_shared;   /* the thread pool is used */
    size_t chunk_steps;
    size_t ld_x, ld_gates, ld_state; /* floats from one row to the next of the arrays below */
    /* Each direction has its own part of the scratch memory. Offsets in this part, in floats: */
    size_t direction_floats;
    size_t x_at;                        /* [chunk_steps][B][I] */
    size_t gates_at;                    /* [chunk_steps][B][n_panels][columns] */
    size_t tile_at;                     /* [n_workers][B][columns] */
    size_t h_at, h_next_at;             /* [B][H] */
    size_t rounded_at, rounded_next_at; /* both h in bf16, if the product with R reads bf16 */
    size_t c_at, reset_at;              /* [B][H]; c of LSTM, or z of a GRU that resets first */
    size_t reset_rounded_at;
    size_t scratch_bytes;
};

/* Computes the layout from the members before it (w_pack and r_pack may be NULL). Returns false if
 * a size overflows. The size of the scratch memory depends on the chunk, not on T. */
bool recurrent_f32_lay_out(struct recurrent_f32 *engine);

/* Pack the weights into memory of w_pack_bytes and r_pack_bytes, 64-byte aligned. Per direction,
 * w_pack holds W and then biases [n_panels][columns]; r_pack holds R and then the biases inside the
 * reset, [n_panels][columns] (GRU with linear_before_reset), or the peepholes,
 * [n_panels][3][units]. */
void recurrent_f32_pack_w(const struct recurrent_f32 *engine,
                          const struct recurrent_weights *weights, void *w_pack);
void recurrent_f32_pack_r(const struct recurrent_f32 *engine,
                          const struct recurrent_weights *weights, void *r_pack);

/* Returns the position, in the weights of the IR, of gate `gate` of a panel. */
static inline size_t recurrent_gate_slot(const struct recurrent *common, size_t gate)
{
    return common->kind == RECURRENT_LSTM ? common->slots[gate] : gate;
}

/* Returns the number of floats of an array [n][units] whose last row is rounded up to a whole
 * group, because vector instructions may read past its end. */
static inline size_t recurrent_row_floats(size_t n, size_t units)
{
    return (n - 1) * units + (units + PANEL_GROUP - 1) / PANEL_GROUP * PANEL_GROUP;
}

/* Returns whether x or h must be rounded before it is multiplied by the matrix. */
static inline bool recurrent_matrix_rounds(const struct recurrent_matrix *matrix)
{
    return !matrix->gemm && matrix->packed_b.round;
}

/* Computes one panel of a product. The caller has already rounded product->a if necessary. */
void recurrent_multiply(const struct recurrent_f32 *engine, const struct recurrent_matrix *matrix,
                        const struct panel_product *product);

/* Runs all steps. Reads tensors->w and tensors->r only if they are not packed. `scratch` has
 * scratch_bytes bytes, 64-byte aligned. *n_runs is a counter that the caller keeps: even and odd
 * runs visit panels in opposite orders, so that cached panels are used first. Results depend on
 * neither the number of threads nor the number of runs. */
void recurrent_f32_run(const struct recurrent_f32 *engine,
                       const struct recurrent_f32_tensors *tensors, void *scratch, unsigned *n_runs,
                       struct thread_pool *pool);

#endif
