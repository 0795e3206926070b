/* Prepares and runs the recurrent engine of f32 for a test.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_RECURRENT_ENGINE_H
#define IRRUN_TESTS_RECURRENT_ENGINE_H

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/recurrent_f32.h"

static inline void *allocate_lines(size_t size_bytes)
{
    void *memory = aligned_alloc(64, size_bytes + 64 - size_bytes % 64);
    assert_non_null(memory);
    memset(memory, 0xFF, size_bytes); /* NaN */
    return memory;
}

/* Returns an engine. gemm: NULL for packed weights. */
static inline struct recurrent_f32 engine_of(const struct recurrent *common, enum simd simd,
                                             gemm_f32_fn *gemm)
{
    struct kernels kernels;
    kernels_fill(&kernels, simd);
    return (struct recurrent_f32){
        .common = *common,
        .kernels = kernels.packed_gemm,
        .project = gemm,
        .step = gemm,
        .has_one_panel = gemm == gemm_plain_f32 || gemm == gemm_cblas_f32,
        .n_threads = 1,
    };
}

static inline void engine_pack(struct recurrent_f32 *engine,
                               const struct recurrent_weights *weights)
{
    assert_true(recurrent_f32_lay_out(engine));
    void *w_pack = allocate_lines(engine->w_pack_bytes);
    void *r_pack = allocate_lines(engine->r_pack_bytes);
    recurrent_f32_pack_w(engine, weights, w_pack);
    recurrent_f32_pack_r(engine, weights, r_pack);
    engine->w_pack = w_pack;
    engine->r_pack = r_pack;
}

static inline void engine_free(struct recurrent_f32 *engine)
{
    free((void *)engine->w_pack);
    free((void *)engine->r_pack);
}

/* Runs the engine. Checks that the bytes after the scratch memory are unchanged. */
static inline void engine_run(const struct recurrent_f32 *engine,
                              const struct recurrent_f32_tensors *tensors, unsigned n_runs,
                              struct thread_pool *pool)
{
    unsigned char *scratch = allocate_lines(engine->scratch_bytes + 1);
    scratch[engine->scratch_bytes] = 42;
    recurrent_f32_run(engine, tensors, scratch, &n_runs, pool);
    assert_int_equal(scratch[engine->scratch_bytes], 42);
    free(scratch);
}

#endif
