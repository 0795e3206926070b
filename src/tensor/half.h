/* f16 and bf16: exact widening, narrowing to nearest even.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_HALF_H
#define IRRUN_TENSOR_HALF_H

#include <stddef.h>
#include <stdint.h>

float f16_to_f32(uint16_t bits);
uint16_t f16_from_f32(float value); /* overflow gives an infinity; NaN stays NaN */
float bf16_to_f32(uint16_t bits);
uint16_t bf16_from_f32(float value);

#endif
