/* The interpreter of fused_f32.h, compiled for each CPU level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#include "kernels/elementwise_functions_body.h"

/* The number of vector registers of a tile; the loops over v are unrolled. If the tile takes 8 of
 * 16 registers, none is left for the mask: a comparison spills it, and a Select reloads it. A tile
 * of 8 registers is still a third faster than one of 4. */
#define TILE_VECTORS (FUSED_TILE / VECTOR_LANES < 8 ? FUSED_TILE / VECTOR_LANES : 8)

/* The elements of a tile. If n_last > 0, it is one vector with n_last valid lanes. */
struct tile {
    size_t i, n_vectors, n_last;
};

ALWAYS_INLINE char *tile_at(const struct tile *tile, const struct fused_instruction *instruction,
                            size_t v, size_t element_bytes)
{
    size_t offset = (tile->i * element_bytes) & (uint32_t)instruction->advance_mask;
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

ALWAYS_INLINE vec_mask boolean_load(const struct tile *tile,
                                    const struct fused_instruction *instruction, size_t v)
{
    const char *at = tile_at(tile, instruction, v, 1);
    return tile->n_last > 0 ? mask_load_first(at, tile->n_last) : mask_load(at);
}

ALWAYS_INLINE void boolean_store(const struct tile *tile,
                                 const struct fused_instruction *instruction, size_t v,
                                 vec_mask mask)
{
    char *at = tile_at(tile, instruction, v, 1);
    if (tile->n_last > 0)
        mask_store_first(at, mask, tile->n_last);
    else
        mask_store(at, mask);
}

ALWAYS_INLINE vec_mask broadcast_boolean(const struct fused_instruction *instruction)
{
    return mask_set1(*(const uint8_t *)instruction->at);
}

/* Returns float i at the operand of an instruction, in all lanes. */
ALWAYS_INLINE vec broadcast(const struct fused_instruction *instruction, size_t i)
{
    float x;
    memcpy(&x, (const float *)instruction->at + i, sizeof x);
    return vec_set1(x);
}

#define EACH_VECTOR UNROLL for (size_t v = 0; v < TILE_VECTORS; v++) if (v < tile.n_vectors)

#if FUSED_TILE / VECTOR_LANES >= 8
/* A function marked NEAR needs many registers, so the tile is copied to memory for it. Otherwise
 * the compiler would not keep the tile in registers for the other instructions. */
#define TILE_EXACT(name)
#define TILE_NEAR(name)                                                                            \
    __attribute__((noinline)) static void tile_##name(vec *x, size_t n, vec p0, vec p1)            \
    {                                                                                              \
        UNROLL                                                                                     \
        for (size_t v = 0; v < TILE_VECTORS; v++)                                                  \
            if (v < n)                                                                             \
                x[v] = vector_##name(x[v], p0, p1);                                                \
    }
#define UNARY_VECTOR(name, vectors, expression, vector) TILE_##vectors(name)
#include "kernels/elementwise.def"

#define CASE_NEAR(name)                                                                            \
    case FUSED_##name: {                                                                           \
        vec y[TILE_VECTORS];                                                                       \
        EACH_VECTOR y[v] = x[v];                                                                   \
        tile_##name(y, tile.n_vectors, broadcast(at, 0), broadcast(at, 1));                        \
        EACH_VECTOR x[v] = y[v];                                                                   \
        break;                                                                                     \
    }
#else
#define CASE_NEAR CASE_EXACT
#endif

#define CASE(code, statement)                                                                      \
    case code:                                                                                     \
        EACH_VECTOR statement;                                                                     \
        break;
#define ARRAY tile_load(&tile, at, v)
#define SCALAR broadcast(at, 0)
#define CASE_EXACT(name)                                                                           \
    CASE(FUSED_##name, x[v] = vector_##name(x[v], broadcast(at, 0), broadcast(at, 1)))
#define UNARY_VECTOR(name, vectors, expression, vector) CASE_##vectors(name)
#define BINARY_VECTOR(name, vector)                                                                \
    CASE(FUSED_##name + FUSED_ARRAY, x[v] = vector_##name(x[v], ARRAY))                            \
    CASE(FUSED_##name + FUSED_SCALAR, x[v] = vector_##name(x[v], SCALAR))                          \
    CASE(FUSED_##name + FUSED_REVERSE_ARRAY, x[v] = vector_##name(ARRAY, x[v]))                    \
    CASE(FUSED_##name + FUSED_REVERSE_SCALAR, x[v] = vector_##name(SCALAR, x[v]))
#define COMPARISON_VECTOR(name, vector)                                                            \
    CASE(FUSED_##name + FUSED_ARRAY, mask[v] = vector_##name(x[v], ARRAY))                         \
    CASE(FUSED_##name + FUSED_SCALAR, mask[v] = vector_##name(x[v], SCALAR))
#define LOGIC_VECTOR(name, vector)                                                                 \
    CASE(FUSED_##name + FUSED_ARRAY, mask[v] = vector_##name(mask[v], boolean_load(&tile, at, v))) \
    CASE(FUSED_##name + FUSED_SCALAR, mask[v] = vector_##name(mask[v], broadcast_boolean(at)))

ALWAYS_INLINE void run_tile(const struct fused_instruction *at, struct tile tile)
{
    vec x[TILE_VECTORS];
    vec_mask mask[TILE_VECTORS];
    EACH_VECTOR x[v] = vec_zero(), mask[v] = mask_set1(0);
    for (;; at++) {
        switch (at->code) {
            CASE(FUSED_STORE, tile_store(&tile, at, v, x[v]))
            CASE(FUSED_STORE_BOOLEAN, boolean_store(&tile, at, v, mask[v]))
            CASE(FUSED_NOT, mask[v] = mask_not(mask[v]))
            CASE(FUSED_LOAD + FUSED_ARRAY, x[v] = ARRAY)
            CASE(FUSED_LOAD + FUSED_SCALAR, x[v] = SCALAR)
            CASE(FUSED_LOAD_BOOLEAN + FUSED_ARRAY, mask[v] = boolean_load(&tile, at, v))
            CASE(FUSED_LOAD_BOOLEAN + FUSED_SCALAR, mask[v] = broadcast_boolean(at))
            CASE(FUSED_SELECT + FUSED_ARRAY, x[v] = vec_select(mask[v], x[v], ARRAY))
            CASE(FUSED_SELECT + FUSED_SCALAR, x[v] = vec_select(mask[v], x[v], SCALAR))
            CASE(FUSED_SELECT + FUSED_REVERSE_ARRAY, x[v] = vec_select(mask[v], ARRAY, x[v]))
            CASE(FUSED_SELECT + FUSED_REVERSE_SCALAR, x[v] = vec_select(mask[v], SCALAR, x[v]))
#include "kernels/elementwise.def"
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
