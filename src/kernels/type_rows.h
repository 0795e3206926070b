/* Initializers for tables indexed by element type, with the functions that a *_body.h file defines
 * per type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_TYPE_ROWS_H
#define IRRUN_KERNELS_TYPE_ROWS_H

#include "irrun.h"

#define FLOAT_ROWS(name) [IRRUN_F32] = name##_f32, [IRRUN_F64] = name##_f64

#define UNSIGNED_ROWS(name)                                                                        \
    [IRRUN_U8] = name##_u8, [IRRUN_U16] = name##_u16, [IRRUN_U32] = name##_u32,                    \
    [IRRUN_U64] = name##_u64

#define SIGNED_ROWS(name)                                                                          \
    [IRRUN_I8] = name##_i8, [IRRUN_I16] = name##_i16, [IRRUN_I32] = name##_i32,                    \
    [IRRUN_I64] = name##_i64

/* Uses the functions for unsigned types, whose results wrap, for signed types. */
#define WRAPPED_ROWS(name)                                                                         \
    [IRRUN_I8] = name##_u8, [IRRUN_I16] = name##_u16, [IRRUN_I32] = name##_u32,                    \
    [IRRUN_I64] = name##_u64

#endif
