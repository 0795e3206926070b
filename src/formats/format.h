/* Reads and writes files of tensors. A table lists the formats; readers and writers move arrays
 * between files and memory. Nothing in this folder depends on models.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_FORMAT_H
#define IRRUN_FORMATS_FORMAT_H

#include "base/error.h"
#include "tensor/tensor.h"

struct reader_methods;
struct writer_methods;

/* The properties of a format: a row of formats.def. */
struct format {
    const char *name;
    const char *read_endings;  /* ".csv .txt": extensions that mean this format; "" for none */
    const char *write_endings; /* extensions of output files */
    bool can_read, can_write;
    bool has_shape;    /* arrays have a shape (text npy npz ark jsonl), unlike raw csv s16 wav */
    bool has_names;    /* arrays have names (npz): read by archive_open, not by reader_open */
    bool has_keys;     /* arrays have the key of their sequence (text ark jsonl) */
    bool is_shared;    /* a file may hold several outputs (text npz ark jsonl none) */
    bool is_generated; /* value count ones: there is no file, the path describes the data */
    bool is_counted;   /* formats count and ones: the path is the name of an input, or empty */
    bool is_binary;    /* not text: is not written to a terminal */
    bool can_pipe;     /* can be written to a pipe */
    bool can_pause;    /* a later process can resume writing: writer_pause */
    const struct reader_methods *reader; /* NULL: not readable by reader_open */
    const struct writer_methods *writer;
};

size_t format_count(void);
const struct format *format_at(size_t index);       /* NULL from format_count() on */
const struct format *format_find(const char *name); /* "npy"; NULL if there is no such format */

/* A parsed SRC or DST argument: a format and a path ("-" = standard input or output). */
struct format_spec {
    const struct format *format;
    const char *text;     /* as parsed; borrowed */
    const char *path;     /* a part of text */
    bool is_text_variant; /* "ark,t:": Kaldi's text form; for outputs only */
};

/* Parse "FORMAT:PATH", "PATH" (the format follows from its extension) or "FORMAT:" (only for
 * "none:", "count:" and "ones:"). A word before the first colon that is not a format is part of the
 * path. Fail with IRRUN_USAGE and a hint otherwise. */
bool format_parse_source(const char *text, struct format_spec *spec, struct irrun_error *err);
bool format_parse_destination(const char *text, struct format_spec *spec, struct irrun_error *err);

/* Returns whether the path has the extension of a sound file that must be converted first.
 * format_hint_sound adds a hint with the command that converts the file; path "-" is a pipe. */
bool format_is_sound(const char *path);
bool format_hint_sound(struct irrun_error *err, const char *path, const char *model);

/* If the path is a directory or a pattern such as *.wav in quotes, adds a hint on how to run all
 * its files. */
bool format_hint_list(struct irrun_error *err, const char *path);

/* ---- Reading: a reader reads a sequence of arrays ------------------------------------------ */

struct reader;

/* The header of an array. The reader owns the strings, which are valid until its next array. */
struct array_header {
    const char *name;       /* npz: the member's name; otherwise NULL */
    const char *key;        /* ark; otherwise NULL */
    enum irrun_dtype dtype; /* IRRUN_DYNAMIC: the caller chooses it (raw, csv) */
    bool has_shape;         /* false: a row of numbers of unknown length (raw, csv, s16, wav) */
    bool is_guess;          /* raw: the bytes may be of a different type */
    bool is_audio;          /* s16, wav: samples from -1 to 1 */
    uint32_t n_channels;    /* wav: in the file; otherwise 0 */
    int rate_hz;            /* wav: of the file; otherwise 0 */
    struct irrun_shape shape;
};

/* Opens `path` ("-": standard input) without reading. Fails with IRRUN_NO_INPUT if it cannot be
 * opened. The caller closes the reader. */
bool reader_open(const struct format *format, const char *path, struct reader **reader,
                 struct irrun_error *err);
void reader_close(struct reader *reader); /* accepts NULL */

/* Opens a csv file to read some of its columns: "A,B,...", each a heading or a number from 0. If
 * one is a heading, the first line of the file must have headings. `columns` must outlive the
 * reader. The reader adds the text of the columns that `kept` names to `kept`, which may be
 * NULL. */
struct kept_columns;
bool reader_open_columns(const char *path, const char *columns, struct kept_columns *kept,
                         struct reader **reader, struct irrun_error *err);

/* Reads the header of the next array, after skipping the rest of the current one; at the end of the
 * file sets *is_end. Formats without shapes have exactly one array. The sizes in a header do not
 * determine how much memory is allocated. Fails with IRRUN_DATA if the file is smaller than a
 * header says. */
bool reader_next(struct reader *reader, struct array_header *header, bool *is_end,
                 struct irrun_error *err);

/* Reads up to n elements, row-major, native byte order, into `data` (n * dtype_size bytes, any
 * alignment). `dtype` is the type in the header, if there is one; raw and csv convert to any type.
 * *n_read < n only at the end of the array (without a shape: the input). Fails with IRRUN_DATA and
 * the offset if the file is shorter than its header says. csv: a call reads one record of whole
 * lines; fails with IRRUN_DATA if a line continues after the n-th number. raw, s16: fails with
 * IRRUN_DATA if the last element is incomplete; the caller handles too few elements (--partial). */
bool reader_read(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                 size_t *n_read, struct irrun_error *err);

/* Makes a wav reader return all channels of a frame, interleaved, instead of their mean. Call it
 * after reader_next; n of reader_read must then be a multiple of the number of channels. */
void reader_keep_channels(struct reader *reader);

/* Skips up to n elements, by seeking if possible. */
bool reader_skip(struct reader *reader, enum irrun_dtype dtype, size_t n, size_t *n_skipped,
                 struct irrun_error *err);

/* Rewind to before the first array. Only regular files can be rewound (also as redirected standard
 * input). */
bool reader_can_rewind(const struct reader *reader);
bool reader_rewind(struct reader *reader, struct irrun_error *err);

/* Returns whether the source is a regular file; standard input may be one. */
bool reader_is_file(const struct reader *reader);

/* A function to call before the reader waits for its pipe or terminal; borrowed. */
struct reader_wait {
    bool (*before)(void *context, struct irrun_error *err);
    void *context;
};
void reader_on_wait(struct reader *reader, const struct reader_wait *wait);

/* Return the position for messages: the file ("standard input") and the line (0 if not csv). */
const char *reader_path(const struct reader *reader);
uint32_t reader_line(const struct reader *reader);

/* Returns the number of skipped lines that begin with # but may be rows of the table. */
size_t reader_n_doubtful(const struct reader *reader);

/* Reads the whole current array, which must have a shape; the caller frees tensor->data. Memory
 * grows with the data read, not with the size in the header. */
bool reader_read_tensor(struct reader *reader, const struct array_header *header,
                        struct irrun_tensor *tensor, struct irrun_error *err);

/* ---- Reading npz ---------------------------------------------------------------------------- */

struct archive;

/* Opens an npz and reads the headers of all members; copies standard input if it is a pipe. Fails
 * with IRRUN_DATA if members have the same name or are not arrays. */
bool archive_open(const char *path, struct archive **archive, struct irrun_error *err);
void archive_close(struct archive *archive); /* after the readers of its members; accepts NULL */
size_t archive_n_members(const struct archive *archive);
const struct array_header *archive_member(const struct archive *archive, size_t index);
bool archive_find(const struct archive *archive, const char *name, size_t *index);
const char *archive_comment(const struct archive *archive); /* "" if it has none */

/* Opens a reader of one array. It is independent of the readers of other members; call reader_next
 * first, as for every reader. */
bool archive_open_member(struct archive *archive, size_t index, struct reader **reader,
                         struct irrun_error *err);

/* ---- Writing -------------------------------------------------------------------------------- */

struct writer;

enum writer_layout {
    WRITER_ONE,   /* one record of each output, unchanged */
    WRITER_STACK, /* records along a new leading axis */
    WRITER_CONCAT /* the records of a sequence, concatenated along `concat_axis` */
};

/* The position of a writer in its file, which a later process needs to resume. */
struct writer_position {
    uint64_t size_bytes, n_records;
    enum irrun_dtype dtype;   /* of the records of output 0; IRRUN_DYNAMIC: no records yet */
    struct irrun_shape shape; /* of each of these records */
};

/* All members except names and n_outputs may be zero, their default. */
struct writer_options {
    const char *const *names; /* the outputs' primary names; borrowed */
    size_t n_outputs;
    enum writer_layout layout;
    int concat_axis;      /* may be negative */
    double rate_hz;       /* wav: samples per second; 0: not known */
    bool is_text_variant; /* format_spec.is_text_variant */
    bool is_summarised;   /* text: abbreviates long arrays as NumPy does, for a terminal */
    bool is_flushed;      /* --line-buffer: flush after each record */
    bool is_synced;       /* --fsync: before the rename */
    const struct kept_columns *kept; /* csv: text columns before a record; NULL: none */
    const char *comment;             /* npz: the archive's comment; NULL for none; copied */
    bool is_resumable; /* until finished, the file is PATH.partial, which writer_abort keeps */
    const struct writer_position *resume_at; /* append to PATH.partial; NULL: start over */
};

/* Fails with IRRUN_USAGE if `path` is standard output and the format cannot be written to it. */
bool writer_check_path(const struct format *format, const char *path, struct irrun_error *err);

/* Opens `path` ("-": standard output). A regular file gets its name only in writer_finish; devices
 * and FIFOs are written directly. Fails with IRRUN_CANT_CREATE if it cannot be created, and with
 * IRRUN_USAGE if the format cannot be written there (npz to a pipe, binary to a terminal). */
bool writer_open(const struct format *format, const char *path,
                 const struct writer_options *options, struct writer **writer,
                 struct irrun_error *err);

/* The origin of a record, which text writes and ark uses as its key. */
struct record_label {
    const char *sequence; /* the key */
    uint64_t index;       /* number of the iteration in the sequence, from 0 */
};

/* Writes one record of output `output` (index into names). In a stack all records must have the
 * same type and shape; otherwise fails with IRRUN_DATA, and the message names both. npy on a pipe,
 * text, raw and csv accept any type and shape. A type that NumPy lacks is written as the type that
 * format_stored_dtype returns. Fails with IRRUN_IO if writing fails. */
bool writer_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                  const struct record_label *label, struct irrun_error *err);

/* Marks the end of a record, after all its outputs are written. The record is kept even after an
 * error or a signal. With is_flushed it is flushed. */
bool writer_end_record(struct writer *writer, struct irrun_error *err);

/* Flushes a pipe, a device or standard output. */
bool writer_flush(struct writer *writer, struct irrun_error *err);

/* Flushes to the file and sets *position. For writers with is_resumable, of formats with can_pause,
 * whose records are not concatenated. */
bool writer_pause(struct writer *writer, struct writer_position *position, struct irrun_error *err);

/* Sets the type and shape to write if an output has no records: an npy stack without records is [0,
 * ...]. Without this call, npy and npz fail with IRRUN_DATA if there is no record. */
void writer_expect(struct writer *writer, size_t output, enum irrun_dtype dtype,
                   const struct irrun_shape *shape);

/* Ends the sequence: writes its concatenated records, or the array of ark. A record with a
 * different key also ends the sequence. */
bool writer_end_sequence(struct writer *writer, struct irrun_error *err);

/* Discards the concatenated records of a sequence that failed. */
void writer_drop_sequence(struct writer *writer);

/* Returns whether the writer writes to standard output, a device or a FIFO, from which data cannot
 * be removed. */
bool writer_is_direct(const struct writer *writer);

/* Ends the last sequence if necessary, completes the file and renames it. Always frees the writer;
 * after a failure no output file is left. */
bool writer_finish(struct writer *writer, struct irrun_error *err);
void writer_abort(struct writer *writer); /* removes the output; frees; accepts NULL */

/* Returns the type that npy and npz store: f32 for bf16 and the 8-bit floats, i8 for i4, boolean
 * for u1, … */
enum irrun_dtype format_stored_dtype(enum irrun_dtype dtype);

#endif
