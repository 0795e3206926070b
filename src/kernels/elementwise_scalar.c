/* Plain loops for all element-wise functions: the reference for the vectorized ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include <tgmath.h>

#include "kernels/elementwise.h"
#include "kernels/inline.h"

/* All types use the same expressions, so x < 0 is also compiled for unsigned types. */
#pragma GCC diagnostic ignored "-Wtype-limits"

#define TYPED(name) TYPED_OF(name, SUFFIX)
#define TYPED_OF(name, suffix) TYPED_PASTE(name, suffix)
#define TYPED_PASTE(name, suffix) name##_##suffix
#define OUT_NUMBER T
#define OUT_BOOLEAN bool
#define ALL(...) __VA_ARGS__
#define IS_SIGNED ((T)-1 < (T)1)
#define LOWEST (IS_SIGNED ? (T)((W)1 << (8 * sizeof(T) - 1)) : (T)0)

#define T float
#define SUFFIX F32
#define FLOATING
#include "kernels/elementwise_scalar_body.h"

#define T double
#define SUFFIX F64
#define FLOATING
#include "kernels/elementwise_scalar_body.h"

#define T int8_t
#define SUFFIX I8
#include "kernels/elementwise_scalar_body.h"

#define T int16_t
#define SUFFIX I16
#include "kernels/elementwise_scalar_body.h"

#define T int32_t
#define SUFFIX I32
#include "kernels/elementwise_scalar_body.h"

#define T int64_t
#define SUFFIX I64
#include "kernels/elementwise_scalar_body.h"

#define T uint8_t
#define SUFFIX U8
#include "kernels/elementwise_scalar_body.h"

#define T uint16_t
#define SUFFIX U16
#include "kernels/elementwise_scalar_body.h"

#define T uint32_t
#define SUFFIX U32
#include "kernels/elementwise_scalar_body.h"

#define T uint64_t
#define SUFFIX U64
#include "kernels/elementwise_scalar_body.h"

#define T uint8_t
#define SUFFIX BOOLEAN
#define LOGICAL
#include "kernels/elementwise_scalar_body.h"

#define EACH_TYPE(ROW)                                                                             \
    ROW(F32)                                                                                       \
    ROW(F64) ROW(I8) ROW(I16) ROW(I32) ROW(I64) ROW(U8) ROW(U16) ROW(U32) ROW(U64) ROW(BOOLEAN)

unary_fn *unary_scalar(enum unary_operation operation, enum irrun_dtype dtype)
{
#define ROW(type) [IRRUN_##type] = unary_##type,
    static unary_fn *const *const loops[IRRUN_N_DTYPES] = {EACH_TYPE(ROW)};
#undef ROW
    return loops[dtype] ? loops[dtype][operation] : NULL;
}

binary_fn *binary_scalar(enum binary_operation operation, enum irrun_dtype dtype)
{
#define ROW(type) [IRRUN_##type] = binary_##type,
    static binary_fn *const *const loops[IRRUN_N_DTYPES] = {EACH_TYPE(ROW)};
#undef ROW
    return loops[dtype] ? loops[dtype][operation] : NULL;
}

#define IS_BOOLEAN_NUMBER false
#define IS_BOOLEAN_BOOLEAN true

bool unary_gives_boolean(enum unary_operation operation)
{
    static const bool gives_boolean[] = {
#define UNARY_LOOP(name, loops, out, expression) [UNARY_##name] = IS_BOOLEAN_##out,
#include "kernels/elementwise.def"
    };
    return gives_boolean[operation];
}

bool binary_gives_boolean(enum binary_operation operation)
{
    static const bool gives_boolean[] = {
#define BINARY_LOOP(name, loops, out, expression) [BINARY_##name] = IS_BOOLEAN_##out,
#include "kernels/elementwise.def"
    };
    return gives_boolean[operation];
}
