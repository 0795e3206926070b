/* Includes BODY once each for u8, u16, u32 and u64, with the macros of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define WIDEST_T uint64_t
#define WRAP_T uint64_t

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

#undef WIDEST_T
#undef WRAP_T
