/* Reads and writes state files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/state_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "cli/tensor_file.h"

#define COMMENT_START "irrun-state/"
#define COMMENT_VERSION 2u
#define COMMENT_BYTES 128

/* Sets `out` to the comment of the archive. n_unset: the number of variables without a value, which
 * have no member. */
static void make_comment(const struct model_identity *identity, unsigned version, size_t n_unset,
                         char out[COMMENT_BYTES])
{
    size_t n_bin = version == 1 ? strcspn(identity->bin, ":") : strlen(identity->bin);
    snprintf(out, COMMENT_BYTES, COMMENT_START "%u xml=%s bin=%.*s unset=%zu", version,
             identity->xml, (int)n_bin, identity->bin, n_unset);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Returns whether irrun saved the archive as a state. */
static bool is_state(const struct archive *archive)
{
    return strncmp(archive_comment(archive), COMMENT_START, strlen(COMMENT_START)) == 0;
}

/* Appends the ids of all variables, separated by commas. */
static void list_variables(const struct all_variables *variables, struct text *names)
{
    for (size_t i = 0; i < all_variables_count(variables); i++)
        text_add(names, "%s%s", i == 0 ? "" : ", ", all_variables_info(variables, i).id);
}

/* Fails because the state was saved with a different model, or with different weights. mismatch:
 * the error if its members do not fit the variables either; IRRUN_OK if they fit. */
static bool fail_other_model(const struct archive *archive, const char *path, bool has_own_xml,
                             const struct irrun_error *mismatch, struct irrun_error *err)
{
    fail_at(err, IRRUN_DATA, whole_file(path), "was saved with %s",
            has_own_xml ? "different weights" : "a different model");
    if (mismatch->code != IRRUN_OK)
        return fail_hint(err, "it does not fit this model: %.500s%s%.400s", mismatch->message,
                         mismatch->hint[0] ? "; " : "", mismatch->hint);
    struct text members = {0};
    for (size_t i = 0; i < archive_n_members(archive); i++)
        text_add(&members, "%s%s", i == 0 ? "" : ", ", archive_member(archive, i)->name);
    fail_hint(err, "it holds %.800s; --state-any-model loads it anyway",
              members.data ? members.data : "no member");
    text_free(&members);
    return false;
}

/* Reads the comment. Sets *is_own to true if the state belongs to this model, or the comment is not
 * irrun's; sets *has_own_xml to whether it belongs to this XML. */
static bool read_comment(const struct archive *archive, const char *path,
                         const struct model_identity *identity, size_t *n_unset, bool *is_own,
                         bool *has_own_xml, struct irrun_error *err)
{
    const struct place place = whole_file(path);
    const char *comment = archive_comment(archive), *unset = strstr(comment, " unset=");
    char own[COMMENT_BYTES];
    unsigned version;
    *n_unset = 0;
    *is_own = !is_state(archive);
    if (*is_own)
        return true;
    if (!unset || sscanf(unset, " unset=%zu", n_unset) != 1 ||
        sscanf(comment, COMMENT_START "%u ", &version) != 1)
        return fail_at(err, IRRUN_DATA, place, "is damaged: its comment is '%.100s'", comment);
    if (version == 0 || version > COMMENT_VERSION)
        return fail_at(err, IRRUN_DATA, place,
                       "has state format %u; irrun %s reads formats 1 to %u", version,
                       irrun_version(), COMMENT_VERSION);
    make_comment(identity, version, *n_unset, own);
    *is_own = strcmp(comment, own) == 0;
    *has_own_xml = strncmp(comment, own, (size_t)(strstr(own, " bin=") - own)) == 0;
    return true;
}

#define OTHER_FEEDS                                                                                \
    "it was saved with a different --feed, count: or ones:; use the same ones to continue it"

static bool fail_member(const struct archive *archive, const char *path,
                        const struct all_variables *variables, const char *name,
                        struct irrun_error *err)
{
    struct text names = {0};
    list_variables(variables, &names);
    size_t input;
    struct irrun_error ignored = {.code = IRRUN_OK};
    fail_at(err, IRRUN_DATA, whole_file(path), "member \"%s\" is not a variable of the model",
            name);
    if (is_state(archive) && (irrun_model_find_input(variables->model, name, &input, &ignored) ||
                              text_has_ending(name, ":draws")))
        fail_hint(err, OTHER_FEEDS);
    if (names.data)
        fail_hint(err, "the variables are %.900s", names.data);
    text_free(&names);
    return false;
}

static bool check_member_names(const struct archive *archive, const char *path,
                               const struct all_variables *variables, struct irrun_error *err)
{
    for (size_t i = 0; i < archive_n_members(archive); i++) {
        const char *name = archive_member(archive, i)->name;
        bool is_known = false;
        for (size_t j = 0; j < all_variables_count(variables); j++)
            is_known |= strcmp(all_variables_info(variables, j).id, name) == 0;
        if (!is_known)
            return fail_member(archive, path, variables, name, err);
    }
    return true;
}

static bool read_members(struct archive *archive, const char *path,
                         const struct all_variables *variables, size_t n_unset,
                         struct snapshot *snapshot, struct irrun_error *err)
{
    size_t n = all_variables_count(variables), n_missing = 0;
    for (size_t i = 0; i < n; i++) {
        const struct variable_info variable = all_variables_info(variables, i);
        size_t member;
        if (archive_find(archive, variable.id, &member)) {
            char what[256];
            const struct member_info info = {what, variable.dtype, variable.shape};
            snprintf(what, sizeof what, "variable \"%s\"", variable.id);
            if (!tensor_file_read(archive, member, path, &info, &snapshot->values[i], err))
                return false;
        } else if (n_missing++ == n_unset) {
            fail_at(err, IRRUN_DATA, whole_file(path), "has no member for variable \"%s\"",
                    variable.id);
            return i >= irrun_model_n_variables(variables->model) && fail_hint(err, OTHER_FEEDS);
        }
    }
    return true;
}

bool state_file_read(const char *path, const struct all_variables *variables,
                     const struct model_identity *identity, bool is_any_model,
                     struct snapshot *snapshot, struct irrun_error *err)
{
    size_t n_unset;
    bool is_own, has_own_xml = false;
    struct archive *archive;
    struct irrun_error mismatch = {.code = IRRUN_OK};
    if (!snapshot_new(snapshot, all_variables_count(variables), err) ||
        !archive_open(path, &archive, err))
        return false;
    bool is_read = read_comment(archive, path, identity, &n_unset, &is_own, &has_own_xml, err);
    if (is_read) {
        bool is_other = !is_own && !is_any_model;
        struct irrun_error *why = is_other ? &mismatch : err;
        is_read = check_member_names(archive, path, variables, why) &&
                  read_members(archive, path, variables, n_unset, snapshot, why);
        if (is_other)
            is_read = fail_other_model(archive, path, has_own_xml, &mismatch, err);
    }
    archive_close(archive);
    return is_read;
}

/* ---- Writing --------------------------------------------------------------------------------- */

bool state_file_write(const char *path, const struct all_variables *variables,
                      const struct irrun_tensor *const *values,
                      const struct model_identity *identity, bool is_synced,
                      struct irrun_error *err)
{
    size_t n = all_variables_count(variables), n_set = 0;
    const char **names = new_array(n, sizeof(char *), err);
    const struct irrun_tensor **set = new_array(n, sizeof(struct irrun_tensor *), err);
    char comment[COMMENT_BYTES];
    bool is_written = names && set;
    for (size_t i = 0; i < n && is_written; i++) {
        if (!values[i])
            continue;
        names[n_set] = all_variables_info(variables, i).id;
        set[n_set++] = values[i];
    }
    make_comment(identity, COMMENT_VERSION, n - n_set, comment);
    const struct writer_options writer_options = {.comment = comment, .is_synced = is_synced};
    is_written = is_written && tensor_file_write(path, names, set, n_set, &writer_options, err);
    free(names);
    free(set);
    return is_written;
}
