/* Converts f16 and bf16 to f32 (exactly), and f32 to f16 and bf16 (rounded to nearest even). NaN
 * stays NaN and becomes quiet (except in bf16_to_f32, which only shifts the bits). Overflow gives
 * infinity.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_HALF_H
#define IRRUN_TENSOR_HALF_H

#include <stddef.h>
#include <stdint.h>

float f16_to_f32(uint16_t bits);
uint16_t f16_from_f32(float value);
float bf16_to_f32(uint16_t bits);
uint16_t bf16_from_f32(float value);

/* Convert n elements with any alignment. source and target do not overlap. */
void f16_to_f32_n(const void *source, void *target, size_t n);
void f16_from_f32_n(const void *source, void *target, size_t n);
void bf16_to_f32_n(const void *source, void *target, size_t n);
void bf16_from_f32_n(const void *source, void *target, size_t n);
void bf16_round_n(const void *source, void *target, size_t n); /* f32, rounded to bf16 */

/* Rounds a double to a float so that narrowing it to any format of up to 22 significant bits gives
 * the same result as narrowing the double: rounds to odd, which avoids false ties. */
float f32_for_narrowing(double value);

#endif
