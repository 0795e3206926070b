/* Reads a manifest line by line, so that memory use does not depend on its length.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/manifest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "formats/byte_source.h"

#define LINE_HINT "a line is KEY<tab>NAME=FILE<tab>..., or only a file"

struct manifest {
    struct byte_source source;
    char *path;         /* for messages */
    struct text line;   /* the last line, without its line feed */
    uint32_t n_lines;   /* read so far */
    bool has_only_keys; /* a line is only a key, because --random fills all inputs */
};

bool manifest_open(const struct options *options, const struct reader_wait *wait,
                   struct manifest **manifest, struct irrun_error *err)
{
    const char *path = options->manifest_path;
    struct manifest *made = *manifest = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    for (size_t i = 0; i < options->randoms.n; i++)
        made->has_only_keys |= options->randoms.items[i].name == NULL;
    made->path = strdup(strcmp(path, "-") == 0 ? STANDARD_INPUT : path);
    if (!made->path)
        return fail_memory(err, strlen(path) + 1);
    if (!source_open_file(&made->source, path, made->path, err))
        return false;
    made->source.wait = wait;
    return true;
}

void manifest_close(struct manifest *manifest)
{
    if (!manifest)
        return;
    source_close(&manifest->source);
    text_free(&manifest->line);
    free(manifest->path);
    free(manifest);
}

/* Reads a line, which may be empty, up to the line feed or the end of the file. */
static bool read_raw_line(struct manifest *manifest, bool *is_end, struct irrun_error *err)
{
    struct byte_source *source = &manifest->source;
    const unsigned char *end = NULL;
    manifest->line.length = 0;
    text_add_bytes(&manifest->line, "", 0);
    do {
        if (!source_want(source, 1, err))
            return false;
        const unsigned char *start = source_bytes(source);
        size_t n = source_available(source);
        *is_end = n == 0;
        end = n > 0 ? memchr(start, '\n', n) : NULL;
        n = end ? (size_t)(end - start) : n;
        text_add_bytes(&manifest->line, (const char *)start, n);
        source_consume(source, n + (end != NULL));
    } while (!end && !*is_end);
    *is_end = *is_end && manifest->line.length == 0;
    return text_check(&manifest->line, err);
}

static bool fail_nul(const char *line, struct irrun_error *err)
{
    bool is_utf_16 = strncmp(line, "\xff\xfe", 2) == 0 || strncmp(line, "\xfe\xff", 2) == 0;
    fail(err, IRRUN_DATA, "contains a NUL byte");
    return fail_hint(err, is_utf_16 ? "iconv -f UTF-16 -t UTF-8 FILE | irrun ... --manifest=-"
                                    : "tr '\\0' '\\n' <FILE | irrun ... --manifest=-");
}

/* Reads the next line that is not empty, without its line end. */
static bool read_line(struct manifest *manifest, bool *is_end, struct irrun_error *err)
{
    struct text *line = &manifest->line;
    if (manifest->n_lines == 0 &&
        !(source_want(&manifest->source, 1, err) && source_skip_bom(&manifest->source, err)))
        return false;
    do {
        if (!read_raw_line(manifest, is_end, err))
            return false;
        if (*is_end)
            return true;
        manifest->n_lines++;
        while (line->length > 0 && line->data[line->length - 1] == '\r')
            line->data[--line->length] = '\0';
    } while (line->length == 0);
    return true;
}

static bool check_source(const struct format_spec *spec, struct irrun_error *err)
{
    return (strcmp(spec->path, "-") != 0 && !spec->format->has_keys) ||
           fail(err, IRRUN_DATA, "'%s' is not the source of a single sequence", spec->text);
}

/* Parses [NAME=]SRC or [NAME=]DST. Splits the text, which is in the arena of the sequence,
 * in place. */
static bool parse_binding(char *text, bool is_output, struct binding *binding,
                          struct irrun_error *err)
{
    char *equals = strchr(text, '=');
    *binding = (struct binding){.name = equals ? text : NULL};
    if (equals)
        *equals = '\0';
    const char *rest = equals ? equals + 1 : text;
    if (equals == text || *rest == '\0')
        return fail(err, IRRUN_DATA, "a field has no name or no file") || fail_hint(err, LINE_HINT);
    if (is_output && *rest == ' ')
        return fail(err, IRRUN_DATA, "a blank follows '>'") ||
               fail_hint(err, "write >%s", rest + 1);
    if (is_output)
        return format_parse_destination(rest, &binding->spec, err);
    return format_parse_source(rest, &binding->spec, err) && check_source(&binding->spec, err);
}

static size_t count_fields(const char *line)
{
    size_t n = 1;
    for (const char *c = line; *c; c++)
        n += *c == '\t';
    return n;
}

/* Returns whether tabs are probably missing in a line without a tab, as in "a a.npy": its last word
 * is an existing file, but the whole line is not. */
static bool lacks_tabs(const char *line)
{
    struct format_spec spec;
    struct irrun_error ignored = {.code = IRRUN_OK};
    const char *word = strrchr(line, ' '), *equals = word ? strchr(word, '=') : NULL;
    return word && format_parse_source(equals ? equals + 1 : word + 1, &spec, &ignored) &&
           access(spec.path, F_OK) == 0 && access(line, F_OK) != 0;
}

/* has_files: the first word is also an existing file. */
static bool fail_lacks_tabs(bool has_files, struct irrun_error *err)
{
    fail(err, IRRUN_DATA, "has only one field: fields are separated by tabs, not blanks");
    return fail_hint(err, "tr -s ' ' '%s' <FILE | irrun ... --manifest=-",
                     has_files ? "\\n" : "\\t");
}

/* Returns whether the line looks like output of ls -l. */
static bool is_long_listing(const char *line)
{
    return (strchr("-dl", line[0]) && strspn(line + 1, "-rwxsStT") == 9) ||
           (strncmp(line, "total ", 6) == 0 && line[6 + strspn(line + 6, "0123456789")] == '\0');
}

/* Parses a line that is only a source. Returns false without an error if the line is not a
 * source. */
static bool parse_path(const char *line, struct sequence *sequence, struct irrun_error *err)
{
    struct binding binding = {.name = NULL};
    struct irrun_error ignored = {.code = IRRUN_OK};
    if (!format_parse_source(line, &binding.spec, &ignored) || !check_source(&binding.spec, err))
        return false;
    sequence->inputs = arena_alloc_array(&sequence->arena, 1, sizeof *sequence->inputs, err);
    sequence->key = sequence_key_of_path(binding.spec.path, &sequence->arena, err);
    if (!sequence->inputs || !sequence->key)
        return false;
    sequence->inputs[0] = (struct sequence_input){.binding = binding};
    sequence->n_inputs = 1;
    return true;
}

static bool parse_line(const struct manifest *manifest, char *line, struct sequence *sequence,
                       struct irrun_error *err)
{
    size_t n = count_fields(line);
    if (strlen(line) < manifest->line.length)
        return fail_nul(line, err);
    if (strchr(line, '\r'))
        return fail(err, IRRUN_DATA, "contains a carriage return within the line");
    if (n == 1 && is_long_listing(line) && access(line, F_OK) != 0) {
        fail(err, IRRUN_DATA, "is a line of ls -l, not the name of a file");
        return fail_hint(err, "ls FOLDER/* | irrun ... --manifest=-");
    }
    if (n == 1 && lacks_tabs(line)) {
        line[strcspn(line, " ")] = '\0';
        return fail_lacks_tabs(access(line, F_OK) == 0, err);
    }
    if (n == 1 && !manifest->has_only_keys && (parse_path(line, sequence, err) || err->code))
        return err->code == IRRUN_OK;
    struct binding *outputs = arena_alloc_array(&sequence->arena, n, sizeof *outputs, err);
    sequence->inputs = arena_alloc_array(&sequence->arena, n, sizeof *sequence->inputs, err);
    if (!outputs || !sequence->inputs)
        return false;
    sequence->outputs = outputs;
    sequence->key = line;
    for (char *field = strchr(line, '\t'); field;) {
        char *next = strchr(field + 1, '\t');
        *field++ = '\0';
        if (next)
            *next = '\0';
        bool is_output = *field == '>';
        struct binding *binding = is_output ? &outputs[sequence->n_outputs++]
                                            : &sequence->inputs[sequence->n_inputs++].binding;
        if (!parse_binding(field + is_output, is_output, binding, err))
            return false;
        field = next;
    }
    return *sequence->key != '\0' || fail(err, IRRUN_DATA, "does not start with a key") ||
           fail_hint(err, LINE_HINT);
}

bool manifest_next(struct manifest *manifest, struct sequence *sequence, bool is_wanted,
                   bool *is_end, struct irrun_error *err)
{
    if (!read_line(manifest, is_end, err))
        return false;
    if (*is_end || !is_wanted)
        return true;
    sequence->place = (struct place){manifest->path, manifest->n_lines, 0};
    char *line = arena_strdup(&sequence->arena, manifest->line.data, err);
    if (line && parse_line(manifest, line, sequence, err))
        return true;
    sequence_locate(sequence, err);
    return false;
}
