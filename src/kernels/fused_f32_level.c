/* The interpreter of fused_f32.h for every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#include "kernels/elementwise_functions_body.h"

/* The loops over v are unrolled, so that a tile is so many registers. Of 16 registers 8 leave no
 * place for the truths: a comparison puts them into memory, from which a Select takes them; that is
 * a third faster than half the tile. */
#define TILE_VECTORS (FUSED_TILE / VECTOR_LANES < 8 ? FUSED_TILE / VECTOR_LANES : 8)

/* Where a tile lies in the elements. n_last > 0: it is one vector, of which only so many lanes
 * count. */
struct tile {
    size_t i, n_vectors, n_last;
};

ALWAYS_INLINE char *tile_at(const struct tile *tile, const struct fused_instruction *instruction,
                            size_t v, size_t element_bytes)
{
    size_t offset = (tile->i * element_bytes) & (uint32_t)instruction->moves;
    return (char *)instruction->at + offset + v * VECTOR_LANES * element_bytes;
}

ALWAYS_INLINE vec tile_load(const struct tile *tile, const struct fused_instruction *instruction,
                            size_t v)
{
    const char *at = tile_at(tile, instruction, v, sizeof(float));
    return tile->n_last > 0 ? vec_load_first(at, tile->n_last) : vec_load(at);
}

ALWAYS_INLINE void tile_store(const struct tile *tile, const struct fused_instruction *instruction,
                              size_t v, vec x)
{
    char *at = tile_at(tile, instruction, v, sizeof(float));
    if (tile->n_last > 0)
        vec_store_first(at, x, tile->n_last);
    else
        vec_store(at, x);
}

ALWAYS_INLINE vec_mask truth_load(const struct tile *tile,
                                  const struct fused_instruction *instruction, size_t v)
{
    const char *at = tile_at(tile, instruction, v, 1);
    return tile->n_last > 0 ? mask_load_first(at, tile->n_last) : mask_load(at);
}

ALWAYS_INLINE void truth_store(const struct tile *tile, const struct fused_instruction *instruction,
                               size_t v, vec_mask mask)
{
    char *at = tile_at(tile, instruction, v, 1);
    if (tile->n_last > 0)
        mask_store_first(at, mask, tile->n_last);
    else
        mask_store(at, mask);
}

ALWAYS_INLINE vec still(const struct fused_instruction *instruction)
{
    float x;
    memcpy(&x, instruction->at, sizeof x);
    return vec_set1(x);
}

ALWAYS_INLINE vec_mask still_truth(const struct fused_instruction *instruction)
{
    return mask_set1(*(const uint8_t *)instruction->at);
}

ALWAYS_INLINE vec clamp_to(vec x, const void *bounds)
{
    float limits[2];
    memcpy(limits, bounds, sizeof limits);
    return vec_clamp(x, vec_set1(limits[0]), vec_set1(limits[1]));
}

#define EACH_VECTOR UNROLL for (size_t v = 0; v < TILE_VECTORS; v++) if (v < tile.n_vectors)

#define CASE(code, statement)                                                                      \
    case code:                                                                                     \
        EACH_VECTOR statement;                                                                     \
        break;
#define UNARY(code, f) CASE(code, x[v] = f(x[v]))
#define MOVING tile_load(&tile, at, v)
#define STILL still(at)
#define BINARY(code, f)                                                                            \
    CASE(code + FUSED_MOVING, x[v] = f(x[v], MOVING))                                              \
    CASE(code + FUSED_STILL, x[v] = f(x[v], STILL))                                                \
    CASE(code + FUSED_REVERSE_MOVING, x[v] = f(MOVING, x[v]))                                      \
    CASE(code + FUSED_REVERSE_STILL, x[v] = f(STILL, x[v]))
#define COMPARE(code, f)                                                                           \
    CASE(code + FUSED_MOVING, truth[v] = f(x[v], MOVING))                                          \
    CASE(code + FUSED_STILL, truth[v] = f(x[v], STILL))
#define LOGIC(code, f)                                                                             \
    CASE(code + FUSED_MOVING, truth[v] = f(truth[v], truth_load(&tile, at, v)))                    \
    CASE(code + FUSED_STILL, truth[v] = f(truth[v], still_truth(at)))

ALWAYS_INLINE void run_tile(const struct fused_instruction *at, struct tile tile)
{
    vec x[TILE_VECTORS];
    vec_mask truth[TILE_VECTORS];
    EACH_VECTOR x[v] = vec_zero(), truth[v] = mask_set1(0);
    for (;; at++) {
        switch (at->code) {
            CASE(FUSED_STORE, tile_store(&tile, at, v, x[v]))
            CASE(FUSED_STORE_TRUTH, truth_store(&tile, at, v, truth[v]))
            CASE(FUSED_NOT, truth[v] = mask_not(truth[v]))
            UNARY(FUSED_ABS, vec_abs)
            UNARY(FUSED_NEGATIVE, vec_negative)
            UNARY(FUSED_RELU, vec_relu)
            UNARY(FUSED_FLOOR, vec_floor)
            UNARY(FUSED_CEILING, vec_ceiling)
            UNARY(FUSED_ROUND, vec_round)
            UNARY(FUSED_SQRT, vec_sqrt)
            UNARY(FUSED_SIGMOID, vec_sigmoid)
            UNARY(FUSED_TANH, vec_tanh)
            UNARY(FUSED_EXP, vec_exp)
            UNARY(FUSED_LOG, vec_log)
            UNARY(FUSED_ERF, vec_erf)
            UNARY(FUSED_SOFTPLUS, vec_softplus)
            UNARY(FUSED_MISH, vec_mish)
            UNARY(FUSED_HSIGMOID, vec_hsigmoid)
            UNARY(FUSED_HSWISH, vec_hswish)
            UNARY(FUSED_SOFTSIGN, vec_softsign)
            UNARY(FUSED_SWISH, vec_swish)
            UNARY(FUSED_GELU_ERF, vec_gelu_erf)
            UNARY(FUSED_GELU_TANH, vec_gelu_tanh)
            CASE(FUSED_CLAMP, x[v] = clamp_to(x[v], at->at))
            CASE(FUSED_LOAD + FUSED_MOVING, x[v] = MOVING)
            CASE(FUSED_LOAD + FUSED_STILL, x[v] = STILL)
            CASE(FUSED_LOAD_TRUTH + FUSED_MOVING, truth[v] = truth_load(&tile, at, v))
            CASE(FUSED_LOAD_TRUTH + FUSED_STILL, truth[v] = still_truth(at))
            LOGIC(FUSED_AND, mask_and)
            LOGIC(FUSED_OR, mask_or)
            LOGIC(FUSED_XOR, mask_xor)
            COMPARE(FUSED_EQUAL, vec_equal)
            COMPARE(FUSED_NOT_EQUAL, vec_not_equal)
            COMPARE(FUSED_LESS, vec_less)
            COMPARE(FUSED_LESS_EQUAL, vec_less_equal)
            COMPARE(FUSED_GREATER, vec_greater)
            COMPARE(FUSED_GREATER_EQUAL, vec_greater_equal)
            BINARY(FUSED_ADD, vec_add)
            BINARY(FUSED_SUBTRACT, vec_sub)
            BINARY(FUSED_MULTIPLY, vec_mul)
            BINARY(FUSED_DIVIDE, vec_div)
            BINARY(FUSED_MAXIMUM, vec_maximum)
            BINARY(FUSED_MINIMUM, vec_minimum)
            BINARY(FUSED_SQUARED_DIFFERENCE, vec_squared_difference)
            BINARY(FUSED_PRELU, vec_prelu)
            CASE(FUSED_SELECT + FUSED_MOVING, x[v] = vec_select(truth[v], x[v], MOVING))
            CASE(FUSED_SELECT + FUSED_STILL, x[v] = vec_select(truth[v], x[v], STILL))
            CASE(FUSED_SELECT + FUSED_REVERSE_MOVING, x[v] = vec_select(truth[v], MOVING, x[v]))
            CASE(FUSED_SELECT + FUSED_REVERSE_STILL, x[v] = vec_select(truth[v], STILL, x[v]))
        default: /* FUSED_END */
            return;
        }
    }
}

void LEVEL_NAME(fused_f32, LEVEL)(const struct fused_instruction *program, size_t n)
{
    size_t i = 0;
    for (; i + TILE_VECTORS * VECTOR_LANES <= n; i += TILE_VECTORS * VECTOR_LANES)
        run_tile(program, (struct tile){i, TILE_VECTORS, 0});
    for (; i < n; i += VECTOR_LANES)
        run_tile(program, (struct tile){i, 1, n - i < VECTOR_LANES ? n - i : VECTOR_LANES});
}
