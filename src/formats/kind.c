/* Recognizes npy, npz, sound, gzip and text files by their first bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/format_internal.h"

#include <string.h>

static bool is_npy(const unsigned char *bytes, size_t n)
{
    return n >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0;
}

/* Returns whether the bytes begin with the local header of a zip member. The two bytes after the
 * signature, the version needed to extract, must be a small number. */
static bool is_npz(const unsigned char *bytes, size_t n)
{
    return n >= 6 && memcmp(bytes, "PK\3\4", 4) == 0 && bytes[4] < 100 && bytes[5] == 0;
}

/* Returns whether a file that begins with the bytes is a sound file: WAVE (RIFF or RF64), AIFF, the
 * first page of Ogg, FLAC, or .snd with a header of at most 64 KB. */
static bool is_sound(const unsigned char *bytes, size_t n)
{
    bool is_riff = n >= 12 && (memcmp(bytes, "RIFF", 4) == 0 || memcmp(bytes, "RF64", 4) == 0);
    return (is_riff && memcmp(bytes + 8, "WAVE", 4) == 0) ||
           (n >= 12 && memcmp(bytes, "FORM", 4) == 0 && memcmp(bytes + 8, "AIF", 3) == 0) ||
           (n >= 6 && (memcmp(bytes, "OggS\0\2", 6) == 0 || memcmp(bytes, ".snd\0\0", 6) == 0)) ||
           (n >= 8 && memcmp(bytes, "fLaC", 4) == 0 && memcmp(bytes + 5, "\0\0\x22", 3) == 0);
}

/* Returns whether a file that begins with the bytes is a gzip file: deflate, no reserved flags, and
 * the XFL and OS bytes that compressors write. */
static bool is_gzip(const unsigned char *bytes, size_t n)
{
    return n >= 10 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0 && bytes[3] < 32 &&
           (bytes[8] == 0 || bytes[8] == 2 || bytes[8] == 4) && (bytes[9] <= 13 || bytes[9] == 255);
}

/* Returns whether the bytes are ASCII text. Two bytes are not enough: an npz begins with "PK". */
static bool is_ascii(const unsigned char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && bytes[i] < 0x7f && (bytes[i] >= ' ' || memchr("\t\n\r", bytes[i], 3)))
        i++;
    return i == n && n > 2;
}

bool kind_check(const unsigned char *bytes, size_t n, const char *wanted, const char *path,
                struct irrun_error *err)
{
    const char *found = is_npy(bytes, n) ? "npy" : is_npz(bytes, n) ? "npz" : NULL;
    char quoted[TEXT_QUOTED_BYTES];
    const char *typed = strcmp(path, STANDARD_INPUT) == 0 ? "-" : path;
    if (is_sound(bytes, n)) {
        fail_at_offset(err, IRRUN_DATA, path, 0, "is a sound file with a header, not %s", wanted);
        return strcmp(typed, "-") == 0
                   ? format_hint_sound(err, typed, "MODEL.xml")
                   : fail_hint(err, "read it as wav:%s", text_shell_quote(typed, quoted));
    }
    if (is_gzip(bytes, n)) {
        fail_at_offset(err, IRRUN_DATA, path, 0, "is compressed with gzip, not %s", wanted);
        return fail_hint(err, "gunzip -c %s | irrun ... -i %s:-",
                         strcmp(typed, "-") ? text_shell_quote(typed, quoted) : "FILE", wanted);
    }
    bool is_numpy = strncmp(wanted, "np", 2) == 0;
    /* Read as samples, 64 bytes of ASCII text are all above 2000. No recording begins like that. */
    bool is_lines = strcmp(wanted, "s16") == 0 && n >= 64 && memchr(bytes, '\n', 64);
    size_t n_head = is_lines ? 64 : n < KIND_BYTES ? n : KIND_BYTES;
    if ((is_numpy || is_lines) && is_ascii(bytes, n_head)) {
        fail_at_offset(err, IRRUN_DATA, path, 0, "is text, not %s", wanted);
        return fail_hint(err, "if it holds numbers, read it as csv:%s",
                         text_shell_quote(typed, quoted));
    }
    if (!found || strcmp(found, wanted) == 0)
        return true;
    fail_at_offset(err, IRRUN_DATA, path, 0, "is an %s, not %s",
                   found[2] == 'y' ? "npy document" : "npz archive", wanted);
    bool may_be_sheet =
        strcmp(wanted, "csv") == 0 && found[2] == 'z' && !text_has_ending(path, ".npz");
    return fail_hint(err, "read it as %s:%s%s", found, text_shell_quote(typed, quoted),
                     may_be_sheet ? "; if it is a spreadsheet, save it as CSV" : "");
}
