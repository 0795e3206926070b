/* Builds, compares and escapes text, and converts numbers to and from text in any locale.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_TEXT_H
#define IRRUN_BASE_TEXT_H

#include <stddef.h>

#include "base/error.h"

/* Initialize with zeros. `data` is NUL-terminated after the first text_add. */
struct text {
    char *data;
    size_t length, capacity;
    bool is_failed;      /* an allocation failed: the text is incomplete */
    size_t failed_bytes; /* the size of that allocation */
};

void text_add(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_free(struct text *text);

/* Fails with IRRUN_SYSTEM if the text is incomplete because an allocation failed. */
bool text_check(const struct text *text, struct irrun_error *err);

/* Parse a whole string as one number. The number may have blanks around it. Return false for any
 * other text. Floats are written as in C or JSON, or as nan, inf or infinity in any letter case.
 * The locale has no effect. */
bool text_to_i64(const char *text, size_t length, int64_t *value);
bool text_to_f64(const char *text, size_t length, double *value);
bool text_to_f32(const char *text, size_t length, float *value); /* rounded once */

/* Write the shortest decimal that reads back as the same float or double, or "nan", "inf" or
 * "-inf". Return the length. */
#define TEXT_NUMBER_BYTES 40
size_t text_from_f32(float value, char out[TEXT_NUMBER_BYTES]);
size_t text_from_f64(double value, char out[TEXT_NUMBER_BYTES]);

/* Does the same for a type of at most 24 significant bits. `narrow` rounds a positive number to
 * that type. Whole numbers below 2^24 are written in full. */
size_t text_from_narrow(float value, float (*narrow)(double decimal), char out[TEXT_NUMBER_BYTES]);

/* Writes at most 20 digits, without a NUL. Returns their number. */
size_t text_from_u64(uint64_t value, char *out);

/* Returns the Levenshtein distance of two words, or limit + 1 if it is above limit. For "did you
 * mean" hints. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

static inline bool text_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A part of a text that it does not own. */
struct slice {
    const char *at, *end;
};
static inline size_t slice_length(struct slice slice)
{
    return (size_t)(slice.end - slice.at);
}

/* Returns the word as it must be typed in a shell: itself, or a copy in single quotes if a
 * character requires it. A word that does not fit is truncated. */
#define TEXT_QUOTED_BYTES 512
const char *text_shell_quote(const char *word, char out[TEXT_QUOTED_BYTES]);

/* Replaces control characters, so that text from a file cannot control the terminal or imitate an
 * error message. A newline is kept only before an indented line or at the end. U+0080 to U+009F (C2
 * 80 to C2 9F in UTF-8) are control characters too. Bytes that are not UTF-8 are also replaced. */
void text_hide_controls(char *text);

/* Writes the character at `at` to `out`, or "?" for a control character or a byte that is not
 * UTF-8. Returns the address after it. */
#define TEXT_CHARACTER_BYTES 5
const char *text_printable(const char *at, char out[TEXT_CHARACTER_BYTES]);

/* Returns the number of bytes of the UTF-8 character at `at`; 0 if it is not valid. */
size_t text_utf8_length(const char *at);

/* Writes the character at `at`, escaped for a JSON string if necessary. Returns the address after
 * it. A byte that is not UTF-8 becomes U+FFFD. */
#define TEXT_JSON_BYTES 8
const char *text_to_json(const char *at, char out[TEXT_JSON_BYTES]);

/* Removes blanks at both ends. */
struct slice slice_trim(struct slice slice);

bool text_equals_ignore_case(const char *a, const char *b);

/* Returns whether the name ends in the extension, such as ".bin", in upper or lower case, after at
 * least one other character. */
bool text_has_ending(const char *name, const char *ending);

/* Returns whether a list such as "a,b" contains the word. */
bool text_list_has(const char *list, const char *word);

#endif
