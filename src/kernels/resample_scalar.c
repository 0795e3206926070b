/* Plain loops of the resampling: neighbours along the inner axis share the weights.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/resample.h"

#include "kernels/inline.h"

#define LANES 16 /* sums held at a time */
#define ROWS 8   /* dense rows at a time, which share the reading of the taps */

#define BODY "kernels/resample_body.h"
#include "kernels/each_float.h"
