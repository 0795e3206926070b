/* Discrete Fourier transforms in double.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/fourier.h"

#include <math.h>
#include <string.h>

#include "kernels/float_element.h"

static bool is_power_of_two(size_t n)
{
    return (n & (n - 1)) == 0;
}

/* Returns the length of the inner transforms: n if it is a power of two, otherwise one that is
 * large enough for a convolution of n by n. */
static size_t find_inner_length(size_t n)
{
    size_t m = 1;
    if (n == 0)
        return 1;
    while (m < (is_power_of_two(n) ? n : 2 * n - 1))
        m *= 2;
    return m;
}

size_t fourier_plan_bytes(size_t n)
{
    size_t m = find_inner_length(n);
    size_t n_numbers = m / 2 + 1;
    if (!is_power_of_two(n))
        n_numbers += n + m;
    return n_numbers * 2 * sizeof(double);
}

size_t fourier_scratch_bytes(size_t n)
{
    return is_power_of_two(n) ? 0 : find_inner_length(n) * 2 * sizeof(double);
}

/* ---- powers of two ------------------------------------------------------------------------ */

static void reverse_bits(double *line, size_t n)
{
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i >= j)
            continue;
        double re = line[2 * i], im = line[2 * i + 1];
        line[2 * i] = line[2 * j];
        line[2 * i + 1] = line[2 * j + 1];
        line[2 * j] = re;
        line[2 * j + 1] = im;
    }
}

/* Combines two transforms of `half` numbers (a radix-2 butterfly); their twiddles are `stride`
 * apart. */
static void join_halves(double *line, size_t half, const double *twiddles, size_t stride)
{
    double *even = line, *odd = line + 2 * half;
    for (size_t k = 0; k < half; k++, even += 2, odd += 2) {
        double c = twiddles[2 * k * stride], s = twiddles[2 * k * stride + 1];
        double re = odd[0] * c - odd[1] * s, im = odd[0] * s + odd[1] * c;
        odd[0] = even[0] - re;
        odd[1] = even[1] - im;
        even[0] += re;
        even[1] += im;
    }
}

static void transform_power(double *line, size_t m, const double *twiddles)
{
    reverse_bits(line, m);
    for (size_t half = 1; half < m; half *= 2)
        for (size_t first = 0; first < m; first += 2 * half)
            join_halves(line + 2 * first, half, twiddles, m / (2 * half));
}

/* ---- any length --------------------------------------------------------------------------- */

void fourier_plan(struct fourier *plan, size_t n, double *memory)
{
    size_t m = find_inner_length(n);
    *plan = (struct fourier){.n = n, .m = m, .twiddles = memory};
    for (size_t k = 0; k < m / 2; k++) {
        *memory++ = cos(2 * M_PI * (double)k / (double)m);
        *memory++ = -sin(2 * M_PI * (double)k / (double)m);
    }
    if (is_power_of_two(n))
        return;
    double *chirp = memory, *chirp_ft = memory + 2 * n;
    memset(chirp_ft, 0, 2 * m * sizeof *chirp_ft);
    size_t square = 0; /* k^2 modulo 2n as an integer, so that angles are exact */
    for (size_t k = 0; k < n; k++) {
        double angle = M_PI * (double)square / (double)n;
        chirp[2 * k] = cos(angle);
        chirp[2 * k + 1] = -sin(angle);
        size_t mirrored = k == 0 ? 0 : m - k;
        chirp_ft[2 * k] = chirp_ft[2 * mirrored] = cos(angle);
        chirp_ft[2 * k + 1] = chirp_ft[2 * mirrored + 1] = sin(angle);
        square = (square + 2 * k + 1) % (2 * n);
    }
    transform_power(chirp_ft, m, plan->twiddles);
    plan->chirp = chirp;
    plan->chirp_ft = chirp_ft;
}

/* Computes out[i] = a[i] * b[i]; out may be a or b. */
static void multiply(const double *a, const double *b, double *out, size_t n)
{
    for (size_t i = 0; i < 2 * n; i += 2) {
        double re = a[i] * b[i] - a[i + 1] * b[i + 1], im = a[i] * b[i + 1] + a[i + 1] * b[i];
        out[i] = re;
        out[i + 1] = im;
    }
}

/* Swaps real and imaginary parts and scales them. Doing this before and after a transform gives the
 * inverse. */
static void exchange_parts(double *line, size_t n, double factor)
{
    for (size_t i = 0; i < 2 * n; i += 2) {
        double re = line[i];
        line[i] = line[i + 1] * factor;
        line[i + 1] = re * factor;
    }
}

static void transform_any(const struct fourier *plan, double *line, double *scratch)
{
    size_t n = plan->n, m = plan->m;
    multiply(line, plan->chirp, scratch, n);
    memset(scratch + 2 * n, 0, 2 * (m - n) * sizeof *scratch);
    transform_power(scratch, m, plan->twiddles);
    multiply(scratch, plan->chirp_ft, scratch, m);
    exchange_parts(scratch, m, 1);
    transform_power(scratch, m, plan->twiddles);
    exchange_parts(scratch, m, 1 / (double)m);
    multiply(scratch, plan->chirp, line, n);
}

void fourier_run(const struct fourier *plan, bool is_inverse, double *line, double *scratch)
{
    if (is_inverse)
        exchange_parts(line, plan->n, 1);
    if (plan->chirp)
        transform_any(plan, line, scratch);
    else
        transform_power(line, plan->n, plan->twiddles);
    if (is_inverse)
        exchange_parts(line, plan->n, 1 / (double)plan->n);
}

/* ---- elements ----------------------------------------------------------------------------- */

void fourier_load(enum irrun_dtype dtype, bool is_real, const void *in, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = float_load(dtype, in, is_real ? i : 2 * i);
        out[2 * i + 1] = is_real ? 0 : float_load(dtype, in, 2 * i + 1);
    }
}

void fourier_store(enum irrun_dtype dtype, bool is_real, const double *in, void *out, size_t n)
{
    size_t step = is_real ? 2 : 1;
    for (size_t i = 0; i < 2 * n / step; i++)
        float_store(dtype, out, i, in[i * step]);
}
