/* The methods of readers and writers, and what the formats share. Only for src/formats.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_FORMAT_INTERNAL_H
#define IRRUN_FORMATS_FORMAT_INTERNAL_H

#include "base/output_file.h"
#include "base/text.h"
#include "formats/byte_source.h"
#include "formats/format.h"

/* ---- Readers -------------------------------------------------------------------------------- */

/* The first member of the reader struct of every format. The struct is zeroed when it is
 * created. */
struct reader {
    const struct reader_methods *methods;
    struct byte_source source;
    char *path;        /* for messages */
    char *name;        /* of the npz member; NULL otherwise */
    uint32_t line;     /* of the next byte, from 1; does not wrap. 0: the format has no lines */
    size_t n_doubtful; /* csv: lines that begin with # but have as many fields as the headings */
};

struct reader_methods {
    size_t size_bytes; /* of the format's reader struct */
    bool (*next)(struct reader *reader, struct array_header *header, bool *is_end,
                 struct irrun_error *err);
    /* Like reader_read; if data is NULL, skips. */
    bool (*read)(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                 size_t *n_read, struct irrun_error *err);
    void (*reset)(struct reader *reader); /* frees its data; reading can start over */
};

/* Returns the current line, as a place for messages. */
static inline struct place reader_place(const struct reader *reader)
{
    return (struct place){reader->path, reader->line, 0};
}

/* Counts the end of a line, unless the format has no lines. */
static inline void reader_end_line(struct reader *reader)
{
    reader->line += reader->line != 0 && reader->line != UINT32_MAX;
}

/* Creates a reader; the caller opens reader->source. Returns NULL with *err filled on failure. */
struct reader *reader_new(const struct reader_methods *methods, const char *path,
                          struct irrun_error *err);

/* Creates a reader and opens its source. */
bool reader_open_methods(const struct reader_methods *methods, const char *path,
                         struct reader **reader, struct irrun_error *err);

#define KIND_BYTES ((size_t)12) /* enough for every format, except to tell text from s16 */

/* Fails with IRRUN_DATA if a file that begins with these n bytes has a different format than
 * `wanted` ("raw", "npz", ...). The hint gives the right command. `path` is for messages. */
bool kind_check(const unsigned char *bytes, size_t n, const char *wanted, const char *path,
                struct irrun_error *err);

/* Fails with IRRUN_DATA if a RIFF, AIFF or Ogg file is truncated, because libsndfile reads the rest
 * without an error. Accepts any other file; libsndfile itself rejects a truncated FLAC file. Moves
 * the position of the source, which must be able to seek. */
bool sound_check_length(struct byte_source *source, struct irrun_error *err);

/* Fails with IRRUN_DATA if the source begins like a file of a different format than `wanted`.
 * Waits for the first KIND_BYTES bytes. */
bool reader_check_kind(struct reader *reader, const char *wanted, struct irrun_error *err);

/* ---- Writers -------------------------------------------------------------------------------- */

/* The type and shape of the records of one output, set by the first record or by writer_expect. */
struct record_type {
    bool is_known;    /* a record was written */
    bool is_expected; /* writer_expect was called; used until the first record */
    enum irrun_dtype dtype;
    struct irrun_shape shape;
    uint64_t n_records;
};

struct joiner;

/* The first member of the writer struct of every format. The struct is zeroed when it is
 * created. */
struct writer {
    const struct writer_methods *methods;
    struct output_file file;
    struct writer_options options;
    char **names;              /* copies of options.names */
    char *comment;             /* copy of options.comment */
    struct record_type *types; /* for each output */
    struct joiner *joiners;    /* for each output, if records are concatenated; otherwise NULL */
    char *sequence;            /* key of the sequence whose records are being concatenated */
};

struct writer_methods {
    size_t size_bytes;
    bool needs_whole_sequences;  /* stacks are joined in memory before they are written */
    uint32_t min_rank, max_rank; /* of a written array; max_rank 0: any */
    bool (*open)(struct writer *writer, struct irrun_error *err); /* may be NULL */
    /* Called after open, with types[0] and file set, to resume where an earlier process stopped;
     * may be NULL. */
    bool (*resume)(struct writer *writer, struct irrun_error *err);
    bool (*write)(struct writer *writer, size_t output, const struct irrun_tensor *record,
                  const struct record_label *label, struct irrun_error *err);
    bool (*finish)(struct writer *writer,
                   struct irrun_error *err); /* called before the file is finished; may be NULL */
    void (*release)(struct writer *writer);  /* may be NULL; also after a failed open */
};

/* NAME_reader and NAME_writer; a format that cannot be read or written lacks one. */
#define FORMAT(id, ...)                                                                            \
    extern const struct reader_methods id##_reader;                                                \
    extern const struct writer_methods id##_writer;
#include "formats/formats.def"
#undef FORMAT

/* Checks that `record` has the type and shape of the output's earlier records, and counts it.
 * Otherwise fails with IRRUN_DATA; the message gives both types and shapes. */
bool record_type_check(struct writer *writer, size_t output, const struct irrun_tensor *record,
                       struct irrun_error *err);

/* Computes the shape of a stack of n_records. Fails with IRRUN_DATA if the rank becomes too
 * large. */
bool stacked_shape(const struct irrun_shape *record, int64_t n_records, const char *name,
                   struct irrun_shape *shape, struct irrun_error *err);

/* Fails with IRRUN_DATA because the file needs a shape and there is no record to take it from. */
bool fail_no_record(const struct writer *writer, size_t output, struct irrun_error *err);

typedef bool bytes_write_fn(void *context, const void *data, size_t size_bytes,
                            struct irrun_error *err);
bytes_write_fn write_to_file; /* context: the output_file */

/* Converts the elements of `record` to `dtype`, reverses the bytes of each if is_swapped, and
 * passes them to `write`, block by block. */
bool write_converted(const struct irrun_tensor *record, enum irrun_dtype dtype, bool is_swapped,
                     bytes_write_fn *write, void *context, struct irrun_error *err);

/* Writes an element as a decimal number, without a NUL. Returns its length. */
size_t format_element(enum irrun_dtype dtype, const void *data, size_t i,
                      char out[TEXT_NUMBER_BYTES]);

/* Writes a line for each row of the last axis of `tensor` (one line for 0-D), with `separator`
 * between the numbers. With is_summarised, long tensors are abbreviated as in NumPy: three numbers
 * at each end of an axis. */
bool write_number_rows(struct output_file *file, const struct irrun_tensor *tensor, char separator,
                       bool is_summarised, struct irrun_error *err);

#endif
