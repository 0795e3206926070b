/* Dense products of integer matrices with plain loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/gemm_integer.h"

#include <stdint.h>

#define BODY "kernels/gemm_integer_body.h"
#include "kernels/each_unsigned.h"

void gemm_integer(const struct gemm_integer *product, size_t element_bytes)
{
    switch (element_bytes) {
    case 1:
        multiply_u8(product);
        break;
    case 2:
        multiply_u16(product);
        break;
    case 4:
        multiply_u32(product);
        break;
    default:
        multiply_u64(product);
        break;
    }
}
