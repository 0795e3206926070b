/* Discrete Fourier transforms in double.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/fourier.h"

#include <math.h>
#include <string.h>

#include "kernels/float_element.h"
#include "kernels/inline.h"

#define MAX_RADIX 7
#define MAX_BATCH 8        /* lines per batch: the number of doubles in the widest vector */
#define BATCH_NUMBERS 4096 /* per batch, which fits into L2 together with the scratch memory */

/* ---- lengths ------------------------------------------------------------------------------ */

/* Divides n by the radices of the passes, 4, 2, 3, 5 and 7, as often as possible. Writes the list
 * of factors, and returns what remains of n. */
static size_t remove_factors(size_t n, unsigned char *factors, size_t *n_factors)
{
    static const unsigned char radices[] = {4, 2, 3, 5, 7};
    *n_factors = 0;
    for (size_t i = 0; i < sizeof radices; i++)
        for (; n > 0 && n % radices[i] == 0; n /= radices[i])
            factors[(*n_factors)++] = radices[i];
    return n;
}

/* Returns the length that the passes transform: n if it is a product of radices, otherwise a power
 * of two that is large enough for the convolution of n numbers with a chirp. */
static size_t find_inner_length(size_t n)
{
    unsigned char factors[FOURIER_MAX_FACTORS];
    size_t n_factors, m = 1;
    if (remove_factors(n, factors, &n_factors) <= 1)
        return n;
    while (m < 2 * n - 1)
        m *= 2;
    return m;
}

size_t fourier_plan_bytes(size_t n)
{
    size_t m = find_inner_length(n), n_numbers = m == n ? m : 3 * m + n;
    return n_numbers * 2 * sizeof(double);
}

size_t fourier_batch(size_t n, size_t n_lines)
{
    size_t max_lines = n < BATCH_NUMBERS / MAX_BATCH ? MAX_BATCH
                       : n < BATCH_NUMBERS           ? BATCH_NUMBERS / n
                                                     : 1;
    return n_lines < max_lines ? n_lines : max_lines;
}

size_t fourier_scratch_bytes(size_t n, size_t n_lines)
{
    size_t m = find_inner_length(n);
    return (m == n ? m : 2 * m) * n_lines * 2 * sizeof(double);
}

/* ---- passes ------------------------------------------------------------------------------- */

/* A pass: m transforms of `radix` numbers, for `stride` columns side by side. */
struct pass {
    size_t m, stride;
    size_t step; /* distance of the roots: the product of the radices of earlier passes */
    const double *roots;
    struct fourier_lines from, to;
};

/* Transforms r numbers; root k is exp(-2 pi i k / r). */
ALWAYS_INLINE void transform_few(size_t r, const double *roots, double *re, double *im)
{
    double sum_re[MAX_RADIX], sum_im[MAX_RADIX], difference_re[MAX_RADIX], difference_im[MAX_RADIX];
    double first_re = re[0], first_im = im[0];
    UNROLL
    for (size_t j = 1; j <= r / 2; j++) {
        sum_re[j] = re[j] + re[r - j];
        sum_im[j] = im[j] + im[r - j];
        difference_re[j] = re[j] - re[r - j];
        difference_im[j] = im[j] - im[r - j];
        re[0] += sum_re[j];
        im[0] += sum_im[j];
    }
    UNROLL
    for (size_t k = 1; k <= r / 2; k++) {
        double even_re = first_re, even_im = first_im, odd_re = 0, odd_im = 0;
        UNROLL
        for (size_t j = 1; j <= r / 2; j++) {
            const double *root = roots + 2 * (j * k % r);
            even_re += root[0] * sum_re[j];
            even_im += root[0] * sum_im[j];
            odd_re += root[1] * difference_im[j];
            odd_im += root[1] * difference_re[j];
        }
        re[k] = even_re - odd_re;
        im[k] = even_im + odd_im;
        re[r - k] = even_re + odd_re;
        im[r - k] = even_im - odd_im;
    }
}

ALWAYS_INLINE void transform_two(double *re, double *im, size_t a, size_t b)
{
    double re_a = re[a], im_a = im[a];
    re[a] = re_a + re[b];
    im[a] = im_a + im[b];
    re[b] = re_a - re[b];
    im[b] = im_a - im[b];
}

ALWAYS_INLINE void transform_four(double *re, double *im)
{
    transform_two(re, im, 0, 2);
    transform_two(re, im, 1, 3);
    transform_two(re, im, 0, 1);
    double even_re = re[2], even_im = im[2], odd_re = re[3], odd_im = im[3];
    re[2] = re[1];
    im[2] = im[1];
    re[1] = even_re + odd_im;
    im[1] = even_im - odd_re;
    re[3] = even_re - odd_im;
    im[3] = even_im + odd_re;
}

/* Transforms n columns of r numbers, and multiplies number k of each column by twiddle factor k. In
 * the input, the numbers of a column are in_stride elements apart. */
ALWAYS_INLINE void transform_columns(size_t r, size_t n, size_t in_stride, const double *roots,
                                     const double *twiddles, const double *restrict from_re,
                                     const double *restrict from_im, double *restrict to_re,
                                     double *restrict to_im)
{
    for (size_t i = 0; i < n; i++) {
        double re[MAX_RADIX], im[MAX_RADIX];
        UNROLL
        for (size_t k = 0; k < r; k++) {
            re[k] = from_re[k * in_stride + i];
            im[k] = from_im[k * in_stride + i];
        }
        if (r == 2)
            transform_two(re, im, 0, 1);
        else if (r == 4)
            transform_four(re, im);
        else
            transform_few(r, roots, re, im);
        to_re[i] = re[0];
        to_im[i] = im[0];
        UNROLL
        for (size_t k = 1; k < r; k++) {
            to_re[k * n + i] = re[k] * twiddles[2 * k] - im[k] * twiddles[2 * k + 1];
            to_im[k * n + i] = re[k] * twiddles[2 * k + 1] + im[k] * twiddles[2 * k];
        }
    }
}

ALWAYS_INLINE void run_radix(const struct pass *pass, size_t r)
{
    const double *all = pass->roots;
    double roots[2 * MAX_RADIX], twiddles[2 * MAX_RADIX];
    for (size_t k = 0; k < r; k++)
        memcpy(roots + 2 * k, all + 2 * k * pass->step * pass->m, 2 * sizeof *roots);
    for (size_t i = 0; i < pass->m; i++) {
        size_t from = i * pass->stride, to = from * r;
        for (size_t k = 0; k < r; k++)
            memcpy(twiddles + 2 * k, all + 2 * i * k * pass->step, 2 * sizeof *twiddles);
        transform_columns(r, pass->stride, pass->m * pass->stride, roots, twiddles,
                          pass->from.re + from, pass->from.im + from, pass->to.re + to,
                          pass->to.im + to);
    }
}

static void run_pass(const struct pass *pass, size_t radix)
{
    switch (radix) {
    case 2:
        run_radix(pass, 2);
        break;
    case 3:
        run_radix(pass, 3);
        break;
    case 4:
        run_radix(pass, 4);
        break;
    case 5:
        run_radix(pass, 5);
        break;
    default:
        run_radix(pass, 7);
    }
}

/* Transforms lines of m numbers, with one pass per factor of m. */
static void transform_smooth(const struct fourier *plan, struct fourier_lines lines,
                             double *scratch)
{
    size_t n = plan->m * lines.n;
    struct pass pass = {.m = plan->m,
                        .stride = lines.n,
                        .step = 1,
                        .roots = plan->roots,
                        .from = lines,
                        .to = {lines.n, scratch, scratch + n}};
    for (size_t i = 0; i < plan->n_factors; i++) {
        size_t radix = plan->factors[i];
        struct fourier_lines from = pass.from;
        pass.m /= radix;
        run_pass(&pass, radix);
        pass.stride *= radix;
        pass.step *= radix;
        pass.from = pass.to;
        pass.to = from;
    }
    if (pass.from.re == lines.re)
        return;
    memcpy(lines.re, pass.from.re, n * sizeof *lines.re);
    memcpy(lines.im, pass.from.im, n * sizeof *lines.im);
}

/* ---- any length --------------------------------------------------------------------------- */

/* Computes the chirp and the transform of its conjugate. `memory` has room for the chirp, the
 * transform and scratch memory, in this order. */
static void plan_chirp(struct fourier *plan, double *memory)
{
    size_t n = plan->n, m = plan->m, square = 0; /* k^2 modulo 2n, for accurate angles */
    double *chirp = memory, *re = memory + 2 * n, *im = re + m;
    memset(re, 0, 2 * m * sizeof *re);
    for (size_t k = 0; k < n; k++) {
        double angle = M_PI * (double)square / (double)n;
        size_t mirrored = k == 0 ? 0 : m - k;
        chirp[k] = re[k] = re[mirrored] = cos(angle);
        chirp[n + k] = -sin(angle);
        im[k] = im[mirrored] = sin(angle);
        square = (square + 2 * k + 1) % (2 * n);
    }
    transform_smooth(plan, (struct fourier_lines){1, re, im}, im + m);
    plan->chirp = chirp;
    plan->chirp_ft = re;
}

void fourier_plan(struct fourier *plan, size_t n, double *memory)
{
    size_t m = find_inner_length(n);
    *plan = (struct fourier){.n = n, .m = m, .roots = memory};
    remove_factors(m, plan->factors, &plan->n_factors);
    for (size_t k = 0; k < m; k++) {
        *memory++ = cos(2 * M_PI * (double)k / (double)m);
        *memory++ = -sin(2 * M_PI * (double)k / (double)m);
    }
    if (m != n)
        plan_chirp(plan, memory);
}

/* Multiplies number k of each line by factors[k], k < n. The n imaginary parts of the factors
 * follow the n real parts. `to` may be `from`. */
static void multiply(struct fourier_lines from, const double *factors, size_t n,
                     struct fourier_lines to)
{
    for (size_t k = 0; k < n; k++) {
        double c = factors[k], s = factors[n + k];
        for (size_t i = k * from.n; i < (k + 1) * from.n; i++) {
            double re = from.re[i] * c - from.im[i] * s, im = from.re[i] * s + from.im[i] * c;
            to.re[i] = re;
            to.im[i] = im;
        }
    }
}

static void scale(struct fourier_lines lines, size_t n, double factor)
{
    for (size_t i = 0; i < n * lines.n; i++) {
        lines.re[i] *= factor;
        lines.im[i] *= factor;
    }
}

/* Exchanges real and imaginary parts. Transforming the result in place gives the inverse transform
 * of `lines`, without the factor 1 / n. */
static struct fourier_lines exchange_parts(struct fourier_lines lines)
{
    return (struct fourier_lines){lines.n, lines.im, lines.re};
}

/* Transforms lines of any length n by a convolution with the chirp. */
static void transform_any(const struct fourier *plan, struct fourier_lines lines, double *scratch)
{
    size_t n = plan->n, m = plan->m, n_numbers = m * lines.n, n_used = n * lines.n;
    struct fourier_lines padded = {lines.n, scratch, scratch + n_numbers};
    double *rest = scratch + 2 * n_numbers;
    multiply(lines, plan->chirp, n, padded);
    memset(padded.re + n_used, 0, (n_numbers - n_used) * sizeof *scratch);
    memset(padded.im + n_used, 0, (n_numbers - n_used) * sizeof *scratch);
    transform_smooth(plan, padded, rest);
    multiply(padded, plan->chirp_ft, m, padded);
    transform_smooth(plan, exchange_parts(padded), rest);
    scale(padded, n, 1 / (double)m);
    multiply(padded, plan->chirp, n, lines);
}

void fourier_run(const struct fourier *plan, bool is_inverse, struct fourier_lines lines,
                 double *scratch)
{
    struct fourier_lines from = is_inverse ? exchange_parts(lines) : lines;
    if (plan->chirp)
        transform_any(plan, from, scratch);
    else
        transform_smooth(plan, from, scratch);
    if (is_inverse)
        scale(lines, plan->n, 1 / (double)plan->n);
}

/* ---- elements ----------------------------------------------------------------------------- */

void fourier_load(enum irrun_dtype dtype, bool is_real, const void *in, double *re, double *im,
                  size_t n)
{
    for (size_t i = 0; i < n; i++) {
        re[i] = float_load(dtype, in, is_real ? i : 2 * i);
        im[i] = is_real ? 0 : float_load(dtype, in, 2 * i + 1);
    }
}

void fourier_store(enum irrun_dtype dtype, bool is_real, const double *re, const double *im,
                   void *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float_store(dtype, out, is_real ? i : 2 * i, re[i]);
        if (!is_real)
            float_store(dtype, out, 2 * i + 1, im[i]);
    }
}

void fourier_complete(struct fourier_lines lines, size_t n)
{
    for (size_t k = n / 2 + 1; k < n; k++) {
        for (size_t i = 0; i < lines.n; i++) {
            lines.re[k * lines.n + i] = lines.re[(n - k) * lines.n + i];
            lines.im[k * lines.n + i] = -lines.im[(n - k) * lines.n + i];
        }
    }
}
