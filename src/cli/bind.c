/* Opens sources and passes a reader for each port to binder->add_reader.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/bind.h"

#include <stdlib.h>
#include <string.h>

#include "cli/path_fields.h"

static const char *name_of(const void *item)
{
    return *(const char *const *)item;
}

bool port_has_name(const struct irrun_model *model, find_port_fn *find, size_t port,
                   const char *name)
{
    struct irrun_error ignored = {.code = IRRUN_OK};
    size_t found;
    return find(model, name, &found, &ignored) && found == port;
}

bool named_check(struct named_list list, const struct irrun_model *model, find_port_fn *find,
                 struct irrun_error *err)
{
    size_t port;
    for (size_t i = 0; i < list.n; i++) {
        const char *name = name_of((const char *)list.items + i * list.item_bytes);
        if (name && !find(model, name, &port, err))
            return false;
    }
    return true;
}

const void *named_find(struct named_list list, const struct irrun_model *model, find_port_fn *find,
                       size_t port)
{
    const void *common = NULL;
    for (size_t i = list.n; i-- > 0;) {
        const void *item = (const char *)list.items + i * list.item_bytes;
        if (!name_of(item))
            common = item;
        else if (port_has_name(model, find, port, name_of(item)))
            return item;
    }
    return common;
}

static bool open_member(const struct binder *binder, const struct binding *binding,
                        struct archive *archive, size_t member, size_t port,
                        struct irrun_error *err)
{
    struct reader *reader;
    return archive_open_member(archive, member, &reader, err) &&
           binder->add_reader(binder->context, port, binding, reader, err);
}

/* Fails because the name of a member matches no port, or several ports. why: the error of the
 * lookup. */
static bool fail_member(const struct binder *binder, const struct binding *binding,
                        const struct archive *archive, const struct irrun_error *why,
                        struct irrun_error *err)
{
    const char *path = binding->spec.path;
    char quoted[TEXT_QUOTED_BYTES];
    fail_at(err, IRRUN_DATA, whole_file(path), "member: %s", why->message);
    size_t other;
    if (binder->n_ports == 1 && archive_find(archive, binder->port(binder->model, 0)->name, &other))
        return fail_hint(err, "to read one member only: %s%s=%s", binder->option,
                         binder->port(binder->model, 0)->name,
                         text_shell_quote(binding->spec.text, quoted));
    if (why->hint[0])
        return fail_hint(err, "%s", why->hint);
    if (archive_n_members(archive) == 1 && binder->n_ports > 0)
        return fail_hint(err, "to read it as \"%s\": %s%s=%s", binder->port(binder->model, 0)->name,
                         binder->option, binder->port(binder->model, 0)->name,
                         text_shell_quote(binding->spec.text, quoted));
    return fail_hint(
        err, "every member must have one of these names; does %s belong to another model?", path);
}

/* Reads x.npz. The name of every member must be the name of a port. */
static bool open_all_members(const struct binder *binder, const struct binding *binding,
                             struct archive *archive, struct irrun_error *err)
{
    for (size_t i = 0; i < archive_n_members(archive); i++) {
        struct irrun_error why = {.code = IRRUN_OK};
        size_t port;
        if (!binder->find(binder->context, archive_member(archive, i)->name, &port, &why))
            return fail_member(binder, binding, archive, &why, err);
        if (!open_member(binder, binding, archive, i, port, err))
            return false;
    }
    return true;
}

/* Reads one member for NAME=x.npz: the member with that name, or with another name of the same
 * port, or the only member. */
static bool open_one_member(const struct binder *binder, const struct binding *binding,
                            struct archive *archive, size_t port, struct irrun_error *err)
{
    size_t n = archive_n_members(archive), member;
    if (archive_find(archive, binding->name, &member))
        return open_member(binder, binding, archive, member, port, err);
    for (member = 0; member < n; member++) {
        struct irrun_error ignored = {.code = IRRUN_OK};
        size_t other;
        if (binder->find(binder->context, archive_member(archive, member)->name, &other,
                         &ignored) &&
            other == port)
            return open_member(binder, binding, archive, member, port, err);
    }
    if (n == 1)
        return open_member(binder, binding, archive, 0, port, err);
    fail_at(err, IRRUN_DATA, whole_file(binding->spec.path), "has no member \"%s\", %s",
            binding->name, n > 0 ? "only" : "nor any other");
    for (size_t i = 0; i < n; i++)
        fail_append(err, "%s \"%s\"", i == 0 ? "" : ",", archive_member(archive, i)->name);
    return false;
}

static bool bind_archive(const struct binder *binder, const struct binding *binding, size_t port,
                         struct irrun_error *err)
{
    struct archive_list *archives = binder->archives;
    struct archive *archive;
    if (!GROW_ARRAY(archives->items, archives->n, archives->capacity, err) ||
        !archive_open(binding->spec.path, &archive, err))
        return false;
    archives->items[archives->n++] = archive;
    return binding->name ? open_one_member(binder, binding, archive, port, err)
                         : open_all_members(binder, binding, archive, err);
}

static bool fail_needs_name(const struct binder *binder, const struct binding *binding,
                            struct irrun_error *err)
{
    const char *text = binding->spec.text;
    char quoted[TEXT_QUOTED_BYTES];
    if (binder->n_ports == 0)
        return fail(err, IRRUN_USAGE, "%s%s: the model has no %s", binder->option, text,
                    binder->port == irrun_model_input ? "inputs" : "outputs");
    fail(err, IRRUN_USAGE, "%s%s needs a name, one of", binder->option, text);
    for (size_t i = 0; i < binder->n_ports; i++)
        fail_append(err, "%s \"%s\"", i == 0 ? "" : ",", binder->port(binder->model, i)->name);
    if (binder->port == irrun_model_output && strcmp(binding->spec.format->name, "csv") == 0)
        return fail_hint(err,
                         "-o FILE.npz saves all outputs for --expect=FILE.npz; if the file holds "
                         "one: "
                         "%s%s=%s",
                         binder->option, binder->port(binder->model, 0)->name,
                         text_shell_quote(text, quoted));
    return fail_hint(err, "write %s%s=%s", binder->option, binder->port(binder->model, 0)->name,
                     path_has_field(text, 'n') ? "FILE" : text_shell_quote(text, quoted));
}

bool bind_find_port(const struct binder *binder, const struct binding *binding, size_t *port,
                    struct irrun_error *err)
{
    *port = 0;
    if (binding->name)
        return binder->find(binder->context, binding->name, port, err) ||
               (binder->n_ports == 1 &&
                fail_hint(err, "did you mean %s?", binder->port(binder->model, 0)->name));
    return binder->n_ports == 1 || fail_needs_name(binder, binding, err);
}

bool bind_source(const struct binder *binder, const struct binding *binding,
                 struct irrun_error *err)
{
    struct reader *reader;
    size_t port = 0;
    bool is_archive = binding->spec.format->has_names;
    if (binding->spec.format->is_generated) {
        fail(err, IRRUN_USAGE, "%s%s: format %s is only for inputs", binder->option,
             binding->spec.text, binding->spec.format->name);
        return !binding->spec.format->is_counted &&
               fail_hint(err, "echo %s | irrun ... %scsv:-", binding->spec.path, binder->option);
    }
    if ((!is_archive || binding->name) && !bind_find_port(binder, binding, &port, err))
        return false;
    if (is_archive)
        return bind_archive(binder, binding, port, err);
    return reader_open(binding->spec.format, binding->spec.path, &reader, err) &&
           binder->add_reader(binder->context, port, binding, reader, err);
}

void archives_close(struct archive_list *archives)
{
    for (size_t i = 0; i < archives->n; i++)
        archive_close(archives->items[i]);
    free(archives->items);
    *archives = (struct archive_list){.items = NULL};
}
