/* The recurrent engine of f32 for constant weights: packed into panels, in f32 or as the f16 that
 * they were, by whoever plans; then chunks of steps are projected, and each step goes through the
 * panels of R with the cell behind each of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_RECURRENT_PACKED_H
#define IRRUN_KERNELS_RECURRENT_PACKED_H

#include "kernels/panels.h"
#include "kernels/recurrent.h"
#include "kernels/team.h"

/* Constant weights as struct recurrent_f32_tensors has them; w and r may be f16, and lie at any
 * address. */
struct recurrent_weights {
    const void *w, *r;
    bool is_w_f16, is_r_f16;
    const float *b, *p; /* NULL = zeros */
};

struct recurrent_packed {
    struct recurrent common;
    const struct panel_kernels *kernels;
    bool is_w_f16, is_r_f16, has_peepholes;
    bool
        is_in_place; /* W and R stay in the tensors of the run, f32; the parts hold the rest only */
    unsigned n_threads;          /* of the team at hand */
    const void *x_part, *h_part; /* packed */

    /* What follows is the layout. A panel holds `units` hidden units of every gate. */
    panel_cell_fn *cell;
    size_t units, n_panels;
    size_t columns;        /* of a panel: units * gates */
    bool resets_first;     /* GRU without linear_before_reset: two products a step */
    struct panels w, r;    /* of one direction; r without gate h for a GRU that resets first, … */
    struct panels r_reset; /* … whose gate h this is */
    size_t w_bytes, r_bytes, r_reset_bytes;
    /* The part of x: per direction W, and biases [n_panels][columns]. */
    size_t x_part_bytes;
    /* The part of h: per direction R, R of reset, then [n_panels][columns] of biases inside the
     * reset (GRU, linear_before_reset) or [n_panels][3][units] of peepholes. */
    size_t h_part_bytes;
    size_t x_direction_bytes, h_direction_bytes;
    size_t n_parts; /* of a direction: so many share its panels, and meet after every step */
    bool is_shared; /* with the team */
    size_t chunk_steps;
    size_t ld_x, ld_gates, ld_state; /* in floats, from row to row of what follows */
    /* Every direction has scratch memory of its own. In it stand, counted in floats: */
    size_t direction_floats;
    size_t x_at;           /* [chunk_steps][B][I] */
    size_t gates_at;       /* [chunk_steps][B][n_panels][columns] */
    size_t tile_at;        /* [n_parts][B][columns] */
    size_t h_at[2];        /* [B][H] */
    size_t c_at, reset_at; /* [B][H]; c: LSTM's, or z of a GRU that resets first */
    size_t scratch_bytes;
};

/* Fills the layout from what stands before it (the parts may be missing); false if sizes
 * overflow. */
bool recurrent_packed_lay_out(struct recurrent_packed *packed);

/* Fill the parts: x_part_bytes and h_part_bytes, 64-byte aligned. */
void recurrent_packed_fill_x(const struct recurrent_packed *packed,
                             const struct recurrent_weights *weights, void *x_part);
void recurrent_packed_fill_h(const struct recurrent_packed *packed,
                             const struct recurrent_weights *weights, void *h_part);

/* Where gate `gate` of a panel stands in the IR: LSTM's panels are f, i, c, o whatever the order
 * there. */
static inline size_t recurrent_place_of(const struct recurrent *common, size_t gate)
{
    return common->kind == RECURRENT_LSTM ? common->slots[gate] : gate;
}

/* Some gates of W or R where they lie. */
struct recurrent_rows {
    const float *weights; /* [D][G*H][k] */
    size_t k, direction;
    size_t begin, end; /* gates, in the order of the panels */
};
/* Their columns of a panel; what lies behind the last hidden unit becomes what is added. */
void recurrent_multiply_in_place(const struct recurrent_packed *packed,
                                 const struct recurrent_rows *rows,
                                 const struct panel_product *product);

/* Of the tensors, the weights are not looked at unless they are in place. scratch: scratch_bytes,
 * 64-byte aligned. *n_runs counts: panels are walked up and down in turn, so that what the caches
 * hold is used first. The number of threads and of runs changes no byte. */
void recurrent_packed_run(const struct recurrent_packed *packed,
                          const struct recurrent_f32_tensors *tensors, void *scratch,
                          unsigned *n_runs, struct team *team);

#endif
