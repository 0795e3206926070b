/* Plain loops of the resampling: neighbours along the inner axis share the weights.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/resample.h"

#define LANES 64 /* sums held at a time */

#define BODY "kernels/resample_body.h"
#include "kernels/each_float.h"
