/* Includes BODY once each for i8, i16, i32 and i64, with the macros of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define WIDEST_T int64_t
#define WRAP_T uint64_t

#define T int8_t
#define LOWEST INT8_MIN
#define NAME(name) name##_i8
#include "kernels/type_body.h"
#define T int16_t
#define LOWEST INT16_MIN
#define NAME(name) name##_i16
#include "kernels/type_body.h"
#define T int32_t
#define LOWEST INT32_MIN
#define NAME(name) name##_i32
#include "kernels/type_body.h"
#define T int64_t
#define LOWEST INT64_MIN
#define NAME(name) name##_i64
#include "kernels/type_body.h"

#undef WIDEST_T
#undef WRAP_T
