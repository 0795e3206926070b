/* Generates the numbers of --random and of --feed=OUT=IN:sample with xoshiro256++ (Blackman and
 * Vigna, 2019), seeded by splitmix64. Normal numbers use Marsaglia's polar method, with its own
 * logarithm, so that the bytes do not depend on libm.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>

#include "base/huge_pages.h"
#include "cli/inputs_internal.h"

struct generator {
    uint64_t s[4];
    double spare; /* the second number of a polar pair */
    bool has_spare;
};

static uint64_t split_mix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, unsigned n)
{
    return (x << n) | (x >> (64 - n));
}

static uint64_t next_bits(struct generator *g)
{
    uint64_t result = rotate(g->s[0] + g->s[3], 23) + g->s[0];
    uint64_t t = g->s[1] << 17;
    g->s[2] ^= g->s[0];
    g->s[3] ^= g->s[1];
    g->s[1] ^= g->s[2];
    g->s[0] ^= g->s[3];
    g->s[2] ^= t;
    g->s[3] = rotate(g->s[3], 45);
    return result;
}

static struct generator seed_generator(uint64_t seed, uint64_t stream)
{
    struct generator g = {.has_spare = false};
    uint64_t state = seed;
    state = split_mix(&state) ^ stream;
    for (int i = 0; i < 4; i++)
        g.s[i] = split_mix(&state);
    return g;
}

/* Returns a multiple of 2^-53 in [0, 1). */
static double next_unit(struct generator *g)
{
    return (double)(next_bits(g) >> 11) * 0x1p-53;
}

double random_unit(uint64_t seed, uint64_t stream)
{
    struct generator g = seed_generator(seed, stream);
    return next_unit(&g);
}

/* Returns an integer in [low, high]. Rejects bits beyond the last multiple of the span, so that all
 * integers are equally likely. */
static int64_t next_int(struct generator *g, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t bits = next_bits(g);
    if (span == 0)
        return (int64_t)bits;
    uint64_t limit = UINT64_MAX - (UINT64_MAX % span + 1) % span;
    while (bits > limit)
        bits = next_bits(g);
    return (int64_t)((uint64_t)low + bits % span);
}

/* Returns ln x for a normal x > 0. x = m 2^e with m in [sqrt(1/2), sqrt(2)), and ln m = 2 artanh(s)
 * with s = (m - 1) / (m + 1), |s| < 0.172. The first omitted term, s^25 / 25, is below 2^-67. */
static double natural_log(double x)
{
    static const double ln2 = 0x1.62e42fefa39efp-1;
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return 2 * s * sum + exponent * ln2;
}

static double next_normal(struct generator *g)
{
    if (g->has_spare) {
        g->has_spare = false;
        return g->spare;
    }
    double u, v, r;
    do {
        u = 2 * next_unit(g) - 1;
        v = 2 * next_unit(g) - 1;
        r = u * u + v * v;
    } while (r >= 1 || r == 0);
    double scale = sqrt(-2 * natural_log(r) / r);
    g->spare = v * scale;
    g->has_spare = true;
    return u * scale;
}

/* Returns the distribution of --random without DIST for a type. */
static struct random_spec default_distribution(enum irrun_dtype dtype)
{
    return (struct random_spec){.kind = dtype == IRRUN_BOOLEAN || dtype == IRRUN_U1 ? RANDOM_INT
                                        : dtype_is_integer(dtype)                   ? RANDOM_ZEROS
                                                                  : RANDOM_UNIFORM,
                                .a = -1,
                                .b = 1,
                                .low = 0,
                                .high = 1};
}

static double next_float(const struct random_spec *spec, struct generator *g)
{
    if (spec->kind == RANDOM_NORMAL)
        return spec->a + spec->b * next_normal(g);
    return spec->a + (spec->b - spec->a) * next_unit(g);
}

static int64_t next_integer(const struct random_spec *spec, struct generator *g, size_t index)
{
    return spec->kind == RANDOM_INT      ? next_int(g, spec->low, spec->high)
           : spec->kind == RANDOM_ARANGE ? (int64_t)index
                                         : spec->kind == RANDOM_ONES;
}

#define N_BLOCK 128

static void fill_tensor(const struct random_spec *spec, uint64_t seed, uint64_t stream,
                        const struct irrun_tensor *tensor)
{
    const struct random_spec chosen =
        spec->kind == RANDOM_DEFAULT ? default_distribution(tensor->dtype) : *spec;
    struct generator g = seed_generator(seed, stream);
    bool is_float = chosen.kind == RANDOM_UNIFORM || chosen.kind == RANDOM_NORMAL;
    size_t n = (size_t)shape_n_elements(&tensor->shape);
    for (size_t start = 0; start < n; start += N_BLOCK) {
        size_t n_now = n - start < N_BLOCK ? n - start : N_BLOCK;
        double floats[N_BLOCK];
        int64_t integers[N_BLOCK];
        for (size_t i = 0; i < n_now; i++) {
            if (is_float)
                floats[i] = next_float(&chosen, &g);
            else
                integers[i] = next_integer(&chosen, &g, start + i);
        }
        convert_elements(is_float ? IRRUN_F64 : IRRUN_I64,
                         is_float ? (const void *)floats : (const void *)integers, tensor->dtype,
                         tensor_at(tensor, start), n_now);
    }
}

static bool fits_type(enum irrun_dtype dtype, int64_t x)
{
    unsigned char element[sizeof x];
    int64_t back;
    convert_elements(IRRUN_I64, &x, dtype, element, 1);
    convert_elements(dtype, element, IRRUN_I64, &back, 1);
    return back == x && (x >= 0 || dtype_is_signed(dtype));
}

/* Clamps a number to [-2^62, 2^62], which contains all values of types below 64 bits. */
static int64_t clamp(double x)
{
    return (int64_t)fmax(fmin(x, 0x1p62), -0x1p62);
}

/* Checks that the type, if it is an integer, can hold the numbers. */
static bool check_range(const struct random_spec *spec, enum irrun_dtype dtype, const char *name,
                        struct irrun_error *err)
{
    bool is_int = spec->kind == RANDOM_INT;
    if (!dtype_is_integer(dtype) || (!is_int && spec->kind != RANDOM_UNIFORM))
        return true;
    int64_t low = is_int ? spec->low : clamp(spec->a), high = is_int ? spec->high : clamp(spec->b);
    if (!is_int && high > 0 && (double)high == spec->b)
        high--; /* the end is not included, and floats are truncated */
    return (fits_type(dtype, low) && fits_type(dtype, high)) ||
           fail(err, IRRUN_USAGE,
                "--random: input \"%s\" is %s, which cannot hold numbers from %" PRId64
                " to %" PRId64,
                name, irrun_dtype_name(dtype), low, high);
}

bool random_record(const struct random_spec *spec, uint64_t seed, size_t index,
                   const struct records_port *port, struct irrun_tensor *record,
                   struct irrun_error *err)
{
    size_t size_bytes;
    *record =
        (struct irrun_tensor){.dtype = port->dtype == IRRUN_DYNAMIC ? IRRUN_F32 : port->dtype};
    partial_shape_to_shape(&port->shape, &record->shape);
    if (!check_range(spec, record->dtype, port->name, err))
        return false;
    if (!tensor_size(record->dtype, &record->shape, &size_bytes))
        return fail_memory(err, SIZE_MAX);
    record->data = huge_alloc(size_bytes);
    if (!record->data)
        return fail_memory(err, size_bytes);
    fill_tensor(spec, seed, index, record);
    return true;
}
