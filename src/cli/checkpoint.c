/* Reads and writes checkpoint files. worker_checkpoint.c decides when to write one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "cli/tensor_file.h"

#define TEXT_MEMBER "checkpoint"
#define VARIABLE_PREFIX "variable:"

/* The limit of the text member, which holds the command line, at most 6 MB, and a line per
 * output. */
#define MAX_TEXT_BYTES ((int64_t)16 << 20)

void checkpoint_free(struct checkpoint *checkpoint)
{
    free(checkpoint->positions);
    snapshot_free(&checkpoint->variables);
    *checkpoint = (struct checkpoint){.positions = NULL};
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void add_progress(struct text *text, const struct checkpoint *checkpoint)
{
    text_add(text, "phase %s\niterations %" PRIu64 "\n",
             checkpoint->is_finishing ? "finish" : "run", checkpoint->n_iterations);
    for (size_t i = 0; i < checkpoint->n_positions; i++) {
        const struct writer_position *position = &checkpoint->positions[i];
        text_add(text, "output %" PRIu64 " %" PRIu64 " %d", position->size_bytes,
                 position->n_records, (int)position->dtype);
        for (uint32_t k = 0; position->dtype != IRRUN_DYNAMIC && k < position->shape.rank; k++)
            text_add(text, " %" PRId64, position->shape.dims[k]);
        text_add_bytes(text, "\n", 1);
    }
    text_add(text, "end\n");
}

/* The members to write. The arena holds the arrays and the names. */
struct member_list {
    const char **names;
    const struct irrun_tensor **values;
    size_t n;
    struct arena arena;
};

static bool list_members(struct member_list *list, const struct all_variables *variables,
                         const struct checkpoint *checkpoint, const struct irrun_tensor *text,
                         struct irrun_error *err)
{
    size_t n = 1 + checkpoint->variables.n;
    list->names = arena_alloc_array(&list->arena, n, sizeof(char *), err);
    list->values = arena_alloc_array(&list->arena, n, sizeof(struct irrun_tensor *), err);
    if (!list->names || !list->values)
        return false;
    list->names[list->n] = TEXT_MEMBER;
    list->values[list->n++] = text;
    for (size_t i = 0; i < checkpoint->variables.n; i++) {
        const char *id = all_variables_info(variables, i).id;
        size_t size_bytes = sizeof VARIABLE_PREFIX + strlen(id);
        char *name = arena_alloc(&list->arena, size_bytes, err);
        if (!name)
            return false;
        snprintf(name, size_bytes, VARIABLE_PREFIX "%s", id);
        if (!checkpoint->variables.values[i].data)
            continue;
        list->names[list->n] = name;
        list->values[list->n++] = &checkpoint->variables.values[i];
    }
    return true;
}

bool checkpoint_write(const struct options *options, const char *identity,
                      const struct all_variables *variables, const struct checkpoint *checkpoint,
                      struct irrun_error *err)
{
    struct text text = {0};
    struct member_list list = {.n = 0};
    /* is_resumable: a killed process leaves FILE.partial, which the next process overwrites. */
    const struct writer_options writer_options = {.is_synced = options->is_synced,
                                                  .is_resumable = true};
    text_add(&text, "%s", identity);
    add_progress(&text, checkpoint);
    struct irrun_tensor bytes = {
        .dtype = IRRUN_U8, .shape = {.rank = 1, .dims = {(int64_t)text.length}}, .data = text.data};
    bool is_written = text_check(&text, err) &&
                      list_members(&list, variables, checkpoint, &bytes, err) &&
                      tensor_file_write(options->checkpoint_path, list.names, list.values, list.n,
                                        &writer_options, err);
    arena_free(&list.arena);
    text_free(&text);
    return is_written;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool fail_damaged(const struct options *options, const char *what, struct irrun_error *err)
{
    return fail_at(err, IRRUN_DATA, whole_file(options->checkpoint_path), "is damaged: %s", what);
}

/* Adds what to type if the file is of no use. Returns false. */
static bool hint_removal(const struct options *options, struct irrun_error *err)
{
    char quoted[TEXT_QUOTED_BYTES], before[sizeof err->hint + 1];
    snprintf(before, sizeof before, "%s%s", err->hint, err->hint[0] ? " " : "");
    return replace_hint(err, "%srm %s starts again from the beginning", before,
                        text_shell_quote(options->checkpoint_path, quoted));
}

/* Returns whether the archive is not whole. Any other file may be a mistake in the command. */
static bool is_cut_off(const struct irrun_error *err)
{
    return err->code == IRRUN_DATA && (text_has_ending(err->hint, "was a copy interrupted?") ||
                                       strncmp(err->message, "is empty;", 9) == 0);
}

/* Reports the first line in which the identities differ. */
static bool fail_identity(const struct options *options, const char *found, const char *own,
                          struct irrun_error *err)
{
    static const struct {
        const char *start, *what;
    } kinds[] = {{"model ", "was written for a different model"},
                 {"weights ", "was written with different weights"},
                 {"input ", "was written with different inputs"},
                 {"option ", "was written with different options"},
                 {"engine ", "was written on a different machine or by a different build"},
                 {"irrun-checkpoint", "was written by a different version of irrun"}};
    size_t n_found = 0, n_own = 0;
    const char *what = "belongs to a different run";
    for (;;) {
        n_found = strcspn(found, "\n");
        n_own = strcspn(own, "\n");
        if (n_found != n_own || strncmp(found, own, n_own) != 0 || found[n_found] == '\0')
            break;
        found += n_found + 1;
        own += n_own + 1;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i].start);
        if (strncmp(own, kinds[i].start, length) == 0 ||
            strncmp(found, kinds[i].start, length) == 0)
            what = kinds[i].what;
    }
    fail_at(err, IRRUN_DATA, whole_file(options->checkpoint_path), "%s: it contains '%.*s'", what,
            (int)n_found, found);
    return fail_hint(err, "this run expects '%.*s'; delete the file to start from the beginning",
                     (int)n_own, own);
}

static bool parse_position(char *line, struct writer_position *position)
{
    int n_read = 0, dtype;
    if (sscanf(line, "output %" SCNu64 " %" SCNu64 " %d%n", &position->size_bytes,
               &position->n_records, &dtype, &n_read) != 3 ||
        dtype < IRRUN_DYNAMIC || dtype >= IRRUN_N_DTYPES)
        return false;
    position->dtype = (enum irrun_dtype)dtype;
    position->shape.rank = 0;
    for (char *rest = line + n_read; *rest; rest += n_read)
        if (position->shape.rank == IRRUN_MAX_RANK ||
            sscanf(rest, " %" SCNd64 "%n", &position->shape.dims[position->shape.rank++],
                   &n_read) != 1)
            return false;
    return true;
}

/* Parses the text after the identity, which add_progress wrote. */
static bool parse_progress(const struct options *options, char *text, struct checkpoint *checkpoint,
                           struct irrun_error *err)
{
    char *save = NULL;
    const char *phase = strtok_r(text, "\n", &save), *count = strtok_r(NULL, "\n", &save);
    bool is_valid =
        phase && count && sscanf(count, "iterations %" SCNu64, &checkpoint->n_iterations) == 1;
    checkpoint->is_finishing = is_valid && strcmp(phase, "phase finish") == 0;
    if (!is_valid || (!checkpoint->is_finishing && strcmp(phase, "phase run") != 0))
        return fail_damaged(options, "it does not give the phase and the number of iterations",
                            err);
    size_t capacity = 0;
    for (char *line = strtok_r(NULL, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (strcmp(line, "end") == 0)
            return true;
        if (!GROW_ARRAY(checkpoint->positions, checkpoint->n_positions, capacity, err))
            return false;
        if (!parse_position(line, &checkpoint->positions[checkpoint->n_positions++]))
            return fail_damaged(options, line, err);
    }
    return fail_damaged(options, "it is truncated", err);
}

static bool read_text(struct archive *archive, const struct options *options, const char *identity,
                      struct checkpoint *checkpoint, struct irrun_error *err)
{
    const struct member_info info = {
        TEXT_MEMBER, IRRUN_U8, {.rank = 1, .min = {0}, .max = {MAX_TEXT_BYTES}}};
    struct irrun_tensor bytes;
    size_t member, length = strlen(identity);
    if (!archive_find(archive, TEXT_MEMBER, &member))
        return fail_damaged(options, "it has no member \"" TEXT_MEMBER "\"", err);
    if (!tensor_file_read(archive, member, options->checkpoint_path, &info, &bytes, err))
        return false;
    struct text text = {0}; /* text_add_bytes appends a NUL */
    text_add_bytes(&text, bytes.data, (size_t)shape_n_elements(&bytes.shape));
    bool is_read = text_check(&text, err) &&
                   (strncmp(text.data, identity, length) == 0 ||
                    fail_identity(options, text.data, identity, err)) &&
                   parse_progress(options, text.data + length, checkpoint, err);
    text_free(&text);
    free(bytes.data);
    return is_read;
}

/* Reads the member of a variable, if the archive contains it. */
static bool read_variable(struct archive *archive, const struct options *options,
                          const struct variable_info *variable, struct irrun_tensor *value,
                          struct irrun_error *err)
{
    struct text name = {0};
    size_t member;
    text_add(&name, VARIABLE_PREFIX "%s", variable->id);
    bool is_read = text_check(&name, err);
    if (is_read && archive_find(archive, name.data, &member)) {
        const struct member_info info = {name.data, variable->dtype, variable->shape};
        is_read = tensor_file_read(archive, member, options->checkpoint_path, &info, value, err);
    }
    text_free(&name);
    return is_read;
}

static bool read_variables(struct archive *archive, const struct options *options,
                           const struct all_variables *variables, struct snapshot *snapshot,
                           struct irrun_error *err)
{
    if (!snapshot_new(snapshot, all_variables_count(variables), err))
        return false;
    for (size_t i = 0; i < snapshot->n; i++) {
        const struct variable_info variable = all_variables_info(variables, i);
        if (!read_variable(archive, options, &variable, &snapshot->values[i], err))
            return false;
    }
    return true;
}

bool checkpoint_read(const struct options *options, const char *identity,
                     const struct all_variables *variables, struct checkpoint *checkpoint,
                     struct irrun_error *err)
{
    struct archive *archive;
    size_t member;
    *checkpoint = (struct checkpoint){.positions = NULL};
    if (access(options->checkpoint_path, F_OK) != 0 && errno == ENOENT)
        return true;
    if (!archive_open(options->checkpoint_path, &archive, err))
        return is_cut_off(err) && hint_removal(options, err);
    checkpoint->is_found = true;
    bool is_read = read_text(archive, options, identity, checkpoint, err) &&
                   read_variables(archive, options, variables, &checkpoint->variables, err);
    if (err->code == IRRUN_DATA && !err->hint[0] && archive_find(archive, TEXT_MEMBER, &member))
        hint_removal(options, err);
    archive_close(archive);
    return is_read;
}

bool checkpoint_remove(const struct options *options, struct irrun_error *err)
{
    const char *path = options->checkpoint_path;
    char *real = file_real_path(path), *partial = output_file_partial_path(path);
    bool is_removed = false;
    if (real && partial) {
        unlink(partial);
        is_removed = unlink(real) == 0 || errno == ENOENT ||
                     fail_errno(err, IRRUN_IO, path, "cannot be removed", errno);
    } else {
        fail_memory(err, strlen(path));
    }
    free(real);
    free(partial);
    return is_removed;
}
