/* Prepares the weights of an f32 recurrent op: packs them once per model or in every run, or leaves
 * them in place for a GEMM.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/recurrent_op.h"

#include "base/checked.h"
#include "ops/prepacked_matrix.h"

/* Panels are padded to whole vectors of hidden units, so packing enlarges small matrices. The
 * packed weights may take at most MAX_GROWTH times the size of the weights, plus EXTRA_BYTES. */
#define MAX_GROWTH 4
#define EXTRA_BYTES (4u << 20)

/* Returns a struct in which the members that do not depend on the route are set. */
static struct recurrent_f32 describe_f32(const struct prepare *prepare)
{
    const struct recurrent_state *state = prepare->state;
    return (struct recurrent_f32){
        .common = state->f32.common,
        .kernels = prepare->kernels->packed_gemm,
        .n_threads = thread_pool_n_threads(prepare->pool),
        .has_peepholes = recurrent_family_of(prepare->op)->p < prepare->n_inputs,
    };
}

/* Returns whether the packed weights stay within the limit above. */
static bool packs_fit(const struct prepare *prepare)
{
    struct recurrent_f32 engine = describe_f32(prepare);
    const struct recurrent *common = &engine.common;
    double rows = (double)(common->n_directions * recurrent_n_gates(common) * common->hidden_size);
    double bytes = rows * (double)(common->input_size + common->hidden_size) * sizeof(float);
    return common->batch > 0 && common->n_steps > 0 && recurrent_f32_lay_out(&engine) &&
           (double)engine.w_pack_bytes + (double)engine.r_pack_bytes <=
               MAX_GROWTH * bytes + EXTRA_BYTES;
}

uint32_t recurrent_prepacks(const struct prepare *prepare, uint32_t constants)
{
    const struct recurrent_family *family = recurrent_family_of(prepare->op);
    const uint32_t weights[] = {family->w, family->r, family->b, family->p};
    uint32_t all = 0;
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        if (weights[i] >= prepare->n_inputs)
            continue;
        enum irrun_dtype dtype = prepare->in[weights[i]]->dtype;
        if (dtype != IRRUN_F32 && dtype != IRRUN_F16)
            return 0;
        all |= 1U << weights[i];
    }
    bool may_pack = kernels_may_pack(prepare->kernels) || kernels_must_pack(prepare->kernels);
    return (all & ~constants) == 0 && may_pack && packs_fit(prepare) ? all : 0;
}

/* Copies the biases or peepholes as f32. Returns NULL if the op has none. On failure, sets *is_ok
 * to false. */
static const float *copy_vector(struct prepare *prepare, uint32_t i, bool *is_ok)
{
    if (i >= prepare->n_inputs)
        return NULL;
    const struct irrun_tensor *stored = prepare_constant(prepare, i);
    size_t n = (size_t)shape_n_elements(&stored->shape);
    const void *elements = prepare_elements(prepare, i, 0, n);
    float *copy = arena_alloc_array(prepare->arena, n, sizeof *copy, prepare->err);
    *is_ok &= elements && copy;
    if (elements && copy)
        convert_elements(stored->dtype, elements, IRRUN_F32, copy, n);
    return copy;
}

/* Reads W and R. Computes them first if they are results of constant ops. */
static bool read_matrices(struct prepare *prepare, struct recurrent_weights *weights)
{
    const struct recurrent_family *family = recurrent_family_of(prepare->op);
    const struct irrun_tensor *w = prepare_constant(prepare, family->w);
    const struct irrun_tensor *r = prepare_constant(prepare, family->r);
    weights->w = prepare_elements(prepare, family->w, 0, (size_t)shape_n_elements(&w->shape));
    if (weights->w)
        weights->r = prepare_elements(prepare, family->r, 0, (size_t)shape_n_elements(&r->shape));
    return weights->r != NULL;
}

/* Finds the packed W and R of the op, or packs them. The number of a layout combines the matrix (W
 * or R), the groups of columns in a panel (nr_groups in packed_gemm.h) and the type of the
 * weights. */
static bool find_packs(struct prepare *prepare, struct recurrent_f32 *engine,
                       struct recurrent_weights *weights)
{
    bool is_w_new, is_r_new;
    const struct packed_matrix *w = &engine->w.packed_b, *r = &engine->r.packed_b;
    uint32_t w_layout = (uint32_t)w->nr_groups << 1 | (uint32_t)w->type << 16;
    uint32_t r_layout = 1U | (uint32_t)r->nr_groups << 1 |
                        (uint32_t)engine->r_reset.packed_b.nr_groups << 8 | (uint32_t)r->type << 16;
    void *w_pack = prepare_prepacked(prepare, w_layout, engine->w_pack_bytes, &is_w_new);
    void *r_pack =
        w_pack ? prepare_prepacked(prepare, r_layout, engine->r_pack_bytes, &is_r_new) : NULL;
    if (!r_pack || ((is_w_new || is_r_new) && !read_matrices(prepare, weights)))
        return false;
    if (is_w_new)
        recurrent_f32_pack_w(engine, weights, w_pack);
    if (is_r_new)
        recurrent_f32_pack_r(engine, weights, r_pack);
    engine->w_pack = w_pack;
    engine->r_pack = r_pack;
    return true;
}

bool recurrent_prepack(struct prepare *prepare)
{
    struct recurrent_state *state = prepare->state;
    const struct recurrent_family *family = recurrent_family_of(prepare->op);
    bool is_ok = true;
    struct recurrent_weights weights = {
        .b = copy_vector(prepare, family->b, &is_ok),
        .p = is_ok ? copy_vector(prepare, family->p, &is_ok) : NULL,
    };
    if (!is_ok)
        return false;
    state->route = RECURRENT_PREPACKED;
    state->f32 = describe_f32(prepare);
    state->f32.w_type = prepare_weight_type(prepare, family->w);
    state->f32.r_type = prepare_weight_type(prepare, family->r);
    if (!recurrent_f32_lay_out(&state->f32))
        return fail_memory(prepare->err, SIZE_MAX);
    return find_packs(prepare, &state->f32, &weights);
}

/* For fewer rows of X, gemm_rows, which reads the weights in place, is faster than packing the
 * weights. */
#define PACK_MIN_ROWS 8

bool recurrent_lay_out(struct prepare *prepare)
{
    struct recurrent_state *state = prepare->state;
    struct recurrent_f32 *engine = &state->f32;
    const struct recurrent *common = &engine->common;
    size_t columns = recurrent_n_gates(common) * common->hidden_size;
    size_t rows = common->batch * common->n_steps;
    *engine = describe_f32(prepare);
    state->route = RECURRENT_PACKS_EACH_RUN;
    if (!kernels_may_pack(prepare->kernels) || !packs_fit(prepare)) {
        engine->has_one_panel = true;
        engine->project = kernels_gemm_f32(prepare->kernels, rows, columns, common->input_size);
        engine->step =
            kernels_gemm_f32(prepare->kernels, common->batch, columns, common->hidden_size);
    } else if (rows < PACK_MIN_ROWS) {
        engine->project = engine->step = prepare->kernels->gemm_rows;
    }
    if (!recurrent_f32_lay_out(engine))
        return fail_memory(prepare->err, SIZE_MAX);
    state->packs_bytes = align_to_line(engine->w_pack_bytes) + align_to_line(engine->r_pack_bytes);
    return true;
}

struct recurrent_f32 recurrent_pack_now(const struct recurrent_state *state,
                                        const struct recurrent_f32_tensors *tensors, void *scratch)
{
    const struct recurrent_weights weights = {
        .w = tensors->w, .r = tensors->r, .b = tensors->b, .p = tensors->p};
    struct recurrent_f32 engine = state->f32;
    void *r_pack = (unsigned char *)scratch + align_to_line(engine.w_pack_bytes);
    recurrent_f32_pack_w(&engine, &weights, scratch);
    recurrent_f32_pack_r(&engine, &weights, r_pack);
    engine.w_pack = scratch;
    engine.r_pack = r_pack;
    return engine;
}
