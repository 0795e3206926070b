/* Image tiles without vector instructions of any level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/vector_plain.h"

#include "kernels/image_tiles_body.h"

/* Of 16 registers rows * vectors are sums, the pixels take as many as there are vectors, one the
 * weight and one a product. */
#define TILES(X) X(1, 6) X(2, 4) X(3, 2) X(4, 2) X(5, 2) X(6, 2)

TILES(DEFINE_TILE)

const struct image_tiles image_tiles_scalar = IMAGE_TILES;
