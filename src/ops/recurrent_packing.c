/* Which recurrent ops run on packed weights, and the packing: once per model, or in every run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/recurrent_common.h"

#include "base/checked.h"

/* Panels hold whole vectors of hidden units: small sizes grow when they are packed, up to so many
 * times where that is more than a few pages. */
#define MAX_GROWTH 4
#define FREE_BYTES (4u << 20)

static bool has_input(const struct prepare *prepare, uint32_t i)
{
    return i < prepare->n_inputs;
}

/* What the layout needs to know before the constants are there. */
static void begin(const struct prepare *prepare, struct recurrent_packed *packed)
{
    const struct recurrent_state *state = prepare->state;
    *packed = (struct recurrent_packed){
        .common = state->f32.common,
        .kernels = prepare->kernels->panels,
        .n_threads = team_n_threads(prepare->team),
        .has_peepholes = has_input(prepare, recurrent_family_of(prepare->op)->p),
    };
}

static bool has_sane_size(struct recurrent_packed *packed)
{
    const struct recurrent *common = &packed->common;
    double rows = (double)(common->n_directions * recurrent_n_gates(common) * common->hidden_size);
    double bytes = rows * (double)(common->input_size + common->hidden_size) * sizeof(float);

    if (common->batch == 0 || common->n_steps == 0 || !recurrent_packed_lay_out(packed))
        return false;
    return (double)packed->x_part_bytes + (double)packed->h_part_bytes <=
           MAX_GROWTH * bytes + FREE_BYTES;
}

static bool is_wanted(const struct prepare *prepare, struct recurrent_packed *packed)
{
    begin(prepare, packed);
    return kernels_may_pack(prepare->kernels) && has_sane_size(packed);
}

uint32_t recurrent_packs(const struct prepare *prepare, uint32_t constants)
{
    const struct recurrent_family *family = recurrent_family_of(prepare->op);
    const uint32_t weights[] = {family->w, family->r, family->b, family->p};
    struct recurrent_packed packed;
    uint32_t all = 0;

    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        if (!has_input(prepare, weights[i]))
            continue;
        enum irrun_dtype dtype = prepare->in[weights[i]]->dtype;
        if (dtype != IRRUN_F32 && dtype != IRRUN_F16)
            return 0;
        all |= 1U << weights[i];
    }
    return (all & ~constants) == 0 && is_wanted(prepare, &packed) ? all : 0;
}

/* A small constant as f32; NULL with *is_fine unchanged if there is no such input. */
static const float *vector_of(struct prepare *prepare, uint32_t i, bool *is_fine)
{
    if (!has_input(prepare, i))
        return NULL;
    const struct irrun_tensor *stored = prepare_constant(prepare, i);
    size_t n = (size_t)shape_n_elements(&stored->shape);
    const void *elements = prepare_elements(prepare, i, 0, n);
    float *copy = arena_alloc_array(prepare->arena, n, sizeof *copy, prepare->err);
    *is_fine &= elements && copy;
    if (elements && copy)
        convert_elements(stored->dtype, elements, IRRUN_F32, copy, n);
    return copy;
}

/* The matrices, which may be computed for this alone. */
static bool take_matrices(struct prepare *prepare, struct recurrent_weights *weights)
{
    const struct recurrent_family *family = recurrent_family_of(prepare->op);
    const struct irrun_tensor *w = prepare_constant(prepare, family->w);
    const struct irrun_tensor *r = prepare_constant(prepare, family->r);

    weights->w = prepare_elements(prepare, family->w, 0, (size_t)shape_n_elements(&w->shape));
    if (weights->w)
        weights->r = prepare_elements(prepare, family->r, 0, (size_t)shape_n_elements(&r->shape));
    return weights->r != NULL;
}

/* Layouts are told apart by what they depend on beside the op: the streams, and whether f16
 * stayed. */
static bool fill_parts(struct prepare *prepare, struct recurrent_packed *packed,
                       struct recurrent_weights *weights)
{
    bool is_x_new, is_h_new;
    uint32_t x_layout = (uint32_t)packed->w.stream << 1 | (uint32_t)packed->w.is_f16 << 16;
    uint32_t h_layout = 1U | (uint32_t)packed->r.stream << 1 |
                        (uint32_t)packed->r_reset.stream << 8 | (uint32_t)packed->r.is_f16 << 16;

    void *x_part = prepare_pack(prepare, x_layout, packed->x_part_bytes, &is_x_new);
    void *h_part = x_part ? prepare_pack(prepare, h_layout, packed->h_part_bytes, &is_h_new) : NULL;
    if (!h_part || ((is_x_new || is_h_new) && !take_matrices(prepare, weights)))
        return false;
    if (is_x_new)
        recurrent_packed_fill_x(packed, weights, x_part);
    if (is_h_new)
        recurrent_packed_fill_h(packed, weights, h_part);
    packed->x_part = x_part;
    packed->h_part = h_part;
    return true;
}

bool recurrent_pack(struct prepare *prepare)
{
    struct recurrent_state *state = prepare->state;
    const struct recurrent_family *family = recurrent_family_of(prepare->op);
    struct recurrent_packed *packed = &state->packed;
    bool is_fine = true;
    struct recurrent_weights weights = {
        .is_w_f16 = prepare_constant(prepare, family->w)->dtype == IRRUN_F16,
        .is_r_f16 = prepare_constant(prepare, family->r)->dtype == IRRUN_F16,
        .b = vector_of(prepare, family->b, &is_fine),
        .p = is_fine ? vector_of(prepare, family->p, &is_fine) : NULL,
    };
    state->n_runs = arena_alloc(prepare->arena, sizeof *state->n_runs, prepare->err);
    if (!is_fine || !state->n_runs)
        return false;
    begin(prepare, packed);
    packed->is_w_f16 = weights.is_w_f16;
    packed->is_r_f16 = weights.is_r_f16;
    if (!recurrent_packed_lay_out(packed))
        return fail_memory(prepare->err, SIZE_MAX);
    return fill_parts(prepare, packed, &weights);
}

/* Neither part may begin in the middle of a line. */
static size_t whole_lines(size_t size_bytes)
{
    return (size_bytes + 63) / 64 * 64;
}

/* Below so many rows of x packing takes longer than reading the weights row by row. */
#define PACK_FROM_ROWS 8

bool recurrent_packs_later(struct prepare *prepare)
{
    struct recurrent_state *state = prepare->state;
    const struct recurrent_family *family = recurrent_family_of(prepare->op);
    struct recurrent_packed *packed = &state->packed;

    if (!is_wanted(prepare, packed) || prepare->in[family->w]->dtype != IRRUN_F32 ||
        prepare->in[family->r]->dtype != IRRUN_F32)
        return false;
    packed->is_in_place = packed->common.batch * packed->common.n_steps < PACK_FROM_ROWS;
    if (!recurrent_packed_lay_out(packed))
        return false;
    state->packing_bytes = whole_lines(packed->x_part_bytes) + whole_lines(packed->h_part_bytes);
    return true;
}

struct recurrent_packed recurrent_pack_now(const struct recurrent_state *state,
                                           const struct recurrent_f32_tensors *tensors,
                                           void *scratch)
{
    const struct recurrent_weights weights = {
        .w = tensors->w, .r = tensors->r, .b = tensors->b, .p = tensors->p};
    struct recurrent_packed packed = state->packed;
    void *h_part = (unsigned char *)scratch + whole_lines(packed.x_part_bytes);

    recurrent_packed_fill_x(&packed, &weights, scratch);
    recurrent_packed_fill_h(&packed, &weights, h_part);
    packed.x_part = scratch;
    packed.h_part = h_part;
    return packed;
}
