/* A growing text buffer, and comparisons of words. text_to_number.c and text_from_number.c convert
 * numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

static bool set_failed(struct text *text, size_t size_bytes)
{
    text->is_failed = true;
    text->failed_bytes = size_bytes;
    return false;
}

/* Makes room for `length` more bytes and the NUL after them. */
static bool reserve(struct text *text, size_t length)
{
    size_t needed, wanted;
    if (text->is_failed)
        return false;
    if (!checked_add(text->length, length, &needed) || !checked_add(needed, 1, &needed))
        return set_failed(text, SIZE_MAX);
    if (needed <= text->capacity)
        return true;
    if (!checked_mul(text->capacity, 2, &wanted) || wanted < needed)
        wanted = needed < 64 ? 64 : needed;
    char *grown = realloc(text->data, wanted);
    if (!grown)
        return set_failed(text, wanted);
    text->data = grown;
    text->capacity = wanted;
    return true;
}

void text_add_bytes(struct text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    if (length != 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n_wanted = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n_wanted < 0) {
        set_failed(text, SIZE_MAX);
        return;
    }
    if (!reserve(text, (size_t)n_wanted))
        return;
    va_start(args, format);
    vsnprintf(text->data + text->length, (size_t)n_wanted + 1, format, args);
    va_end(args);
    text->length += (size_t)n_wanted;
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){NULL, 0, 0, false, 0};
}

bool text_check(const struct text *text, struct irrun_error *err)
{
    return !text->is_failed || fail_memory(err, text->failed_bytes);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

#define MAX_WORD_BYTES 255

/* Levenshtein distance. Keeps only one row of the table. */
unsigned text_distance(const char *a, const char *b, unsigned limit)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX_WORD_BYTES || m > MAX_WORD_BYTES)
        return strcmp(a, b) == 0 ? 0 : limit + 1;

    unsigned row[MAX_WORD_BYTES + 1];
    for (unsigned j = 0; j <= m; j++)
        row[j] = j;
    for (unsigned i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        unsigned best = row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = min3(replaced, row[j] + 1, row[j - 1] + 1);
            best = row[j] < best ? row[j] : best;
        }
        if (best > limit)
            return limit + 1;
    }
    return row[m] <= limit ? row[m] : limit + 1;
}

static char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool text_equals_ignore_case(const char *a, const char *b)
{
    while (*a != '\0' && to_lower(*a) == to_lower(*b)) {
        a++;
        b++;
    }
    return to_lower(*a) == to_lower(*b);
}

bool text_list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

bool text_has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), n = strlen(ending);
    return length > n && text_equals_ignore_case(name + length - n, ending);
}

const char *text_shell_quote(const char *word, char out[TEXT_QUOTED_BYTES])
{
    size_t n = 0;
    const char *special = strpbrk(word, " \t\n'\"\\$`&|;<>()*?[]!{}");
    if (!special && word[0] != '~' && word[0] != '#' && word[0] != '\0')
        return word;
    out[n++] = '\'';
    for (; *word && n + 6 < TEXT_QUOTED_BYTES; word++) {
        bool is_quote = *word == '\'';
        memcpy(out + n, is_quote ? "'\\''" : word, is_quote ? 4 : 1);
        n += is_quote ? 4 : 1;
    }
    out[n++] = '\'';
    out[n] = '\0';
    return out;
}

size_t text_utf8_length(const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    size_t n = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    /* Not valid: overlong forms, surrogates, and codes above U+10FFFF. */
    bool is_other = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] >= 0xA0) ||
                    (c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] >= 0x90) || c[0] > 0xF4;
    return is_other ? 0 : n;
}

const char *text_printable(const char *at, char out[TEXT_CHARACTER_BYTES])
{
    unsigned char c = (unsigned char)*at;
    size_t n = text_utf8_length(at);
    bool is_hidden = n == 0 || c < ' ' || c == 0x7f || (c == 0xC2 && (unsigned char)at[1] < 0xA0);
    snprintf(out, TEXT_CHARACTER_BYTES, "%.*s", (int)(is_hidden ? 1 : n), is_hidden ? "?" : at);
    return at + (n == 0 ? 1 : n);
}

void text_hide_controls(char *text)
{
    char out[TEXT_CHARACTER_BYTES];
    for (const char *end; *text != '\0'; text += end - text) {
        end = text_printable(text, out);
        if (out[0] == '?' && (*text != '\n' || (text[1] != '\0' && text[1] != ' ')))
            memset(text, '?', (size_t)(end - text));
    }
}

const char *text_to_json(const char *at, char out[TEXT_JSON_BYTES])
{
    unsigned char byte = (unsigned char)*at;
    size_t n = text_utf8_length(at);
    if (byte == '"' || byte == '\\')
        snprintf(out, TEXT_JSON_BYTES, "\\%c", byte);
    else if (byte < ' ' || byte == 0x7F || n == 0)
        snprintf(out, TEXT_JSON_BYTES, "\\u%04x", n == 0 ? 0xFFFDU : byte);
    else
        snprintf(out, TEXT_JSON_BYTES, "%.*s", (int)n, at);
    return at + (n == 0 ? 1 : n);
}
