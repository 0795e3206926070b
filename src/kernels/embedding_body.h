/* The loops of embedding.h for one type of type_body.h: they add in WRAP_T and divide in WIDEST_T.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h or a similar header instead"
#endif

static void NAME(add)(void *sum, const void *row, const void *weight, size_t n)
{
    T *to = sum;
    const T *from = row;
    WRAP_T scale = weight ? (WRAP_T) * (const T *)weight : 1;
    for (size_t i = 0; i < n; i++)
        to[i] = (T)((WRAP_T)to[i] + (WRAP_T)from[i] * scale);
}

static void NAME(divide)(void *sum, size_t count, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((T *)sum)[i] = (T)((WIDEST_T)((T *)sum)[i] / (WIDEST_T)count);
}

static const struct embedding_fns NAME(fns) = {NAME(add), NAME(divide)};
