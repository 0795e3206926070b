/* Image tiles with AVX-512.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__AVX512F__)
#error "to be compiled with AVX-512"
#endif
#include "kernels/kernels.h"
#include "kernels/vector_avx512.h"

#include "kernels/image_tiles_body.h"

/* Of 32 registers rows * vectors are sums, the pixels take as many as there are vectors, and one
 * the weight. */
#define TILES(X)                                                                                   \
    X(1, 8)                                                                                        \
    X(2, 6) X(3, 6) X(4, 4) X(5, 4) X(6, 4) X(7, 3) X(8, 3) X(9, 2) X(10, 2) X(11, 2) X(12, 2)

TILES(DEFINE_TILE)

const struct image_tiles image_tiles_avx512 = IMAGE_TILES;
