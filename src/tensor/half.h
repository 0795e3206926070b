/* f16 and bf16: exact widening, narrowing to nearest even. NaN stays NaN and becomes quiet (but
 * bf16_to_f32, which only moves the bits); an overflow gives an infinity.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_HALF_H
#define IRRUN_TENSOR_HALF_H

#include <stddef.h>
#include <stdint.h>

float f16_to_f32(uint16_t bits);
uint16_t f16_from_f32(float value);
float bf16_to_f32(uint16_t bits);
uint16_t bf16_from_f32(float value);

/* The same for n elements, which may be at any address; source and target do not overlap. */
void f16_to_f32_n(const void *source, void *target, size_t n);
void f16_from_f32_n(const void *source, void *target, size_t n);
void bf16_to_f32_n(const void *source, void *target, size_t n);
void bf16_from_f32_n(const void *source, void *target, size_t n);

/* A float for which narrowing to any format of up to 22 significant bits gives what narrowing
 * the double itself would: rounded to odd, so that a tie which is none is not taken for one. */
float f32_for_narrowing(double value);

#endif
