/* The records of one tensor, one at a time: a model's input, an expected output, the numbers of
 * --reset=if:NAME. One is held, never a whole file (but for --axis inside an array).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RECORDS_H
#define IRRUN_CLI_RECORDS_H

#include "cli/options.h"

/* What the records are for. */
struct records_port {
    const char *what; /* "input", "output"; for messages */
    const char *name;
    enum irrun_dtype dtype; /* IRRUN_DYNAMIC: whatever comes */
    struct irrun_partial_shape shape;
    bool is_series;   /* one number a record: [N] is N records, whatever `shape` says */
    bool keeps_dtype; /* the records stay in the type that the file has */
    /* Of an array of another shape, whose error tells that only; IRRUN_OK: IRRUN_DATA that names
     * both. */
    enum irrun_error_code form_code;
};

enum records_state {
    RECORDS_SINGLE,   /* one record so far, and nobody has looked whether another follows */
    RECORDS_REPEATED, /* one record for all iterations */
    RECORDS_STREAM
};

/* How records lie in an array: each is a piece of every row, one every step. Pieces may overlap;
 * the first ones begin before their row, with zeros. Several rows are in memory as a whole. */
struct records_cut {
    size_t n_rows, row_bytes, piece_bytes, step_bytes;
    int64_t position_bytes; /* of the next piece in its row */
    bool is_begun;          /* the first piece was read */
};

struct records {
    struct records_port port;
    struct irrun_tensor record; /* the present one; its memory belongs to it */
    bool is_new_place; /* the record's shape or address changed with the last records_next */
    enum records_state state;
    bool is_stacked;    /* records come along a leading axis, a cut axis, or without end */
    uint64_t n_records; /* given so far, since the last rewind */

    const struct options *options; /* --cast and --partial; NULL: the defaults */
    const char *path;              /* for messages; of an array that came without a reader */
    struct reader *reader;         /* NULL: everything is in `whole`, or in `record` */
    const struct axis_spec *axis;  /* NULL: records are not cut */
    enum irrun_dtype source_dtype;
    bool is_narrowed;       /* --cast=any: conversions are looked at for values that change */
    bool is_narrowing_told; /* one did */
    bool is_unsized;        /* raw, csv, s16: the length is known only at the end */
    bool is_raw_checked;    /* the first elements are looked at: raw_check.h */
    uint64_t n_raw_checked; /* so far */
    bool is_cut_inside;     /* there are dimensions in front of the axis: the array is in memory */
    bool is_held;           /* a record was read ahead: the next records_next gives it */
    bool has_pending;       /* the header of the next array was read ahead */
    struct array_header pending;
    int64_t n_left;        /* records left in the present array */
    int64_t n_elements;    /* of a record */
    size_t capacity_bytes; /* of record.data */
    void *staging;         /* a record in the source's type, where that differs */
    size_t staging_bytes;
    struct irrun_tensor whole; /* the present array, if it is in memory: data NULL if it is not */
    struct records_cut cut;
};

/* Fails with IRRUN_USAGE if a record of the port does not have the axis, as far as its shape is
 * known. */
bool records_check_axis(const struct records_port *port, const struct axis_spec *axis,
                        struct irrun_error *err);

/* Takes the reader (closed even on failure) and looks at its first array. Fails with IRRUN_DATA if
 * its records are not of the port's type and shape, IRRUN_USAGE if the axis does not exist. */
bool records_open(struct records *records, const struct records_port *port, struct reader *reader,
                  const struct axis_spec *axis, const struct options *options,
                  struct irrun_error *err);

/* Opens a reader that has read the header of its first array already. */
bool records_open_at(struct records *records, const struct records_port *port,
                     struct reader *reader, const struct array_header *header,
                     struct irrun_error *err);

/* Opens an array in memory (malloc'ed), and takes ownership of it. path (borrowed) is its
 * origin. */
bool records_open_array(struct records *records, const struct records_port *port,
                        const struct irrun_tensor *array, const char *path,
                        const struct axis_spec *axis, const struct options *options,
                        struct irrun_error *err);

/* Opens one record for all iterations, which is in memory (malloc'ed), and takes ownership of
 * it. */
void records_open_record(struct records *records, const struct records_port *port,
                         const struct irrun_tensor *record);

/* Reads the next record into records->record. At the end *has_record is false; what was
 * RECORDS_SINGLE then is RECORDS_REPEATED, and its record is still there. */
bool records_next(struct records *records, bool *has_record, struct irrun_error *err);

/* Goes past up to n records without giving them; *n_skipped < n: there are no more. Not for
 * RECORDS_REPEATED. */
bool records_skip(struct records *records, uint64_t n, uint64_t *n_skipped,
                  struct irrun_error *err);

/* Decides now whether RECORDS_SINGLE becomes RECORDS_REPEATED; reads ahead. On a pipe this waits
 * for the second record or the end. */
bool records_settle(struct records *records, struct irrun_error *err);

/* Makes the records RECORDS_REPEATED if the source has exactly one, stacked or not. *is_one is
 * false if it has none or more. */
bool records_settle_one(struct records *records, bool *is_one, struct irrun_error *err);

/* Replaces the record of RECORDS_REPEATED by a copy of `value`. IRRUN_DATA if it does not fit the
 * port. */
bool records_set(struct records *records, const struct irrun_tensor *value,
                 struct irrun_error *err);

/* Returns to the first record. Fails with IRRUN_DATA if the source is a pipe. */
bool records_rewind(struct records *records, struct irrun_error *err);

const char *records_path(const struct records *records); /* for messages */
void records_close(struct records *records);

#endif
