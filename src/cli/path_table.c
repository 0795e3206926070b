/* Identifies files by digests, finds conflicts and describes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/path_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static const struct {
    const char *name; /* written before the path: "NAME y.npy is also …" */
    const char *role; /* of the other use: "… is also ROLE" */
    bool is_written;
} kinds[] = {
    [PATH_MODEL] = {"model", "the model", false},
    [PATH_WEIGHTS] = {"weights", "the model's weights", false},
    [PATH_MANIFEST] = {"--manifest", "the manifest", false},
    [PATH_INPUT] = {"input", "an input", false},
    [PATH_EXPECTED] = {"--expect", "what --expect compares with", false},
    [PATH_REFERENCE] = {"--diff", "what --diff compares with", false},
    [PATH_STATE_IN] = {"--state-in", "what --state-in loads", false},
    [PATH_OUTPUT] = {"-o", "written by -o", true},
    [PATH_KEYED] = {"-o", "written by -o", true},
    [PATH_REPORT] = {"--report", "written by --report", true},
    [PATH_GRAPH] = {"--dot", "written by --dot", true},
    [PATH_TAP_ALL] = {"--tap-all", "written by --tap-all", true},
    [PATH_TAP_RECORDS] = {"--tap-records", "written by --tap-records", true},
    [PATH_TRACE] = {"--trace", "written by --trace", true},
    [PATH_STATE_OUT] = {"--state-out", "written by --state-out", true},
    [PATH_CHECKPOINT] = {"--checkpoint", "written by --checkpoint", true},
    [PATH_UNFINISHED] = {"the unfinished file", "an unfinished output", true},
    [PATH_STANDARD_OUTPUT] = {"standard output,", "standard output", true},
};

bool path_kind_is_written(enum path_kind kind)
{
    return kinds[kind].is_written;
}

/* ---- Conflicts ------------------------------------------------------------------------------- */

/* The value of an entry combines the kind and the id of the sequence. Id 0 is the command line, or
 * the sequence if there is only one. */
#define KIND_BITS 8

static uint64_t sequence_id(const struct path_table *table, const struct sequence *sequence)
{
    if (!sequence || !table->is_many)
        return 0;
    return sequence->place.file ? sequence->place.line : sequence->number + 1;
}

static enum path_kind kind_of(uint64_t value)
{
    return (enum path_kind)((value & ((1U << KIND_BITS) - 1)) - 1);
}

/* Returns the archive whose arrays are the sequences. */
static const char *archive_path(const struct options *options)
{
    size_t i = 0;
    while (!options->inputs.items[i].spec.format->has_keys)
        i++;
    const char *path = options->inputs.items[i].spec.path;
    return strcmp(path, "-") == 0 ? STANDARD_INPUT : path;
}

/* Appends the place of the other use: " (list:3)" is a line of a manifest, " (array 3)" is an array
 * of an archive. Appends nothing for the command line. */
static void append_sequence(const struct sequence *sequence, uint64_t id, struct irrun_error *err)
{
    if (id != 0 && sequence->place.file)
        fail_append(err, " (%s:%" PRIu64 ")", sequence->place.file, id);
    else if (id != 0)
        fail_append(err, " (array %" PRIu64 ")", id - 1);
}

static bool fail_two_writers(const struct path_use *use, enum path_kind other, struct place place,
                             enum irrun_error_code code, struct irrun_error *err)
{
    bool is_standard = strcmp(use->path, "-") == 0;
    const char *path = is_standard ? "standard output ('-')" : use->path;
    if (other != use->kind)
        return fail_at(err, code, place, "%s and %s write to %s", kinds[other].name,
                       kinds[use->kind].name, path);
    fail_at(err, code, place, "two %s write to %s", kinds[other].name, path);
    if (is_standard)
        return fail_hint(err,
                         "-o text:- writes all outputs; -o %%n.npy writes each to its own file");
    return fail_hint(
        err, "text and npz hold several outputs; %%n in the file name writes each to its own file");
}

/* Returns whether the kind is an output that an option names. */
static bool is_output(enum path_kind kind)
{
    return kind >= PATH_OUTPUT && kind <= PATH_CHECKPOINT;
}

/* Returns whether the key is probably the name of the only file of the sequence. */
static bool is_key_of_file(const struct sequence *sequence)
{
    const struct binding *binding = sequence->n_inputs == 1 ? &sequence->inputs[0].binding : NULL;
    const char *slash = binding && !binding->name ? strrchr(binding->spec.path, '/') : NULL;
    return slash && strncmp(slash + 1, sequence->key, strlen(sequence->key)) == 0;
}

static bool fail_conflict(struct path_table *table, const struct path_use *use, uint64_t found,
                          struct irrun_error *err)
{
    const struct sequence *sequence = use->sequence;
    enum path_kind other = kind_of(found);
    uint64_t id = sequence_id(table, sequence), other_id = found >> KIND_BITS;
    enum irrun_error_code code = id != 0 ? IRRUN_DATA : IRRUN_USAGE;
    struct place place = {NULL, 0, 0};
    table->has_conflict = true;
    if (id != 0)
        place = sequence->place.file ? sequence->place : whole_file(archive_path(table->options));
    bool is_elsewhere = id != other_id, is_array = id != 0 && !sequence->place.file;
    bool is_stdout = use->kind == PATH_STANDARD_OUTPUT;
    if (use->kind != PATH_KEYED && is_output(use->kind) && is_output(other) && !is_elsewhere)
        return fail_two_writers(use, other, place, code, err);
    if (use->kind == PATH_KEYED)
        fail_at(err, code, place, "key \"%s\" is already in %s", use->key, use->path);
    else
        fail_at(err, code, place, "%s%s%s%s %s is also %s", is_array ? "key \"" : "",
                is_array ? sequence->key : "", is_array ? "\": " : "",
                is_stdout ? "standard" : kinds[use->kind].name, is_stdout ? "output" : use->path,
                kinds[other].role);
    if (is_elsewhere)
        append_sequence(sequence, other_id, err);
    if (other == PATH_INPUT)
        return fail_hint(err, "write to another file, and rename it after the run");
    if (is_elsewhere && !is_array && is_key_of_file(sequence) &&
        (use->kind == PATH_KEYED || (table->adds_reads && sequence->n_outputs == 0)))
        return fail_hint(err,
                         "the key is the name without its folder; to make it the whole name: awk "
                         "-F '\\t' '{ print $NF \"\\t\" $NF }' LIST | irrun ... --manifest=-");
    if (use->kind == PATH_KEYED && !is_array)
        return fail_hint(err,
                         "each sequence needs a key of its own: cut -f 1 FILE | sort | uniq -d "
                         "lists those that occur twice");
    return other_id != 0 && is_elsewhere &&
           fail_hint(err, "each sequence needs a file of its own; in file names %%k is the key, "
                          "with '/' as '_'");
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Two paths to the same file have at least one digest in common. */
struct file_identity {
    bool is_file;          /* regular or missing; otherwise the other members are not set */
    bool has_path;         /* false: a stream, which has no name */
    struct digest by_path; /* of the real path */
    struct digest by_file; /* of device and inode, or of the directory of a missing file */
};

static struct digest digest_of(const struct stat *status, const char *name)
{
    const uint64_t numbers[] = {(uint64_t)status->st_dev, (uint64_t)status->st_ino};
    struct digest digest = digest_update(DIGEST_SEED, numbers, sizeof numbers);
    return digest_update(digest, name, strlen(name));
}

/* Returns the digest of a missing file, from its directory and its name. */
static struct digest digest_of_missing(char *real)
{
    struct stat directory;
    char *slash = strrchr(real, '/');
    if (!slash)
        return digest_update(DIGEST_SEED, real, strlen(real));
    *slash = '\0';
    bool exists = stat(slash == real ? "/" : real, &directory) == 0;
    *slash = '/';
    return exists ? digest_of(&directory, slash) : digest_update(DIGEST_SEED, real, strlen(real));
}

/* Identifies the file of a path. If the path cannot be resolved, uses the path itself. */
static bool identify_path(const char *path, struct file_identity *identity, struct irrun_error *err)
{
    struct stat status;
    bool exists = stat(path, &status) == 0;
    *identity = (struct file_identity){.is_file = !exists || S_ISREG(status.st_mode)};
    if (!identity->is_file)
        return true;
    char *real = file_real_path(path);
    if (!real)
        return fail_memory(err, strlen(path) + 1);
    identity->has_path = true;
    identity->by_path = digest_update(digest_update(DIGEST_SEED, "path", 4), real, strlen(real));
    identity->by_file = exists ? digest_of(&status, "") : digest_of_missing(real);
    free(real);
    return true;
}

static void identify_stream(int fd, struct file_identity *identity)
{
    struct stat status;
    *identity =
        (struct file_identity){.is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode)};
    if (identity->is_file)
        identity->by_file = digest_of(&status, "");
}

/* ---- The table ------------------------------------------------------------------------------- */

static bool may_share_file(enum path_kind kind, enum path_kind other, bool is_same_sequence)
{
    if (!kinds[kind].is_written && !kinds[other].is_written)
        return true;
    if (kind == PATH_STANDARD_OUTPUT && other == PATH_STANDARD_OUTPUT)
        return true; /* both write whole lines */
    bool are_states = (kind == PATH_STATE_IN && other == PATH_STATE_OUT) ||
                      (kind == PATH_STATE_OUT && other == PATH_STATE_IN);
    return are_states && is_same_sequence; /* loaded first, replaced later */
}

static bool add_digest(struct path_table *table, const struct path_use *use, struct digest digest,
                       bool is_kept, struct irrun_error *err)
{
    uint64_t id = sequence_id(table, use->sequence), found;
    uint64_t value = id << KIND_BITS | (use->kind + 1U);
    if (!(is_kept ? digest_set_add(&table->seen, digest, value, &found, err)
                  : digest_set_find(&table->seen, digest, &found, err)))
        return false;
    if (found == 0)
        return true;
    if (!may_share_file(use->kind, kind_of(found), found >> KIND_BITS == id))
        return fail_conflict(table, use, found, err);
    return !is_kept || !kinds[use->kind].is_written ||
           digest_set_replace(&table->seen, digest, value, err);
}

/* Adds standard output. Two uses are a mistake only within one sequence or the command line. */
static bool add_standard_output(struct path_table *table, const struct path_use *use,
                                struct irrun_error *err)
{
    uint64_t id = sequence_id(table, use->sequence);
    struct digest digest = digest_update(digest_update(DIGEST_SEED, "-", 1), &id, sizeof id);
    struct file_identity identity;
    struct path_use file = *use;
    file.kind = PATH_STANDARD_OUTPUT;
    identify_stream(STDOUT_FILENO, &identity);
    return add_digest(table, use, digest, true, err) &&
           (!identity.is_file || add_digest(table, &file, identity.by_file, true, err));
}

bool path_table_add(struct path_table *table, const struct path_use *use, struct irrun_error *err)
{
    struct file_identity identity;
    bool is_stream = strcmp(use->path, "-") == 0, is_written = kinds[use->kind].is_written;
    if (is_stream && is_written)
        return add_standard_output(table, use, err);
    if (is_stream)
        identify_stream(STDIN_FILENO, &identity);
    else if (!identify_path(use->path, &identity, err))
        return false;
    if (!identity.is_file)
        return true;
    table->has_writes |= is_written;
    if (use->kind == PATH_KEYED)
        return add_digest(table, use, digest_update(identity.by_path, use->key, strlen(use->key)),
                          true, err);
    /* During the run, the inode of a deleted file may be reused for a different file. */
    bool is_permanent = sequence_id(table, use->sequence) == 0;
    bool is_kept = is_permanent || is_written || table->adds_reads;
    return add_digest(table, use, identity.by_file, is_kept && (is_permanent || table->is_ahead),
                      err) &&
           (!identity.has_path || add_digest(table, use, identity.by_path, is_kept, err));
}
