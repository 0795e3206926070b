/* Adds hints to errors about files: the file that the user probably meant (one with a similar name,
 * the .xml next to a .bin, the model in a directory), or the file or directory that denies access.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/advice.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/path_fields.h"

#define NAME_BYTES ((size_t)256)
#define PATH_BYTES ((size_t)1024)

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Counts the files in the directory whose names end in `ending`, and sets `name` to the first one
 * in alphabetical order. If a file is named `best`, returns 1 and sets `name` to `best`. */
static size_t count_files(const char *directory, const char *ending, const char *best,
                          char name[NAME_BYTES])
{
    size_t n = 0;
    DIR *stream = opendir(directory);
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        bool is_best = strcmp(entry->d_name, best) == 0;
        if (!text_has_ending(entry->d_name, ending) || strlen(entry->d_name) >= NAME_BYTES)
            continue;
        if (n++ == 0 || is_best || strcmp(entry->d_name, name) < 0)
            strcpy(name, entry->d_name);
        if (is_best) {
            n = 1;
            break;
        }
    }
    if (stream)
        closedir(stream);
    return n;
}

/* Adds a hint that names a model in the directory that was given as the model. */
static void advise_directory(const char *directory, struct irrun_error *err)
{
    char name[NAME_BYTES] = "", path[PATH_BYTES + NAME_BYTES], quoted[TEXT_QUOTED_BYTES];
    size_t n = count_files(directory, ".xml", "model.xml", name), length = strlen(directory);
    const char *slash = length > 0 && directory[length - 1] == '/' ? "" : "/";
    snprintf(path, sizeof path, "%s%s%s", directory, slash, name);
    if (n == 1)
        fail_hint(err, "did you mean %s?", text_shell_quote(path, quoted));
    else if (n > 1)
        fail_hint(err, "it contains %zu models, for example %s", n, text_shell_quote(path, quoted));
}

/* Replaces the hint with "did you mean vad.xml?" for vad or vad.bin, if vad.xml exists. */
static void advise_model(const char *path, struct irrun_error *err)
{
    char other[PATH_BYTES], quoted[TEXT_QUOTED_BYTES];
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    int stem = dot ? (int)(dot - path) : (int)strlen(path);
    if ((snprintf(other, sizeof other, "%s.xml", path) < (int)sizeof other && is_file(other)) ||
        (snprintf(other, sizeof other, "%.*s.xml", stem, path) < (int)sizeof other &&
         is_file(other)))
        replace_hint(err, "did you mean %s?", text_shell_quote(other, quoted));
}

/* Splits a path into its name and a prefix: the directory with its slash, or "". Returns false if
 * the prefix is too long. */
static bool split_path(const char *path, char prefix[PATH_BYTES], const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    return snprintf(prefix, PATH_BYTES, "%.*s", (int)(*name - path), path) < (int)PATH_BYTES;
}

/* Adds a hint with the most similar name in the same directory; among equally similar names, the
 * first in alphabetical order. Ignores the name itself, which may be a dangling symbolic link. */
static void advise_similar_name(const char *path, struct irrun_error *err)
{
    char prefix[PATH_BYTES], nearest[NAME_BYTES] = "";
    const char *name;
    if (!split_path(path, prefix, &name))
        return;
    const char *directory = prefix[0] ? prefix : ".";
    unsigned limit = strlen(name) < 6 ? 1 : 2, least = limit + 1;
    DIR *stream = opendir(directory);
    const bool is_directory_open = stream != NULL;
    if (!stream && errno == ENOENT)
        fail_hint(err, "there is no directory %s", directory);
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        unsigned distance = text_distance(name, entry->d_name, limit);
        bool is_nearer =
            distance < least || (distance == least && strcmp(entry->d_name, nearest) < 0);
        if (entry->d_name[0] == '.' || distance == 0 || distance > limit || !is_nearer ||
            strlen(entry->d_name) >= sizeof nearest)
            continue;
        least = distance;
        strcpy(nearest, entry->d_name);
    }
    if (stream)
        closedir(stream);
    char other[PATH_BYTES + NAME_BYTES], quoted[TEXT_QUOTED_BYTES];
    snprintf(other, sizeof other, "%s%s", prefix, nearest);
    if (nearest[0])
        fail_hint(err, "did you mean %s?", text_shell_quote(other, quoted));
    else if (is_directory_open && path[0] != '/' && getcwd(other, PATH_BYTES))
        fail_hint(err, "the current directory is %s", other);
}

/* Adds a hint and returns true if the path is a URL such as https://host/model.xml. */
static bool advise_url(const char *path, struct irrun_error *err)
{
    const char *mark = strstr(path, "://");
    char quoted[TEXT_QUOTED_BYTES];
    return mark && strcspn(path, "./") > (size_t)(mark - path) &&
           !fail_hint(err, "irrun reads files; to fetch it: curl -LO %s",
                      text_shell_quote(path, quoted));
}

/* Replaces the hint if the .bin of the model is missing and its directory contains another .bin. */
static void advise_other_weights(const char *model, const char *path, struct irrun_error *err)
{
    char name[NAME_BYTES], prefix[PATH_BYTES], other[PATH_BYTES + NAME_BYTES];
    char quoted[TEXT_QUOTED_BYTES], quoted_model[TEXT_QUOTED_BYTES];
    const char *missing;
    size_t n = split_path(path, prefix, &missing)
                   ? count_files(prefix[0] ? prefix : ".", ".bin", "", name)
                   : 0;
    if (n == 0)
        return;
    snprintf(other, sizeof other, "%s%s", prefix, name);
    replace_hint(err, "%s: irrun %s %s",
                 n == 1 ? "there is another .bin in its directory; to use it"
                        : "there are other .bin files in its directory; to use one",
                 text_shell_quote(model, quoted_model), text_shell_quote(other, quoted));
}

/* Replaces the hint if the file, or a directory in its path, denies access. */
static void advise_permission(const char *path, bool is_output, struct irrun_error *err)
{
    char place[PATH_BYTES], quoted[TEXT_QUOTED_BYTES];
    struct stat status = {.st_mode = 0};
    if (snprintf(place, sizeof place, "%s", path) >= (int)sizeof place)
        return;
    /* An output replaces a regular file with a new one, which needs the directory's permissions. */
    bool needs_directory = is_output && (stat(path, &status) != 0 || S_ISREG(status.st_mode));
    while (needs_directory ||
           (stat(place, &status) != 0 && errno == EACCES && strcmp(place, ".") != 0)) {
        char *slash = strrchr(place, '/');
        strcpy(slash ? slash + (slash == place) : place, slash ? "" : ".");
        needs_directory = false;
    }
    int directory_mode = is_output ? W_OK | X_OK : X_OK, file_mode = is_output ? W_OK : R_OK;
    if (access(place, S_ISDIR(status.st_mode) ? directory_mode : file_mode) == 0 || errno != EACCES)
        return;
    replace_hint(err, "ls -ld %s shows its permissions", text_shell_quote(place, quoted));
}

/* Adds a hint if an output is a directory, or its directory does not exist. */
static void advise_output(const char *path, struct irrun_error *err)
{
    char directory[PATH_BYTES], quoted[TEXT_QUOTED_BYTES];
    struct stat status;
    const char *name;
    if (file_is_directory(path))
        fail_hint(err, "name a file in it: %s/FILE", text_shell_quote(path, quoted));
    if (!split_path(path, directory, &name) || name - path < 2)
        return;
    directory[name - path - 1] = '\0';
    if (stat(directory, &status) == 0 || errno != ENOENT)
        return;
    replace_hint(err, "mkdir -p %s", text_shell_quote(directory, quoted));
}

static bool has_path(const struct binding_list *list, const char *path)
{
    size_t i = 0;
    while (i < list->n && strcmp(list->items[i].spec.path, path) != 0)
        i++;
    return i < list->n;
}

/* Returns whether the path is the manifest or an input of -i. */
static bool is_input(const struct options *options, const char *path)
{
    return (options->manifest_path && strcmp(options->manifest_path, path) == 0) ||
           has_path(&options->inputs, path);
}

/* Rewrites a hint about -i as a hint about --expect, for a file that --expect reads. */
static void advise_expected(struct irrun_error *err)
{
    char hint[sizeof err->hint];
    strcpy(hint, err->hint);
    const char *option = strstr(hint, " -i ");
    if (strstr(hint, "--columns"))
        replace_hint(err,
                     "to compare the last column of a table: awk -F, 'NR > 1 {print $NF}' FILE | "
                     "irrun ... --expect=[NAME=]csv:-");
    else if (option)
        replace_hint(err, "%.*s --expect=%s", (int)(option - hint), hint, option + 4);
}

/* Replaces RATE in the command of a hint with the value of --rate. */
static void advise_rate(double rate_hz, struct irrun_error *err)
{
    char hint[sizeof err->hint], number[TEXT_NUMBER_BYTES + 1];
    strcpy(hint, err->hint);
    const char *word = strstr(hint, "RATE "), *note = strstr(hint, "; RATE is");
    if (rate_hz == 0 || !word || !note)
        return;
    number[text_from_f64(rate_hz, number)] = '\0';
    word += 4;
    replace_hint(err, "%.*s%s%.*s", (int)(word - hint - 4), hint, number, (int)(note - word), word);
}

void advise(const struct options *options, struct irrun_error *err)
{
    advise_rate(options->rate_hz, err);
    struct stat status;
    const char *path = err->file;
    bool is_model = options->model_path && strcmp(path, options->model_path) == 0;
    if (is_model && err->code == IRRUN_DATA && text_has_ending(path, ".blob"))
        replace_hint(err, "a .blob is compiled for one device: give the .xml it was made from");
    if (is_model && err->code == IRRUN_DATA && text_has_ending(path, ".csv"))
        replace_hint(err, "give inputs with -i: irrun MODEL.xml -i FILE.csv");
    if (is_model && err->code == IRRUN_DATA && text_has_ending(path, ".bin"))
        advise_model(path, err);
    if (options->model_path && !is_model && !options->weights_path &&
        text_has_ending(path, ".bin") && err->code == IRRUN_NO_INPUT && !is_input(options, path))
        advise_other_weights(options->model_path, path, err);
    if (err->code == IRRUN_CANT_CREATE) {
        advise_output(path, err);
        advise_permission(path, true, err);
    }
    if (has_path(&options->expected, strcmp(path, STANDARD_INPUT) == 0 ? "-" : path) &&
        !is_input(options, path))
        advise_expected(err);
    if (err->hint[0] || path[0] == '\0' || err->code != IRRUN_NO_INPUT)
        return;
    if (file_is_directory(path)) {
        if (is_model)
            advise_directory(path, err);
        else if (is_input(options, path))
            format_hint_list(err, path);
        return;
    }
    advise_permission(path, false, err);
    if (stat(path, &status) == 0 || advise_url(path, err))
        return;
    const char *colon = strchr(path, ':');
    if (colon && is_file(colon + 1)) /* tsv:FILE, NAME:FILE */
        fail_hint(err, "did you mean %s?", colon + 1);
    if (strpbrk(path, "*?[") && is_input(options, path))
        format_hint_list(err, path);
    if (is_model)
        advise_model(path, err);
    else if (path_has_field(path, 'n'))
        fail_hint(
            err,
            "%%n is for -o; --expect=NAME=FILE compares one output, --expect=FILE.npz all outputs");
    else if (path_has_field(path, 'k'))
        fail_hint(err, "%%k is for the names of outputs; to read a folder: ls FOLDER/* | irrun "
                       "MODEL.xml --manifest=-");
    if (!err->hint[0])
        advise_similar_name(path, err);
}
