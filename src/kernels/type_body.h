/* Includes BODY, which defines the functions of a family for one element type. Macros: T is the
 * type. NAME(f) is the name of function f for T. WIDEST_T is the widest type of the same kind.
 * WRAP_T is the type to compute in: for integers an unsigned type, so that results wrap; for floats
 * T. LOWEST is the lowest finite number.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(BODY) || !defined(T) || !defined(NAME)
#error "define BODY, and include kernels/each_float.h or a similar header"
#endif

#include BODY

#undef T
#undef LOWEST
#undef NAME
