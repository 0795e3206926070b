/* Checks whether a sound file is truncated. RIFF, RF64 and AIFF files give the length of their
 * samples; each page of an Ogg file gives its own length.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/format_internal.h"

#include <inttypes.h>
#include <string.h>

#include "formats/byte_order.h"

/* ---- RIFF and AIFF --------------------------------------------------------------------------- */

/* The chunk of the samples. A program that writes to a pipe does not know the length of the chunk,
 * so it writes a length of about 2 GB (min_unknown or more), or of 4 GB. */
struct samples {
    const char *name;
    uint32_t (*read_u32)(const unsigned char *bytes);
    uint32_t min_unknown;
};

static bool is_unknown_length(const struct samples *samples, uint64_t n_bytes)
{
    return (n_bytes >= samples->min_unknown && n_bytes <= 0x80000000) ||
           (n_bytes >= 0xffff0000 && n_bytes <= UINT32_MAX) || n_bytes > INT64_MAX;
}

static bool check_samples(const struct byte_source *source, const struct samples *samples,
                          uint64_t n_bytes, struct irrun_error *err)
{
    uint64_t left = source_left(source), end = source->offset + left;
    if (left >= n_bytes || is_unknown_length(samples, n_bytes))
        return true;
    char quoted[TEXT_QUOTED_BYTES];
    fail_at_offset(err, IRRUN_DATA, source->path, end,
                   "the file is truncated: %" PRIu64 " of the %" PRIu64
                   " bytes of its samples are missing",
                   n_bytes - left, n_bytes);
    return fail_hint(err,
                     "it ends after %" PRIu64 " of %" PRIu64
                     " bytes: was a copy interrupted? sox %s rest.wav saves what is there",
                     end, source->offset + n_bytes, text_shell_quote(source->path, quoted));
}

/* Looks for the chunk of the samples. Each chunk begins with 8 bytes, its name and its length. In
 * RF64, the chunk ds64 comes first and holds two 64-bit lengths: that of the file, then that of the
 * samples. */
static bool check_chunks(struct byte_source *source, const struct samples *samples,
                         struct irrun_error *err)
{
    unsigned char head[8], lengths[16] = {0};
    uint64_t long_bytes = 0;
    size_t n;
    for (;;) {
        if (!source_read(source, head, sizeof head, &n, err))
            return false;
        if (n < sizeof head)
            return true;
        uint32_t n_bytes = samples->read_u32(head + 4);
        if (memcmp(head, samples->name, 4) == 0)
            return check_samples(source, samples,
                                 n_bytes == UINT32_MAX && long_bytes > 0 ? long_bytes : n_bytes,
                                 err);
        if (memcmp(head, "ds64", 4) == 0 && n_bytes >= sizeof lengths) {
            if (!source_read(source, lengths, sizeof lengths, &n, err))
                return false;
            long_bytes = little_u64(lengths + 8);
            n_bytes -= (uint32_t)sizeof lengths;
        }
        if (!source_read(source, NULL, (size_t)n_bytes + n_bytes % 2, &n, err))
            return false;
    }
}

/* ---- Ogg ------------------------------------------------------------------------------------- */

/* A page: a header, whose last byte is the number of segments, a byte for the length of each, and
 * the segments. */
#define PAGE_HEADER_BYTES 27
#define MAX_PAGE_BYTES (PAGE_HEADER_BYTES + 255 + 255 * 255)

/* Returns whether the page is complete. */
static bool is_whole_page(const unsigned char *page, size_t n_bytes)
{
    if (n_bytes < PAGE_HEADER_BYTES)
        return false;
    size_t n_segments = page[PAGE_HEADER_BYTES - 1], size_bytes = PAGE_HEADER_BYTES + n_segments;
    for (size_t i = 0; i < n_segments && size_bytes <= n_bytes; i++)
        size_bytes += page[PAGE_HEADER_BYTES + i];
    return size_bytes <= n_bytes;
}

static bool fail_last_page(const struct byte_source *source, uint64_t end, struct irrun_error *err)
{
    char quoted[TEXT_QUOTED_BYTES];
    fail_at_offset(err, IRRUN_DATA, source->path, end,
                   "the file is truncated: its last Ogg page is not complete");
    return fail_hint(err, "was a copy interrupted? sox %s rest.wav saves what is there",
                     text_shell_quote(source->path, quoted));
}

/* Looks for the last page. It need not be marked as the last of its stream, because recordings of
 * live streams have no page with that mark. */
static bool check_pages(struct byte_source *source, struct irrun_error *err)
{
    size_t n;
    uint64_t left = source_left(source), end = source->offset + left;
    if (left > MAX_PAGE_BYTES &&
        !source_read(source, NULL, (size_t)(left - MAX_PAGE_BYTES), &n, err))
        return false;
    if (!source_want(source, MAX_PAGE_BYTES, err))
        return false;
    const unsigned char *bytes = source_bytes(source);
    n = source_available(source);
    for (size_t i = n; i-- > 0;) {
        if (n - i < 4 || memcmp(bytes + i, "OggS", 4) != 0)
            continue;
        if (is_whole_page(bytes + i, n - i))
            break;
        return fail_last_page(source, end, err);
    }
    return true;
}

bool sound_check_length(struct byte_source *source, struct irrun_error *err)
{
    static const struct samples riff = {"data", little_u32, 0x7fff0000};
    static const struct samples aiff = {"SSND", big_u32, 0x7f000000};
    unsigned char head[12];
    size_t n;
    if (!source_read(source, head, sizeof head, &n, err))
        return false;
    if (n < sizeof head)
        return true;
    if ((memcmp(head, "RIFF", 4) == 0 || memcmp(head, "RF64", 4) == 0) &&
        memcmp(head + 8, "WAVE", 4) == 0)
        return check_chunks(source, &riff, err);
    if (memcmp(head, "FORM", 4) == 0 && memcmp(head + 8, "AIF", 3) == 0)
        return check_chunks(source, &aiff, err);
    return memcmp(head, "OggS", 4) != 0 || check_pages(source, err);
}
