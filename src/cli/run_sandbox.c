/* Lists the files of a run for the sandbox, before the model is known.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/sandbox.h"
#include "cli/diff.h"
#include "cli/path_fields.h"
#include "cli/warning.h"

struct files {
    struct sandbox sandbox;
    bool needs_copy; /* an npz that cannot seek is copied to TMPDIR */
};

/* ---- Single files ---------------------------------------------------------------------------- */

static bool is_stream(const char *path)
{
    struct stat status;
    return strcmp(path, "-") == 0 || (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

/* Takes the path, which is malloc'ed, and cuts it to its directory. */
static void allow_directory(struct files *files, char *path, enum sandbox_access access)
{
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        slash[slash == path] = '\0';
    if (path)
        sandbox_allow(&files->sandbox, slash ? path : ".", access);
    else
        files->sandbox.reason = ENOMEM;
    free(path);
}

/* Of a path with fields, such as %k, the directory is known that all its files are in or below. */
static void allow(struct files *files, const char *path, enum sandbox_access access)
{
    if (!path || strcmp(path, "-") == 0)
        return;
    if (path_has_field(path, 'k') || path_has_field(path, 'n'))
        allow_directory(files, strndup(path, strcspn(path, "%")), access);
    if (access == SANDBOX_READ)
        sandbox_allow(&files->sandbox, path, access);
    else if (is_stream(path))
        sandbox_allow(&files->sandbox, path, SANDBOX_WRITE);
    else
        allow_directory(files, file_real_path(path), access);
}

static void allow_npz(struct files *files, const char *path)
{
    files->needs_copy |= path && is_stream(path);
    allow(files, path, SANDBOX_READ);
}

static void allow_bindings(struct files *files, const struct binding_list *list,
                           enum sandbox_access access)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct format_spec *spec = &list->items[i].spec;
        if (spec->format->is_generated || strcmp(spec->format->name, "none") == 0)
            continue;
        files->needs_copy |= spec->format->has_names && is_stream(spec->path);
        allow(files, spec->path, access);
    }
}

/* ---- All files ------------------------------------------------------------------------------- */

/* Libraries that are loaded when they are first needed, and what they read about the machine. */
static void allow_system(struct files *files)
{
    static const char *const paths[] = {"/usr",  "/lib", "/lib64", "/opt", "/etc/ld.so.cache",
                                        "/proc", "/sys"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        sandbox_allow(&files->sandbox, paths[i], SANDBOX_READ);
    const char *library_path = getenv("LD_LIBRARY_PATH");
    char *copy = strdup(library_path ? library_path : ""), *rest = copy;
    if (!copy)
        files->sandbox.reason = ENOMEM;
    for (char *path; rest && (path = strsep(&rest, ":;"));)
        sandbox_allow(&files->sandbox, path, SANDBOX_READ);
    free(copy);
}

static void allow_model(struct files *files, const struct options *options)
{
    char *weights = file_with_extension(options->model_path, ".bin");
    if (!weights)
        files->sandbox.reason = ENOMEM;
    allow(files, options->model_path, SANDBOX_READ);
    allow(files, options->weights_path ? options->weights_path : weights, SANDBOX_READ);
    free(weights);
}

static void allow_written(struct files *files, const struct options *options)
{
    const char *const paths[] = {options->state_out,    options->checkpoint_path,
                                 options->tap_all_path, options->tap_records_path,
                                 options->trace_path,   options->report_path};
    allow_bindings(files, &options->outputs, SANDBOX_CHANGE);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        allow(files, paths[i], SANDBOX_CHANGE);
    if (options->spill_path)
        sandbox_allow(&files->sandbox, options->spill_path, SANDBOX_CHANGE);
    const char *scratch = getenv("TMPDIR");
    if (files->needs_copy)
        sandbox_allow(&files->sandbox, scratch && scratch[0] == '/' ? scratch : "/tmp",
                      SANDBOX_CHANGE);
}

static void allow_all(struct files *files, const struct options *options)
{
    if (options->manifest_path) {
        sandbox_allow(&files->sandbox, "/", SANDBOX_CHANGE);
        return;
    }
    allow_system(files);
    allow_model(files, options);
    allow_bindings(files, &options->inputs, SANDBOX_READ);
    allow_bindings(files, &options->expected, SANDBOX_READ);
    allow_npz(files, options->state_in);
    allow_npz(files, diff_is_own(options) ? NULL : options->diff_reference);
    allow_written(files, options);
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
    struct files files = {.needs_copy = false};
    int no_files, no_calls;
    if (options->sandbox == SANDBOX_NEVER)
        return true;
    sandbox_open(&files.sandbox);
    allow_all(&files, options);
    sandbox_enter(&files.sandbox, &no_files, &no_calls);
    if (no_files)
        tell(options, "sandbox: files are not limited: %s", strerror(no_files));
    else
        tell(options, "sandbox: files are limited by Landlock %u", files.sandbox.version);
    if (no_calls)
        tell(options, "sandbox: sockets and programs are not limited: %s", strerror(no_calls));
    if (options->sandbox != SANDBOX_ALWAYS)
        return true;
    return no_files ? fail_limit("files", no_files, err)
                    : !no_calls || fail_limit("sockets and programs", no_calls, err);
}
