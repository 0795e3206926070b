/* Looks for the file that was meant: nearly the same name, the .xml of a model, the model in a
 * folder.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/advice.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define NAME_BYTES ((size_t)256)
#define PATH_BYTES ((size_t)1024)

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_xml(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && text_equals_ignore_case(name + length - 4, ".xml");
}

/* How many models are in the folder, and the name of one: "model.xml", else the first in the
 * alphabet. */
static size_t count_models(const char *folder, char name[NAME_BYTES])
{
    size_t n = 0;
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        bool is_best = strcmp(entry->d_name, "model.xml") == 0;
        if (!is_xml(entry->d_name) || strlen(entry->d_name) >= NAME_BYTES)
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

static void advise_folder(const char *folder, struct irrun_error *err)
{
    char name[NAME_BYTES];
    size_t n = count_models(folder, name), length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    if (n == 1)
        fail_hint(err, "did you mean %s%s%s?", folder, slash, name);
    else if (n > 1)
        fail_hint(err, "it holds %zu models, %s%s%s is one of them", n, folder, slash, name);
}

/* vad, vad.bin: did you mean vad.xml? */
static void advise_model(const char *path, struct irrun_error *err)
{
    char other[PATH_BYTES];
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    int stem = dot ? (int)(dot - path) : (int)strlen(path);
    if (snprintf(other, sizeof other, "%s.xml", path) < (int)sizeof other && is_file(other))
        fail_hint(err, "did you mean %s?", other);
    else if (snprintf(other, sizeof other, "%.*s.xml", stem, path) < (int)sizeof other &&
             is_file(other))
        fail_hint(err, "did you mean %s?", other);
}

/* Weights given as the model. */
static void advise_weights(const char *path, struct irrun_error *err)
{
    char hint[sizeof err->hint];
    size_t length = strlen(path);
    if (length < 4 || !text_equals_ignore_case(path + length - 4, ".bin"))
        return;
    memcpy(hint, err->hint, sizeof hint);
    err->hint[0] = '\0';
    advise_model(path, err);
    if (!err->hint[0])
        memcpy(err->hint, hint, sizeof hint);
}

/* The nearest name in the same folder; of equals the first in the alphabet. */
static void advise_near(const char *path, struct irrun_error *err)
{
    char folder[PATH_BYTES] = ".", nearest[NAME_BYTES] = "";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n_folder = slash ? (size_t)(slash - path) + 1 : 0;
    if (n_folder >= sizeof folder)
        return;
    if (n_folder > 0) {
        memcpy(folder, path, n_folder);
        folder[n_folder] = '\0';
    }
    unsigned limit = strlen(name) < 6 ? 1 : 2, least = limit + 1;
    DIR *stream = opendir(folder);
    const bool is_folder_open = stream != NULL;
    if (!stream && errno == ENOENT)
        fail_hint(err, "there is no folder %s", folder);
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        unsigned distance = text_distance(name, entry->d_name, limit);
        bool is_nearer =
            distance < least || (distance == least && strcmp(entry->d_name, nearest) < 0);
        if (entry->d_name[0] == '.' || distance > limit || !is_nearer ||
            strlen(entry->d_name) >= sizeof nearest)
            continue;
        least = distance;
        strcpy(nearest, entry->d_name);
    }
    if (stream)
        closedir(stream);
    if (nearest[0])
        fail_hint(err, "did you mean %.*s%s?", (int)n_folder, path, nearest);
    else if (is_folder_open && path[0] != '/' && getcwd(folder, sizeof folder))
        fail_hint(err, "the current folder is %s", folder);
}

/* A folder that is to be made first. */
static void advise_output(const char *path, struct irrun_error *err)
{
    char folder[PATH_BYTES];
    struct stat status;
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length == 0 || length >= sizeof folder)
        return;
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (stat(folder, &status) != 0 && errno == ENOENT)
        fail_hint(err, "mkdir -p %s", folder);
}

void advise(const struct options *options, struct irrun_error *err)
{
    struct stat status;
    const char *path = err->file;
    bool is_model = options->model_path && strcmp(path, options->model_path) == 0;
    if (is_model && err->code == IRRUN_DATA)
        advise_weights(path, err);
    if (!err->hint[0] && err->code == IRRUN_CANT_CREATE)
        advise_output(path, err);
    if (err->hint[0] || path[0] == '\0' || err->code != IRRUN_NO_INPUT)
        return;
    if (is_folder(path)) {
        advise_folder(path, err);
        return;
    }
    if (stat(path, &status) == 0)
        return;
    if (is_model)
        advise_model(path, err);
    if (!err->hint[0])
        advise_near(path, err);
}
