/* Reads the records in the in.npz of a case, and sets them as inputs of a session.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_CASE_RECORDS_H
#define IRRUN_TESTS_CASE_RECORDS_H

#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "irrun.h"

#define RECORDS_MAX_INPUTS 32

/* The records of an input. */
struct input_records {
    struct irrun_tensor record; /* the first one; data is NULL if the file lacks the member */
    size_t n;                   /* an input with one record uses it in every iteration */
    size_t n_elements;          /* of all records */
};

struct case_records {
    struct input_records inputs[RECORDS_MAX_INPUTS];
    size_t n_inputs, n; /* n: of the longest stack */
};

static inline void records_free(struct case_records *records)
{
    for (size_t i = 0; i < records->n_inputs; i++)
        free(records->inputs[i].record.data);
    memset(records, 0, sizeof *records);
}

/* Reads the array of a member as the records of a port. */
static inline bool records_read_input(struct reader *reader, const struct irrun_port *port,
                                      struct input_records *input, struct irrun_error *err)
{
    struct array_header header;
    struct irrun_tensor read;
    bool is_end;
    if (!reader_next(reader, &header, &is_end, err) ||
        !reader_read_tensor(reader, &header, &read, err))
        return false;
    uint32_t rank = port->shape.is_rank_dynamic ? read.shape.rank : port->shape.rank;
    bool is_stacked = read.shape.rank == rank + 1;
    input->record.dtype = port->dtype;
    input->record.shape = shape_of(rank, read.shape.dims + is_stacked);
    input->n = is_stacked ? (size_t)read.shape.dims[0] : 1;
    input->n_elements = (size_t)shape_n_elements(&read.shape);
    size_t n_bytes = input->n_elements * dtype_size(port->dtype) + 1;
    input->record.data = malloc(n_bytes);
    if (input->record.data)
        convert_elements(read.dtype, read.data, port->dtype, input->record.data, input->n_elements);
    free(read.data);
    return input->record.data || fail_memory(err, n_bytes);
}

/* Returns false with *err filled if there is no such file, or it is invalid. */
static inline bool records_read(const char *path, const struct irrun_model *model,
                                struct case_records *records, struct irrun_error *err)
{
    struct archive *archive;
    *records = (struct case_records){.n_inputs = irrun_model_n_inputs(model), .n = 1};
    bool is_fine = archive_open(path, &archive, err) && records->n_inputs <= RECORDS_MAX_INPUTS;
    for (size_t i = 0; is_fine && i < archive_n_members(archive); i++) {
        size_t index;
        struct reader *reader = NULL;
        if (!irrun_model_find_input(model, archive_member(archive, i)->name, &index, err))
            continue; /* the input of --reset=if */
        struct input_records *input = &records->inputs[index];
        is_fine = archive_open_member(archive, i, &reader, err) &&
                  records_read_input(reader, irrun_model_input(model, index), input, err);
        records->n = input->n > records->n ? input->n : records->n;
        reader_close(reader);
    }
    archive_close(archive);
    return is_fine;
}

/* Sets all inputs to their record r. Returns false if an input has no records or rejects one. */
static inline bool records_set(const struct case_records *records, size_t r,
                               struct irrun_session *session, struct irrun_error *err)
{
    for (size_t i = 0; i < records->n_inputs; i++) {
        struct irrun_tensor record = records->inputs[i].record;
        if (!record.data)
            return false;
        if (records->inputs[i].n > 1)
            record.data = (char *)record.data + r * tensor_n_bytes(&record);
        if (!irrun_session_set_input(session, i, &record, err))
            return false;
    }
    return true;
}

#endif
