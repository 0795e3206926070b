/* Includes BODY for u8, u16, u32 and u64, with the macros of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define WIDE uint64_t
#define W uint64_t

#define T uint8_t
#define LOWEST 0
#define NAME(name) name##_u8
#include "kernels/type_body.h"
#define T uint16_t
#define LOWEST 0
#define NAME(name) name##_u16
#include "kernels/type_body.h"
#define T uint32_t
#define LOWEST 0
#define NAME(name) name##_u32
#include "kernels/type_body.h"
#define T uint64_t
#define LOWEST 0
#define NAME(name) name##_u64
#include "kernels/type_body.h"

#undef WIDE
#undef W
