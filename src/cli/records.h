/* Reads the records of one tensor, one at a time: an input of the model, an expected output, or the
 * numbers of --reset=if:NAME or --key. Only arrays that --axis cuts along an inner axis are read as
 * a whole.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RECORDS_H
#define IRRUN_CLI_RECORDS_H

#include "base/text.h"
#include "cli/options.h"

/* The input or output that the records belong to. */
struct records_port {
    const char *what; /* "input", "output"; for messages */
    const char *name;
    enum irrun_dtype dtype; /* IRRUN_DYNAMIC: any */
    struct irrun_partial_shape shape;
    bool is_scalar;   /* a record is one number: [N] is N records, regardless of `shape` */
    bool keeps_dtype; /* records keep the type of the file */
    /* The error code for an array of the wrong type or shape, with a message that names the type
     * and shape of the array. IRRUN_OK: the code is IRRUN_DATA, and the message also names the type
     * and shape of the port. */
    enum irrun_error_code type_code;
};

enum records_state {
    RECORDS_SINGLE,   /* one record so far; it is unknown whether more follow */
    RECORDS_REPEATED, /* one record for all iterations */
    RECORDS_STREAM    /* a stack, slices or several arrays: any number of records */
};

/* How records are cut from an array: each record is one piece of every row. Pieces are step_bytes
 * apart and may overlap. The part of a piece that lies before its row is zeros. An array of several
 * rows is held in memory. */
struct records_cut {
    size_t n_rows, row_bytes, piece_bytes, step_bytes;
    int64_t position_bytes; /* position of the next piece in its row */
    bool has_begun;         /* the first piece has been read */
};

struct records {
    struct records_port port;
    struct irrun_tensor record; /* the current record; owns its memory */
    bool is_moved;              /* the last records_next changed the record's shape or address */
    enum records_state state;
    bool is_stacked;    /* records are stacked or cut along an axis, or never end */
    uint64_t n_records; /* records returned since the last rewind */

    const struct options *options; /* for --cast and --partial; NULL: the defaults */
    const char *path;              /* for messages, if there is no reader */
    struct reader *reader;         /* NULL: all data is in `whole` or `record` */
    const struct axis_spec *axis;  /* NULL: records are not cut */
    enum irrun_dtype source_dtype;
    bool must_check_narrowing; /* --cast=any: warn about the first changed value */
    bool has_warned;           /* a changed value was reported */
    bool is_unsized;           /* raw, csv, sound: the length is unknown before the end */
    uint32_t n_frame_values;   /* numbers per frame of sound; 0: not sound */
    bool must_check_raw;       /* raw_check.c must check the next elements */
    uint64_t n_raw_checked;    /* elements checked so far */
    bool is_cut_inside;        /* the axis is not the first one: the array is in memory */
    bool is_read_ahead;        /* a record was read ahead, and is the next one */
    bool has_pending;          /* the header of the next array was read ahead */
    struct array_header pending;
    int64_t n_left;        /* records left in the current array */
    int64_t n_elements;    /* per record */
    size_t capacity_bytes; /* size of record.data */
    void *spare;           /* data of the previous record, kept by records_set */
    size_t spare_bytes;
    void *staging; /* a record in the source's type, if records_are_staged */
    size_t staging_bytes;
    struct irrun_tensor whole; /* the current array, if it is in memory; otherwise data is NULL */
    struct records_cut cut;
};

/* Fails with IRRUN_USAGE if the rank of the port is known and the axis is outside it. */
bool records_check_axis(const struct records_port *port, const struct axis_spec *axis,
                        struct irrun_error *err);

/* Opens the records of a reader, which records_close closes. header: the header of its first array;
 * NULL: not read yet. Fails with IRRUN_DATA if the records do not fit the type and shape of the
 * port, with IRRUN_USAGE if the axis does not exist. */
bool records_open(struct records *records, const struct records_port *port, struct reader *reader,
                  const struct array_header *header, const struct axis_spec *axis,
                  const struct options *options, struct irrun_error *err);

/* Opens an array in memory (malloc'ed), and takes ownership of it. path: the file it
 * was read from, borrowed. */
bool records_open_array(struct records *records, const struct records_port *port,
                        const struct irrun_tensor *array, const char *path,
                        const struct axis_spec *axis, const struct options *options,
                        struct irrun_error *err);

/* Opens a single record for all iterations (malloc'ed), and takes ownership of it. */
void records_open_record(struct records *records, const struct records_port *port,
                         const struct irrun_tensor *record);

/* Reads the next record into records->record. At the end, *has_record is false; RECORDS_SINGLE
 * then becomes RECORDS_REPEATED, and its record is kept. */
bool records_next(struct records *records, bool *has_record, struct irrun_error *err);

/* Skips up to n records. If *n_skipped < n, there are no more. Not for RECORDS_REPEATED. */
bool records_skip(struct records *records, uint64_t n, uint64_t *n_skipped,
                  struct irrun_error *err);

/* Reads ahead, to change RECORDS_SINGLE to RECORDS_REPEATED or RECORDS_STREAM. On a pipe, this
 * waits for the second record or the end. */
bool records_look_ahead(struct records *records, struct irrun_error *err);

/* Replaces the record of RECORDS_REPEATED with a copy of `value`. Fails with IRRUN_DATA if the
 * value does not fit the port. */
bool records_set(struct records *records, const struct irrun_tensor *value,
                 struct irrun_error *err);

/* Returns to the first record. Fails with IRRUN_DATA if the source is a pipe. */
bool records_rewind(struct records *records, struct irrun_error *err);

const char *records_path(const struct records *records); /* for messages */

/* Adds "--shape=x=D,80" to the text: the dimensions of the port, with D for each that is open. */
void records_add_shape_option(const struct records_port *port, struct text *text);

/* Adds a hint with the --shape to write for the port. Returns false. */
bool records_hint_shape(const struct records_port *port, struct irrun_error *err);

void records_close(struct records *records);

#endif
