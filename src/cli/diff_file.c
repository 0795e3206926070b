/* Reads the npz of --diff. For each tensor, the file holds a stack of records, or only the last
 * record.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/diff_internal.h"
#include "cli/tap_file.h"

/* ---- Opening --------------------------------------------------------------------------------- */

/* Finds the member of an output by the name that --tap-records uses, or by another of its names. */
static bool find_member(const struct diff *diff, size_t output, const char *name, size_t *member)
{
    const struct irrun_port *port = irrun_model_output(diff->model, output);
    bool is_found = archive_find(diff->archive, name, member);
    for (size_t i = 0; i < port->n_names && !is_found; i++)
        is_found = archive_find(diff->archive, port->names[i], member);
    return is_found;
}

static bool open_tensor(struct diff *diff, struct diff_tensor *tensor, size_t member,
                        struct irrun_error *err)
{
    struct array_header header;
    bool is_end;
    tensor->header = archive_member(diff->archive, member);
    return archive_open_member(diff->archive, member, &tensor->reader, err) &&
           reader_next(tensor->reader, &header, &is_end, err);
}

bool diff_file_open(struct diff *diff, struct irrun_error *err)
{
    const char *path = diff->options->diff_reference;
    const char **names = NULL;
    struct arena arena = {.blocks = NULL};
    if (!archive_open(path, &diff->archive, err))
        return (err->code == IRRUN_NO_INPUT || err->code == IRRUN_DATA) &&
               replace_hint(err,
                            "--diff=FILE.npz reads a file of --tap-records; --diff=scalar, plain, "
                            "unfused and f64 need no file");
    bool is_open = tap_file_names(diff->model, &arena, &names, err);
    size_t n = 0, member;
    for (size_t i = 0; i < diff->n && is_open; i++) {
        if (!find_member(diff, i, names[i], &member))
            continue;
        struct diff_tensor *tensor = &diff->tensors[n++];
        *tensor = diff->tensors[i];
        is_open = open_tensor(diff, tensor, member, err);
    }
    arena_free(&arena);
    diff->n = n;
    if (!is_open || n > 0)
        return is_open;
    fail_at(err, IRRUN_DATA, whole_file(path), "contains no tensor of the model");
    return fail_hint(err,
                     "the file may belong to a different model; --tap-records=NEW.npz saves the "
                     "tensors of this one");
}

void diff_file_close(struct diff *diff)
{
    for (size_t i = 0; i < diff->n && diff->tensors; i++) {
        reader_close(diff->tensors[i].reader);
        free(diff->tensors[i].read.data);
    }
    archive_close(diff->archive);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool begin_tensor(struct diff_tensor *tensor, const struct irrun_tensor *got,
                         struct irrun_error *err)
{
    const struct irrun_shape *shape = &tensor->header->shape;
    bool is_stack = shape->rank == got->shape.rank + 1;
    tensor->is_single = !is_stack;
    tensor->n_left = is_stack ? (uint64_t)shape->dims[0] : 1;
    tensor->read.dtype = tensor->header->dtype;
    tensor->read.shape = is_stack ? shape_of(shape->rank - 1, shape->dims + 1) : *shape;
    size_t n = (size_t)shape_n_elements(&tensor->read.shape);
    tensor->read.data = malloc(n * dtype_size(tensor->read.dtype) + 1);
    return tensor->read.data || fail_memory(err, n * dtype_size(tensor->read.dtype) + 1);
}

static bool read_tensor(const struct diff *diff, struct diff_tensor *tensor, uint64_t record,
                        bool is_end, struct irrun_error *err)
{
    const struct irrun_tensor *got = irrun_session_output(diff->session, tensor->output);
    size_t n_read;
    tensor->want = NULL;
    if (!got || !got->data)
        return true;
    if (!tensor->read.data && !begin_tensor(tensor, got, err))
        return false;
    if (tensor->is_single != is_end)
        return true;
    if (tensor->n_left == 0)
        return fail_at(err, IRRUN_DATA, whole_file(diff->options->diff_reference),
                       "ends after %" PRIu64 " records of \"%s\"", record, tensor->header->name);
    tensor->n_left--;
    tensor->want = &tensor->read;
    return reader_read(tensor->reader, tensor->read.dtype, tensor->read.data,
                       (size_t)shape_n_elements(&tensor->read.shape), &n_read, err);
}

bool diff_file_read(struct diff *diff, uint64_t record, bool is_end, struct irrun_error *err)
{
    for (size_t i = 0; i < diff->n; i++)
        if (!read_tensor(diff, &diff->tensors[i], record, is_end, err))
            return false;
    return true;
}
