/* The loops of struct elementwise_kernels, compiled for each CPU level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#include "kernels/elementwise_functions_body.h"

typedef vec vector_unary_fn(vec x, vec p0, vec p1);
typedef vec vector_binary_fn(vec x, vec y);
typedef vec_mask vector_comparison_fn(vec x, vec y);

/* ---- operands: an array, or a scalar in all lanes ---- */

struct operand {
    const char *at;
    vec scalar;
    bool is_array;
};

ALWAYS_INLINE struct operand make_operand(const void *at, bool is_array, size_t n)
{
    struct operand operand = {.at = at, .is_array = is_array, .scalar = vec_zero()};
    if (!is_array && n > 0) {
        float element;
        memcpy(&element, at, sizeof element);
        operand.scalar = vec_set1(element);
    }
    return operand;
}

ALWAYS_INLINE vec operand_load(const struct operand *operand, size_t i)
{
    return operand->is_array ? vec_load(operand->at + i * sizeof(float)) : operand->scalar;
}

ALWAYS_INLINE vec operand_load_first(const struct operand *operand, size_t i, size_t n)
{
    return operand->is_array ? vec_load_first(operand->at + i * sizeof(float), n) : operand->scalar;
}

/* ---- two operands ---- */

ALWAYS_INLINE bool run_binary(const void *a, const void *b, float *out, size_t n,
                              enum operand_form form, vector_binary_fn *f)
{
    struct operand x = make_operand(a, form != FORM_SCALAR_VECTOR, n);
    struct operand y = make_operand(b, form != FORM_VECTOR_SCALAR, n);
    size_t i = 0;
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES) {
        vec first = f(operand_load(&x, i), operand_load(&y, i));
        vec second = f(operand_load(&x, i + VECTOR_LANES), operand_load(&y, i + VECTOR_LANES));
        vec_store(out + i, first);
        vec_store(out + i + VECTOR_LANES, second);
    }
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        vec_store(out + i, f(operand_load(&x, i), operand_load(&y, i)));
    if (i < n)
        vec_store_first(
            out + i, f(operand_load_first(&x, i, n - i), operand_load_first(&y, i, n - i)), n - i);
    return true;
}

ALWAYS_INLINE bool run_comparison(const void *a, const void *b, unsigned char *out, size_t n,
                                  enum operand_form form, vector_comparison_fn *f)
{
    struct operand x = make_operand(a, form != FORM_SCALAR_VECTOR, n);
    struct operand y = make_operand(b, form != FORM_VECTOR_SCALAR, n);
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        mask_store(out + i, f(operand_load(&x, i), operand_load(&y, i)));
    if (i < n)
        mask_store_first(
            out + i, f(operand_load_first(&x, i, n - i), operand_load_first(&y, i, n - i)), n - i);
    return true;
}

#define LOOP(run, name, form)                                                                      \
    static bool name##_##form(const void *a, const void *b, void *out, size_t n)                   \
    {                                                                                              \
        return run(a, b, out, n, form, vector_##name);                                             \
    }
#define LOOPS(run, name)                                                                           \
    LOOP(run, name, FORM_VECTOR_VECTOR)                                                            \
    LOOP(run, name, FORM_VECTOR_SCALAR)                                                            \
    LOOP(run, name, FORM_SCALAR_VECTOR)
#define BINARY_VECTOR(name, vector) LOOPS(run_binary, name)
#define COMPARISON_VECTOR(name, vector) LOOPS(run_comparison, name)
#include "kernels/elementwise.def"

/* ---- one operand ---- */

ALWAYS_INLINE void run_unary(const char *in, float *out, size_t n,
                             const double p[UNARY_N_PARAMETERS], vector_unary_fn *f)
{
    vec p0 = vec_set1((float)p[0]), p1 = vec_set1((float)p[1]);
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        vec_store(out + i, f(vec_load(in + i * sizeof(float)), p0, p1));
    if (i < n)
        vec_store_first(out + i, f(vec_load_first(in + i * sizeof(float), n - i), p0, p1), n - i);
}

#define UNARY_VECTOR(name, vectors, expression, vector)                                            \
    static void unary_##name(const void *in, void *out, size_t n,                                  \
                             const double p[UNARY_N_PARAMETERS])                                   \
    {                                                                                              \
        run_unary(in, out, n, p, vector_##name);                                                   \
    }
#include "kernels/elementwise.def"

#define ALL_FORMS(name)                                                                            \
    [BINARY_##                                                                                     \
        name] = {name##_FORM_VECTOR_VECTOR, name##_FORM_VECTOR_SCALAR, name##_FORM_SCALAR_VECTOR},

const struct elementwise_kernels LEVEL_NAME(elementwise_f32, LEVEL) = {
    .binary =
        {
#define BINARY_VECTOR(name, vector) ALL_FORMS(name)
#define COMPARISON_VECTOR(name, vector) ALL_FORMS(name)
#include "kernels/elementwise.def"
        },
    .unary =
        {
#define UNARY_VECTOR(name, vectors, expression, vector) [UNARY_##name] = unary_##name,
#include "kernels/elementwise.def"
        },
};
