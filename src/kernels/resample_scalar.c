/* Resampling with plain loops. Elements along the inner axis share the weights.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/resample.h"

#include "kernels/inline.h"

#define LANES 16 /* sums computed at a time */
#define ROWS 8   /* rows computed at a time with the same taps, if the inner axis has length 1 */

#define BODY "kernels/resample_body.h"
#include "kernels/each_float.h"
