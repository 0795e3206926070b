/* Includes BODY once each for f32 and f64, with the macros of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <float.h>

#define WIDEST_T double
#define WRAP_T T

#define T float
#define LOWEST (-FLT_MAX)
#define NAME(name) name##_f32
#include "kernels/type_body.h"
#define T double
#define LOWEST (-DBL_MAX)
#define NAME(name) name##_f64
#include "kernels/type_body.h"

#undef WIDEST_T
#undef WRAP_T
