/* The table of formats, and the parser of the SRC and DST arguments of the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/text.h"
#include "formats/format_internal.h"

#define FORMAT(id, read, write, ...)                                                               \
    {.name = #id, .read_endings = read, .write_endings = write, __VA_ARGS__},
static const struct format formats[] = {
#include "formats/formats.def"
};

#define N_FORMATS (sizeof formats / sizeof formats[0])

size_t format_count(void)
{
    return N_FORMATS;
}

const struct format *format_at(size_t index)
{
    return index < N_FORMATS ? &formats[index] : NULL;
}

static const struct format *find(const char *name, size_t length)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strlen(formats[i].name) == length && strncasecmp(formats[i].name, name, length) == 0)
            return &formats[i];
    return NULL;
}

const struct format *format_find(const char *name)
{
    return find(name, strlen(name));
}

/* ---- SRC and DST ------------------------------------------------------------------------------*/

enum direction { READING, WRITING };

static bool can_use(const struct format *format, enum direction direction)
{
    return direction == READING ? format->can_read : format->can_write;
}

static const char *file_ending(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot : "";
}

/* Returns whether `ending` is one of the words of `endings`, in any letter case. */
static bool has_ending(const char *endings, const char *ending)
{
    size_t length = strlen(ending);
    while (*endings != '\0' && length != 0) {
        size_t n = strcspn(endings, " ");
        if (n == length && strncasecmp(endings, ending, n) == 0)
            return true;
        endings += n + (endings[n] == ' ');
    }
    return false;
}

static const struct format *format_of_ending(const char *path, enum direction direction)
{
    const char *ending = file_ending(path);
    for (size_t i = 0; i < N_FORMATS; i++)
        if (has_ending(direction == READING ? formats[i].read_endings : formats[i].write_endings,
                       ending))
            return &formats[i];
    return NULL;
}

/* Extensions of sound files that sox can convert. */
static const char sound_endings[] = ".mp3 .opus .m4a .aif .aiff .au .snd .sph .w64 .gsm .amr";

bool format_is_sound(const char *path)
{
    return has_ending(sound_endings, file_ending(path));
}

bool format_hint_sound(struct irrun_error *err, const char *path, const char *model)
{
    char quoted[TEXT_QUOTED_BYTES];
    return fail_hint(err,
                     "sox %s -r RATE -c 1 -t s16 - | irrun %s -i s16:-; RATE is what the model was "
                     "trained with",
                     strcmp(path, "-") == 0 ? "FILE.wav" : text_shell_quote(path, quoted), model);
}

bool format_hint_list(struct irrun_error *err, const char *path)
{
    char quoted[TEXT_QUOTED_BYTES];
    bool is_directory = file_is_directory(path), is_pattern = strpbrk(path, "*?[") != NULL;
    return fail_hint(err, "ls %s%s%s | irrun MODEL.xml --manifest=- runs %s",
                     is_pattern ? path : text_shell_quote(path, quoted),
                     is_directory && path[strlen(path) - 1] != '/' ? "/" : "",
                     is_directory ? "*" : "",
                     is_directory ? "its files"
                     : is_pattern ? "these files"
                                  : "it");
}

/* Extensions of files of other programs, and hints on how to convert them. */
static const struct {
    const char *endings, *hint;
} foreign[] = {
    {".xlsx .xls .xlsm .ods .numbers", "a spreadsheet: save it as CSV"},
    {".parquet .feather .arrow .orc",
     "a table of pandas: DataFrame.to_csv(\"x.csv\", index=False) writes it as csv"},
    {".mp4 .mov .mkv .webm .aac .wma",
     "ffmpeg -i FILE -ac 1 -ar RATE -f s16le - | irrun MODEL.xml -i s16:-; RATE is what the model "
     "was trained with"},
    {".png .jpg .jpeg .bmp .gif .webp .tif .tiff .pt .pth .pkl .h5 .hdf5 .mat .json",
     "convert it with Python: numpy.save(\"x.npy\", array) writes an array of the type and shape "
     "of the input"}};

#define NAMES_BYTES 128

/* Writes the names of the file formats to `text`, separated by spaces. */
static void list_formats(enum direction direction, char text[NAMES_BYTES])
{
    size_t length = 0;
    for (size_t i = 0; i < N_FORMATS && length < NAMES_BYTES; i++)
        if (can_use(&formats[i], direction) && !formats[i].is_generated)
            length += (size_t)snprintf(text + length, NAMES_BYTES - length, "%s%s",
                                       length > 0 ? " " : "", formats[i].name);
}

/* Adds a hint for a name such as x.npy.gz: the command that decompresses it. */
static bool hint_gzip(const char *text, struct irrun_error *err)
{
    char stem[256], quoted[TEXT_QUOTED_BYTES];
    size_t length = strlen(text);
    if (!text_has_ending(text, ".gz") || length - 3 >= sizeof stem)
        return false;
    snprintf(stem, sizeof stem, "%.*s", (int)length - 3, text);
    const struct format *format = format_of_ending(stem, READING);
    return format && !fail_hint(err, "gunzip -c %s | irrun MODEL.xml -i %s:-",
                                text_shell_quote(text, quoted), format->name);
}

/* Adds a hint for a name such as cvs:FILE. */
static bool hint_similar(const char *text, enum direction direction, struct irrun_error *err)
{
    char word[16];
    size_t length = strcspn(text, ":");
    unsigned limit = 2;
    const char *nearest = NULL;
    if (text[length] != ':' || length >= sizeof word)
        return false;
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    for (size_t i = 0; i < N_FORMATS; i++) {
        unsigned distance = text_distance(word, formats[i].name, limit);
        bool is_likely = distance < 2 || word[0] == formats[i].name[0];
        if (!can_use(&formats[i], direction) || distance > limit || !is_likely)
            continue;
        nearest = formats[i].name;
        limit = distance - (distance > 0);
    }
    return nearest && !fail_hint(err, "did you mean %s%s?", nearest, text + length);
}

/* Returns the format whose name ends at `end`. The name may end in ",t", for the text variant. */
static const struct format *named_format(const char *text, const char *end, bool *is_text_variant)
{
    size_t length = (size_t)(end - text);
    *is_text_variant = length > 2 && memcmp(end - 2, ",t", 2) == 0;
    const struct format *format = find(text, *is_text_variant ? length - 2 : length);
    /* Only ark has a text form. */
    return *is_text_variant && format && format->writer != &ark_writer ? NULL : format;
}

/* Finds the format and the path of [FORMAT:]PATH. The format may not support `direction`; it is
 * NULL if the format is not known. */
static struct format_spec find_spec(const char *text, enum direction direction)
{
    struct format_spec spec = {.text = text, .path = text};
    const char *end = text + strcspn(text, ":");
    spec.format = named_format(text, end, &spec.is_text_variant);
    if (spec.format)
        spec.path = end + (*end == ':');
    else
        spec = (struct format_spec){format_of_ending(text, direction), text, text, false};
    const struct format *other = format_of_ending(text, direction == READING ? WRITING : READING);
    if (!spec.format && other && !can_use(other, direction))
        spec.format = other;
    return spec;
}

/* Names the first files of the directory. */
static void fail_directory(const char *path, struct irrun_error *err)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort), n_shown = 0;
    fail(err, IRRUN_USAGE, "\"%s\" is a directory, not a file", path);
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.' && n_shown++ < 4)
            fail_append(err, "%s%s", n_shown == 1 ? "; it holds " : ", ",
                        n_shown < 4 ? entries[i]->d_name : "...");
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static bool fail_no_format(const char *text, enum direction direction, struct irrun_error *err)
{
    char names[NAMES_BYTES], quoted[TEXT_QUOTED_BYTES];
    const char *word = text_shell_quote(text, quoted);
    size_t length = strlen(text);
    const bool is_directory = file_is_directory(text);
    const bool has_slash = length > 0 && text[length - 1] == '/';
    list_formats(direction, names);
    if (is_directory)
        fail_directory(text, err);
    else
        fail(err, IRRUN_USAGE, "the format of \"%s\" is not known", text);
    if (length == 0)
        return fail_hint(err, "the file follows '=' without a blank: NAME=FILE");
    if (text_list_has("-,stdin,stdout,/dev/stdin,/dev/stdout", text))
        return fail_hint(err, "csv:- is numbers as text; write FORMAT:- with one of: %s", names);
    if (direction == WRITING && strcmp(text, "/dev/null") == 0)
        return fail_hint(err, "-o none: writes no outputs");
    if (direction == READING && is_directory)
        return format_hint_list(err, text);
    if (direction == WRITING && (is_directory || has_slash))
        return fail_hint(err,
                         "-o %s%s%%n.npy writes a file for each output; with --manifest %%k.npy "
                         "one for each sequence",
                         word, has_slash ? "" : "/");
    if (direction == READING && hint_gzip(text, err))
        return false;
    if (direction == READING && strpbrk(text, "0123456789") &&
        text[strspn(text, "0123456789.,+-eE")] == '\0')
        return fail_hint(err, "did you mean value:%s?", text);
    if (text_has_ending(text, ".tsv"))
        return fail_hint(err,
                         direction == READING ? "csv:%s reads columns between tabs"
                                              : "csv:%s is written with commas",
                         word);
    if (direction == WRITING && text_has_ending(text, ".json"))
        return fail_hint(err, "-o %sl writes a line of JSON for each record", text);
    if (hint_similar(text, direction, err))
        return false;
    if (direction == READING && format_is_sound(text))
        return format_hint_sound(err, text, "MODEL.xml");
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0] && direction == READING; i++)
        if (has_ending(foreign[i].endings, file_ending(text)))
            return fail_hint(err, "%s", foreign[i].hint);
    const char *colon = strchr(text, ':');
    struct format_spec rest = colon ? find_spec(colon + 1, direction) : (struct format_spec){0};
    if (rest.format && can_use(rest.format, direction) && *rest.path)
        return fail_hint(err, "a name ends with '=': %.*s=%s", (int)(colon - text), text,
                         colon + 1);
    return fail_hint(err, "write FORMAT:%s with one of: %s", word, names);
}

/* Returns whether the path may be empty, as in none: and count: */
static bool may_lack_path(const struct format *format)
{
    return format->writer == &none_writer || format->is_counted;
}

/* Fails because the path or value is missing, as in "csv:" and "csv". */
static bool fail_no_path(const char *text, const struct format *format, enum direction direction,
                         struct irrun_error *err)
{
    int n = (int)strcspn(text, ":");
    fail(err, IRRUN_USAGE, "\"%s\" has no %s", text,
         may_lack_path(format)  ? "colon"
         : format->is_generated ? "value"
                                : "path");
    if (may_lack_path(format))
        return fail_hint(err, "write %.*s:", n, text);
    if (format->is_generated)
        return fail_hint(err, "%.*s:1 is the number 1", n, text);
    if (format->can_write && !format->can_pipe)
        return fail_hint(err, "%.*s:FILE names a file", n, text);
    return fail_hint(err, "%.*s:- is standard %s", n, text,
                     direction == READING ? "input" : "output");
}

static bool parse_spec(const char *text, enum direction direction, struct format_spec *spec,
                       struct irrun_error *err)
{
    *spec = find_spec(text, direction);
    if (spec->format == NULL)
        return fail_no_format(text, direction, err);
    if (!can_use(spec->format, direction)) {
        fail(err, IRRUN_USAGE, "format %s is only for %s", spec->format->name,
             direction == READING ? "outputs" : "inputs");
        if (strcmp(spec->format->name, "text") == 0)
            fail_hint(err, "csv:%s also reads the text format of irrun", spec->path);
        if (strcmp(spec->format->name, "jsonl") == 0)
            fail_hint(err, "jq -r '.NAME | flatten | @csv' FILE | irrun MODEL.xml -i csv:-");
        return false;
    }
    return spec->path[0] != '\0' || (strchr(text, ':') && may_lack_path(spec->format)) ||
           fail_no_path(text, spec->format, direction, err);
}

bool format_parse_source(const char *text, struct format_spec *spec, struct irrun_error *err)
{
    return parse_spec(text, READING, spec, err);
}

bool format_parse_destination(const char *text, struct format_spec *spec, struct irrun_error *err)
{
    return parse_spec(text, WRITING, spec, err);
}
