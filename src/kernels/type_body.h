/* Includes BODY, the functions of a family, for one element type. Macros: T is the type, NAME makes
 * the name of a function for T, WIDE is the widest type of the same kind, W is the type in which
 * integers are computed, unsigned so that they wrap (T for floats), and LOWEST is the lowest finite
 * number.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(BODY) || !defined(T) || !defined(NAME)
#error "define BODY, and include kernels/each_float.h or a similar header"
#endif

#include BODY

#undef T
#undef LOWEST
#undef NAME
