/* Tensor files: one table of formats, readers and writers that stream. Knows nothing about models,
 * records or casts: it moves arrays between files and memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_FORMAT_H
#define IRRUN_FORMATS_FORMAT_H

#include "base/error.h"
#include "tensor/tensor.h"

struct reader_methods;
struct writer_methods;

/* The properties of a format; a row of the table in format_table.c. */
struct format {
    const char *name;
    const char *read_endings;  /* ".csv .txt": file names that mean this format; "" for none */
    const char *write_endings; /* the same for outputs */
    bool can_read, can_write;
    bool has_shape;    /* arrays have a shape (npy npz ark); in raw, csv, s16 and wav they do not */
    bool has_names;    /* npz: read with archive_open; one file holds several outputs */
    bool has_keys;     /* ark: every array has a key */
    bool is_shared;    /* one destination may hold several outputs (text npz ark none) */
    bool is_generated; /* value count ones: not a file, the path describes the data */
    bool is_counted;   /* count ones: the path is the name of an input, or empty */
    bool is_binary;    /* never written to a terminal */
    bool can_pipe;     /* may be written to a pipe; every readable format can be read from one */
    bool can_pause;    /* writing may stop and resume in another process: writer_pause */
    const struct reader_methods *reader; /* NULL: cannot be read this way */
    const struct writer_methods *writer;
};

/* The rows of the table; index < format_count(). */
size_t format_count(void);
const struct format *format_at(size_t index);
const struct format *format_find(const char *name); /* "npy"; NULL if there is none */

/* A parsed SRC or DST: a format and a path ("-" = standard input or output). */
struct format_spec {
    const struct format *format;
    const char *path;     /* points into the text given */
    bool is_text_variant; /* "ark,t:": Kaldi's text form; only for outputs */
};

/* Reads "FORMAT:PATH", "PATH" (its ending decides) or "FORMAT:" (only for "none:"). A word before
 * the first colon that names no format belongs to the path. IRRUN_USAGE with a hint otherwise. */
bool format_parse_source(const char *text, struct format_spec *spec, struct irrun_error *err);
bool format_parse_destination(const char *text, struct format_spec *spec, struct irrun_error *err);

/* Whether the name is that of a sound file, which no format here reads. The hint says what to type
 * instead; path "-" is a pipe. */
bool format_is_sound(const char *path);
bool format_hint_sound(struct irrun_error *err, const char *path, const char *model);

/* ---- Reading: a reader is a stream of arrays ------------------------------------------------ */

struct reader;

/* The header of an array. The reader owns the strings, which are valid until its next array. */
struct array_header {
    const char *name;       /* npz: the member's name; else NULL */
    const char *key;        /* ark; else NULL */
    enum irrun_dtype dtype; /* IRRUN_DYNAMIC: none (raw, csv): the caller chooses it when reading */
    bool has_shape;         /* false: a row of numbers of unknown length (raw, csv, s16, wav) */
    bool is_guess;          /* raw: the bytes may be of another type */
    bool is_audio;          /* s16, wav: samples from -1 to 1 */
    uint32_t n_channels;    /* wav: of the file; else 0 */
    int rate_hz;            /* wav: of the file; else 0 */
    struct irrun_shape shape;
};

/* Opens `path` ("-": standard input). Reads nothing yet. IRRUN_NO_INPUT if it cannot be opened.
 * The reader is the caller's to close. */
bool reader_open(const struct format *format, const char *path, struct reader **reader,
                 struct irrun_error *err);
void reader_close(struct reader *reader); /* NULL is allowed */

/* Opens a csv file to read some of its columns: "A,B,...", each a heading or a number from 0. The
 * text must outlive the reader. If one of them is a heading, the first line of the file has
 * headings. */
bool reader_open_columns(const char *path, const char *columns, struct reader **reader,
                         struct irrun_error *err);

/* Goes to the next array, skipping what is left of the present one, and reads its header; at the
 * end of the stream *is_end is set. What has no shape is exactly one array. Nothing is allocated by
 * what a header claims: one that claims more than the file holds is IRRUN_DATA. */
bool reader_next(struct reader *reader, struct array_header *header, bool *is_end,
                 struct irrun_error *err);

/* Reads up to n elements, row-major, native byte order, into `data` (n * dtype_size bytes, any
 * alignment). `dtype` is the header's if it has one; raw and csv convert to any. *n_read < n: the
 * array ends there (without a shape: the input). A file that is shorter than its header says is
 * IRRUN_DATA with the offset. csv: a call reads one record, that is, whole lines: a line that
 * continues after the n-th number is IRRUN_DATA. raw, s16: part of an element at the end is
 * IRRUN_DATA; too few elements are left to the caller (--partial). */
bool reader_read(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                 size_t *n_read, struct irrun_error *err);

/* Makes a wav reader return all channels of a frame, interleaved, instead of their mean. Call it
 * after reader_next. n of reader_read must then be a multiple of the number of channels. */
void reader_keep_channels(struct reader *reader);

/* Skips n elements; seeks if the input can. */
bool reader_skip(struct reader *reader, enum irrun_dtype dtype, size_t n, size_t *n_skipped,
                 struct irrun_error *err);

/* Rewinds to before the first array. Only regular files (also as redirected standard input) can. */
bool reader_can_rewind(const struct reader *reader);
bool reader_rewind(struct reader *reader, struct irrun_error *err);

/* Whether it reads a regular file; standard input may be one. */
bool reader_is_file(const struct reader *reader);

/* Called before the reader waits for its pipe or terminal; borrowed. */
struct reader_wait {
    bool (*before)(void *context, struct irrun_error *err);
    void *context;
};
void reader_on_wait(struct reader *reader, const struct reader_wait *wait);

/* Return the position for messages: the file ("standard input") and the line (0 if not csv). */
const char *reader_path(const struct reader *reader);
uint32_t reader_line(const struct reader *reader);

/* Reads the whole current array, which must have a shape; the caller frees tensor->data. Memory
 * grows with the data read, not with the size in the header. */
bool reader_read_tensor(struct reader *reader, const struct array_header *header,
                        struct irrun_tensor *tensor, struct irrun_error *err);

/* ---- Reading npz ---------------------------------------------------------------------------- */

struct archive;

/* Opens an npz and reads the headers of all members; standard input is spooled if it is a pipe.
 * Members of the same name, and members that are not arrays, are IRRUN_DATA. */
bool archive_open(const char *path, struct archive **archive, struct irrun_error *err);
void archive_close(struct archive *archive); /* after the readers of its members; NULL is allowed */
size_t archive_n_members(const struct archive *archive);
const struct array_header *archive_member(const struct archive *archive, size_t index);
bool archive_find(const struct archive *archive, const char *name, size_t *index);
const char *archive_comment(const struct archive *archive); /* "" if it has none */

/* Opens a reader of one array. It is independent of the readers of other members, and reader_next
 * must be called first, as for every reader. */
bool archive_open_member(struct archive *archive, size_t index, struct reader **reader,
                         struct irrun_error *err);

/* ---- Writing -------------------------------------------------------------------------------- */

struct writer;

enum writer_layout {
    WRITER_ONE,   /* one record of each output, as it is */
    WRITER_STACK, /* records along a new leading axis */
    WRITER_CONCAT /* the records of a sequence joined along `concat_axis` */
};

/* The position of a writer in its file, which a later process needs to resume. */
struct writer_position {
    uint64_t size_bytes, n_records;
    enum irrun_dtype dtype;   /* of the records of output 0; IRRUN_DYNAMIC: none came */
    struct irrun_shape shape; /* of one of them */
};

/* Zero is a good default for everything but names and n_outputs. */
struct writer_options {
    const char *const *names; /* the outputs' primary names; borrowed */
    size_t n_outputs;
    enum writer_layout layout;
    int concat_axis;      /* may be negative */
    double rate_hz;       /* wav: samples per second; 0: not known */
    bool is_text_variant; /* of the format_spec */
    bool is_summarised;   /* text: as NumPy shows long arrays; for a terminal */
    bool is_flushed;      /* --line-buffer: flush after each record */
    bool is_synced;       /* --fsync: before the rename */
    const char *comment;  /* npz: the archive's comment; NULL for none; copied */
    bool is_kept;         /* the file is PATH.partial, also after writer_abort; see writer_pause */
    const struct writer_position *resume_at; /* is_kept: append to the file; NULL: start over */
};

/* Opens `path` ("-": standard output). A regular file appears under its name only in writer_finish;
 * devices and FIFOs are written directly. IRRUN_CANT_CREATE if it cannot be made; IRRUN_USAGE for
 * what the format cannot do there (npz to a pipe, binary to a terminal). */
bool writer_open(const struct format *format, const char *path,
                 const struct writer_options *options, struct writer **writer,
                 struct irrun_error *err);

/* The origin of a record, which text shows and ark uses as its key. */
struct record_label {
    const char *sequence; /* the key */
    uint64_t index;       /* the iteration within the sequence, from 0 */
};

/* Writes one record of output `output` (index into names). In a stack all records have the same
 * type and shape, or else IRRUN_DATA names both (npy on a pipe, text, raw and csv take any). Types
 * that NumPy lacks are written as format_stored_dtype. IRRUN_IO if it fails. */
bool writer_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                  const struct record_label *label, struct irrun_error *err);

/* Marks the end of a record: all its outputs are written. The record is kept even after an error or
 * a signal. With is_flushed it is sent at once. */
bool writer_end_record(struct writer *writer, struct irrun_error *err);

/* Flushes if it writes to a pipe, a device or standard output. */
bool writer_flush(struct writer *writer, struct irrun_error *err);

/* Flushes to the file and sets *position. For writers with is_kept, of formats with can_pause and
 * records that are not joined. */
bool writer_pause(struct writer *writer, struct writer_position *position, struct irrun_error *err);

/* Sets the type and shape to write if an output has no records: an npy stack of no records is [0,
 * ...]. Without this call, npy and npz fail with IRRUN_DATA if there is no record. */
void writer_expect(struct writer *writer, size_t output, enum irrun_dtype dtype,
                   const struct irrun_shape *shape);

/* Ends the sequence: writes its joined records, or the array of ark. A record of another sequence
 * ends it too. */
bool writer_end_sequence(struct writer *writer, struct irrun_error *err);

/* Discards the joined records of a sequence that failed. */
void writer_drop_sequence(struct writer *writer);

/* Whether it writes to standard output, a device or a FIFO: written data cannot be removed. */
bool writer_is_direct(const struct writer *writer);

/* Ends the last sequence if necessary, completes the file and renames it. Always frees the writer;
 * after a failure no output file is left. */
bool writer_finish(struct writer *writer, struct irrun_error *err);
void writer_abort(struct writer *writer); /* removes what was written; frees; NULL is allowed */

/* The type that npy and npz store: f32 for bf16 and the 8-bit floats, i8 for i4, boolean for u1,
 * … */
enum irrun_dtype format_stored_dtype(enum irrun_dtype dtype);

#endif
