/* Image tiles with AVX2.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__AVX2__) || !defined(__FMA__)
#error "to be compiled with AVX2"
#endif
#include "kernels/kernels.h"
#include "kernels/vector_avx2.h"

#include "kernels/image_tiles_body.h"

/* Of 16 registers rows * vectors are sums, the pixels take as many as there are vectors, and one
 * the weight. */
#define TILES(X) X(1, 7) X(2, 4) X(3, 3) X(4, 2) X(5, 2) X(6, 2)

TILES(DEFINE_TILE)

const struct image_tiles image_tiles_avx2 = IMAGE_TILES;
