/* The loops of cumulative sums for one type of type_body.h; the sums are of type WIDEST_T.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h or a similar header instead"
#endif

static void NAME(sum_line)(const T *from, T *to, size_t n, bool is_exclusive, bool is_reverse)
{
    WIDEST_T sum = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = is_reverse ? n - 1 - i : i;
        WIDEST_T before = sum;
        sum = sum + from[at];
        to[at] = (T)(is_exclusive ? before : sum);
    }
}

static void NAME(sum)(const void *in, void *out, size_t n, size_t n_inner, bool is_exclusive,
                      bool is_reverse)
{
    const T *from = in;
    T *to = out;
    if (n_inner == 1) {
        NAME(sum_line)(from, to, n, is_exclusive, is_reverse);
        return;
    }
    for (size_t first = 0; first < n_inner; first += LANES) {
        size_t n_lanes = n_inner - first < LANES ? n_inner - first : LANES;
        WIDEST_T sums[LANES] = {0};
        for (size_t i = 0; i < n; i++) {
            size_t row = (is_reverse ? n - 1 - i : i) * n_inner + first;
            for (size_t j = 0; j < n_lanes; j++) {
                WIDEST_T before = sums[j];
                sums[j] = before + from[row + j];
                to[row + j] = (T)(is_exclusive ? before : sums[j]);
            }
        }
    }
}
