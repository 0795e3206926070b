/* Lists the files of a run for the sandbox, before the model is known.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/output_file.h"
#include "base/sandbox.h"
#include "cli/diff.h"
#include "cli/warning.h"

/* ---- Single files ---------------------------------------------------------------------------- */

static bool is_stream(const char *path)
{
    struct stat status;
    return strcmp(path, "-") == 0 || (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

/* Allows the directory of the path, and frees the path. path: NULL if its allocation failed. */
static void allow_directory(struct sandbox *sandbox, char *path, enum sandbox_access access)
{
    char *directory = path ? file_directory(path) : NULL;
    if (directory)
        sandbox_allow(sandbox, directory, access);
    else
        sandbox->reason = ENOMEM;
    free(directory);
    free(path);
}

/* For a path with a field such as %k, allows the directory before the first field. */
static void allow_path_with_fields(struct sandbox *sandbox, const char *path,
                                   enum sandbox_access access)
{
    if (path && strchr(path, '%'))
        allow_directory(sandbox, strndup(path, strcspn(path, "%")), access);
}

static void allow_file(struct sandbox *sandbox, const char *path, enum sandbox_access access)
{
    if (!path || strcmp(path, "-") == 0)
        return;
    if (access == SANDBOX_CHANGE)
        allow_path_with_fields(sandbox, path, access);
    if (access == SANDBOX_READ)
        sandbox_allow(sandbox, path, access);
    else if (is_stream(path))
        sandbox_allow(sandbox, path, SANDBOX_WRITE);
    else
        allow_directory(sandbox, file_real_path(path), access);
}

static void allow_bindings(struct sandbox *sandbox, const struct binding_list *list,
                           enum sandbox_access access)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct format_spec *spec = &list->items[i].spec;
        if (spec->format->is_generated || strcmp(spec->format->name, "none") == 0)
            continue;
        allow_file(sandbox, spec->path, access);
    }
}

/* ---- All files ------------------------------------------------------------------------------- */

/* Allows libraries that are loaded on first use, and the files from which they get properties of
 * the machine. */
static void allow_system(struct sandbox *sandbox)
{
    static const char *const paths[] = {"/usr",  "/lib", "/lib64", "/opt", "/etc/ld.so.cache",
                                        "/proc", "/sys"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        sandbox_allow(sandbox, paths[i], SANDBOX_READ);
    const char *library_path = getenv("LD_LIBRARY_PATH");
    char *copy = strdup(library_path ? library_path : ""), *rest = copy;
    if (!copy)
        sandbox->reason = ENOMEM;
    for (char *path; rest && (path = strsep(&rest, ":;"));)
        sandbox_allow(sandbox, path, SANDBOX_READ);
    free(copy);
}

static void allow_model(struct sandbox *sandbox, const struct options *options)
{
    char *weights = file_with_extension(options->model_path, ".bin");
    if (!weights)
        sandbox->reason = ENOMEM;
    allow_file(sandbox, options->model_path, SANDBOX_READ);
    allow_file(sandbox, options->weights_path ? options->weights_path : weights, SANDBOX_READ);
    free(weights);
}

static void allow_written_files(struct sandbox *sandbox, const struct options *options)
{
    const char *const paths[] = {options->state_out,    options->checkpoint_path,
                                 options->tap_all_path, options->tap_records_path,
                                 options->trace_path,   options->report_path};
    allow_bindings(sandbox, &options->outputs, SANDBOX_CHANGE);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        allow_file(sandbox, paths[i], SANDBOX_CHANGE);
    if (options->spill_path)
        sandbox_allow(sandbox, options->spill_path, SANDBOX_CHANGE);
    sandbox_allow(sandbox, temporary_directory(), SANDBOX_CHANGE);
}

static void allow_all_files(struct sandbox *sandbox, const struct options *options)
{
    if (options->manifest_path) {
        sandbox_allow(sandbox, "/", SANDBOX_CHANGE);
        return;
    }
    allow_system(sandbox);
    allow_model(sandbox, options);
    allow_bindings(sandbox, &options->inputs, SANDBOX_READ);
    allow_bindings(sandbox, &options->expected, SANDBOX_READ);
    allow_file(sandbox, options->state_in, SANDBOX_READ);
    allow_path_with_fields(sandbox, options->state_in, SANDBOX_READ);
    allow_file(sandbox, diff_runs_model(options) ? NULL : options->diff_reference, SANDBOX_READ);
    allow_written_files(sandbox, options);
}

/* ---- Entering -------------------------------------------------------------------------------- */

static bool fail_limit(const char *what, int reason, struct irrun_error *err)
{
    fail(err, IRRUN_SYSTEM, "--sandbox=always: the kernel cannot limit %s: %s", what,
         strerror(reason));
    return fail_hint(err, "--sandbox=auto limits what it can");
}

bool run_sandbox_enter(const struct options *options, struct irrun_error *err)
{
    struct sandbox sandbox;
    int files_errno, calls_errno;
    if (options->sandbox == SANDBOX_NEVER)
        return true;
    if (options->sandbox == SANDBOX_ALWAYS && options->manifest_path) {
        fail(err, IRRUN_USAGE, "--sandbox=always: --manifest names files that are not known yet");
        return fail_hint(err, "--sandbox=auto limits sockets and programs, but not files");
    }
    sandbox_open(&sandbox);
    allow_all_files(&sandbox, options);
    sandbox_enter(&sandbox, &files_errno, &calls_errno);
    if (files_errno)
        inform(options, "sandbox: files are not limited: %s", strerror(files_errno));
    else if (options->manifest_path)
        inform(options, "sandbox: files are not limited: --manifest names more of them");
    else
        inform(options, "sandbox: files are limited by Landlock %u", sandbox.version);
    if (calls_errno)
        inform(options, "sandbox: sockets and programs are not limited: %s", strerror(calls_errno));
    if (options->sandbox != SANDBOX_ALWAYS)
        return true;
    if (!files_errno && sandbox.version < LANDLOCK_TRUNCATE)
        files_errno = ENOSYS;
    return files_errno ? fail_limit("files", files_errno, err)
                       : !calls_errno || fail_limit("sockets and programs", calls_errno, err);
}
