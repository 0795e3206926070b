/* Checks that the first elements of a raw input are plausible; otherwise guesses their real type.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/cast.h"
#include "cli/records_internal.h"
#include "formats/byte_order.h"

/* The range of plausible inputs. Half of all random f32 are outside this range, and a quarter are
 * above LARGEST. */
#define LARGEST 1e20F
#define SMALLEST 1e-20F

bool raw_check_is_due(const struct records *records)
{
    return records->pending.is_guess && records->options && !records->options->accepts_any_raw &&
           dtype_is_float(records->source_dtype);
}

/* ---- Types that the bytes may have ----------------------------------------------------------- */

/* A type that the bytes may really have. */
struct candidate {
    enum irrun_dtype dtype;
    bool is_swapped; /* in the byte order that this machine does not use */
    size_t n_needed; /* plausible nonzero elements; fewer may be chance */
};

/* About half of all random f32, and one in 15 of all random f64, are between SMALLEST and LARGEST.
 * That n_needed random elements are plausible has a chance of about 1 in 50,000: 0.5^16, or 15^-4.
 * Pairs of f32 are also plausible as f64, so f32 comes first. */
static const struct candidate candidates[] = {
    {IRRUN_F32, false, 16}, {IRRUN_F64, false, 4}, {IRRUN_F32, true, 16}, {IRRUN_F64, true, 4}};

/* Returns whether n_bytes, at byte `start` of the input, are plausible as this type. */
static bool is_plausible(const struct candidate *candidate, uint64_t start,
                         const unsigned char *bytes, size_t n_bytes)
{
    size_t size_bytes = dtype_size(candidate->dtype), n_found = 0;
    size_t first = (size_t)((size_bytes - start % size_bytes) % size_bytes);
    for (size_t i = first; i + size_bytes <= n_bytes; i += size_bytes) {
        unsigned char element[sizeof(double)];
        memcpy(element, bytes + i, size_bytes);
        if (candidate->is_swapped)
            swap_elements(element, size_bytes, 1);
        double size = fabs(element_as_f64(candidate->dtype, element, 0));
        if (size != 0 && !(size >= SMALLEST && size <= LARGEST))
            return false;
        n_found += size != 0;
    }
    return n_found >= candidate->n_needed;
}

static const struct candidate *find_candidate(enum irrun_dtype dtype, uint64_t start,
                                              const void *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        bool is_same = candidates[i].dtype == dtype && !candidates[i].is_swapped;
        if (!is_same && is_plausible(&candidates[i], start, bytes, n_bytes))
            return &candidates[i];
    }
    return NULL;
}

/* ---- Hints ----------------------------------------------------------------------------------- */

/* Returns the path as given on the command line, or `standard` for standard input. */
static const char *typed_path(const struct records *records, const char *standard)
{
    const char *path = records_path(records);
    return strcmp(path, STANDARD_INPUT) == 0 ? standard : path;
}

static bool hint_audio(const struct records *records, struct irrun_error *err)
{
    char quoted[TEXT_QUOTED_BYTES];
    const struct options *options = records->options;
    const char *equals, *name = records_option_name(records, &equals);
    bool needs_cast = options->cast != CAST_ANY && !cast_is_safe(IRRUN_F32, records->source_dtype);
    return fail_hint(err,
                     "if it is 16-bit audio, try %s%s%ss16:%s%s; --raw-check=never accepts the "
                     "bytes as they are",
                     options->manifest_path ? "" : "-i ", name, equals,
                     text_shell_quote(typed_path(records, "-"), quoted),
                     needs_cast ? " --cast=any" : "");
}

/* Returns NumPy's name of a type; NULL if NumPy lacks the type. */
static const char *numpy_type(enum irrun_dtype dtype)
{
    return dtype == IRRUN_F16 ? "f2" : dtype == IRRUN_F32 ? "f4" : dtype == IRRUN_F64 ? "f8" : NULL;
}

static bool hint_candidate(const struct records *records, const struct candidate *candidate,
                           struct irrun_error *err)
{
    bool is_little = is_little_endian() != candidate->is_swapped;
    const char *order = is_little ? "little-endian" : "big-endian";
    const char *type = irrun_dtype_name(candidate->dtype),
               *wanted = numpy_type(records->source_dtype);
    if (!wanted)
        return fail_hint(err, "the bytes look like %s %s: read them as npy with --cast=any", order,
                         type);
    return fail_hint(
        err,
        "the bytes look like %s %s, which NumPy converts: numpy.fromfile(\"%s\", "
        "\"%s%s\").astype(\"%s\").tofile(\"y.raw\"); --raw-check=never accepts them as they are",
        order, type, typed_path(records, "FILE"), is_little ? "<" : ">",
        numpy_type(candidate->dtype), wanted);
}

#define MIN_TEXT_BYTES 64 /* fewer bytes may look like text by chance */

/* Returns whether the bytes begin with lines of ASCII text. A repeated float may look like text:
 * 0.7 as f32 is "333?". */
static bool is_text(const unsigned char *bytes, size_t n)
{
    size_t i = 0, n_lines = 0;
    for (; i < n && i < MIN_TEXT_BYTES; i++) {
        if ((bytes[i] < ' ' || bytes[i] >= 0x7f) && !memchr("\t\n\r", bytes[i], 3))
            return false;
        n_lines += bytes[i] == '\n';
    }
    return i == MIN_TEXT_BYTES && n_lines > 0 && memcmp(bytes, bytes + 4, MIN_TEXT_BYTES - 4) != 0;
}

static bool fail_text(const struct records *records, struct irrun_error *err)
{
    char quoted[TEXT_QUOTED_BYTES];
    fail_at_offset(err, IRRUN_DATA, records_path(records), 0,
                   "%s \"%s\": the bytes are text, read as %s", records->port.what,
                   records->port.name, irrun_dtype_name(records->source_dtype));
    return fail_hint(err,
                     "if it holds numbers, read it as csv:%s; --raw-check=never accepts the bytes "
                     "as they are",
                     text_shell_quote(typed_path(records, "-"), quoted));
}

bool raw_check(const struct records *records, size_t n_before, const void *elements, size_t n,
               struct irrun_error *err)
{
    size_t size_bytes = dtype_size(records->source_dtype), left = RAW_CHECK_ELEMENTS - n_before;
    double values[256];
    n = n < left ? n : left;
    if (n_before == 0 && is_text(elements, n * size_bytes))
        return fail_text(records, err);
    for (size_t i = 0; i < n; i++) {
        size_t k = i % 256, n_block = n - i < 256 ? n - i : 256;
        if (k == 0)
            convert_elements(records->source_dtype, (const char *)elements + i * size_bytes,
                             IRRUN_F64, values, n_block);
        if (fabs(values[k]) <= LARGEST)
            continue;
        char number[TEXT_NUMBER_BYTES];
        if (records->source_dtype == IRRUN_F64)
            text_from_f64(values[k], number);
        else
            text_from_f32((float)values[k], number);
        uint64_t start = (uint64_t)n_before * size_bytes;
        fail_at_offset(err, IRRUN_DATA, records_path(records), start + i * size_bytes,
                       "%s \"%s\": the number here is %s, read as %s", records->port.what,
                       records->port.name, number, irrun_dtype_name(records->source_dtype));
        const struct candidate *candidate =
            find_candidate(records->source_dtype, start, elements, n * size_bytes);
        return candidate ? hint_candidate(records, candidate, err) : hint_audio(records, err);
    }
    return true;
}
