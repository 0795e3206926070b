/* The state of the inputs, and the functions that inputs*.c, value_input.c and random.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_INPUTS_INTERNAL_H
#define IRRUN_CLI_INPUTS_INTERNAL_H

#include "base/text.h"
#include "cli/bind.h"
#include "cli/inputs.h"
#include "cli/sampler.h"

/* Scalars that a record may hold besides the inputs of the model. Their slots and records follow
 * those of the inputs. */
enum control {
    CONTROL_RESET, /* of --reset=if:NAME, unless NAME is an input */
    CONTROL_KEY,   /* of --key=NAME, unless NAME is an input */
    N_CONTROLS
};

struct input_slot {
    bool is_filled;
    bool is_fed;                    /* --feed sets it after the first iteration */
    bool awaits_state;              /* its first value is zeros, of the shape in --state-in */
    const struct axis_spec *axis;   /* NULL: no --axis names this input */
    const struct shape_spec *shape; /* NULL: not given */
};

/* A count that states and checkpoints store as a variable. */
struct count {
    struct irrun_port port;    /* name and type of the variable */
    struct irrun_tensor value; /* refers to n */
    int64_t n, n_last;         /* n_last: at the end of the previous sequence */
};

/* A --feed. Its current value is the record of the input. */
struct feed {
    const struct feed_spec *spec;
    size_t output, input;
    bool has_source;             /* -i gives the first values */
    struct records prompt;       /* the records of -i; closed after the last record */
    struct text prompt_path;     /* for messages */
    struct irrun_tensor initial; /* the first value; malloc'ed */
    struct irrun_tensor last; /* the value at the end of the previous sequence; malloc'ed or NULL */
    const struct irrun_tensor *next; /* the value of the input in the next iteration */
    struct irrun_tensor chosen;      /* the indices of argmax or sample; malloc'ed or NULL */
    struct count draws;              /* draws of :sample so far */
    struct text draws_name;
    struct sampler sampler;
};

/* An input filled by count: or ones:. */
struct counter {
    size_t input, reference; /* reference: the input that is counted */
    const struct binding *binding;
    struct count before;      /* elements of earlier records of the sequence, along the last axis */
    int64_t n_now;            /* elements of this record, along the last axis */
    struct irrun_tensor made; /* the computed record; malloc'ed or NULL */
    size_t capacity_bytes;
};

struct inputs {
    const struct irrun_model *model;
    struct irrun_session *session;
    const struct options *options;
    size_t n;                 /* inputs of the model */
    size_t n_slots;           /* n + N_CONTROLS */
    struct records *records;  /* [n_slots] */
    struct input_slot *slots; /* [n_slots] */
    struct feed *feeds;       /* [options->feeds.n] */
    struct counter *counters;
    size_t n_counters;
    struct count **counts; /* the variables of feeds and counters */
    size_t n_counts, counts_capacity;
    uint64_t sequence_hash;              /* hash of the sequence key; 0 for a single sequence */
    const struct axis_spec *common_axis; /* --axis without a name; NULL: none */
    struct records **streams;            /* [n_slots] n_streams are used: records that can end */
    size_t n_streams;
    bool has_table; /* a source is read with --columns */
    struct archive_list archives;
    const struct reader_wait *wait;      /* called before waiting */
    const struct records *reset_records; /* NULL: no --reset=if: */
    const struct records *key_records;   /* NULL: no --key */
    uint64_t n_records;
    bool has_read_record; /* the only record was read, if no input ends */
};

/* Finds the inputs and outputs that options name: --axis, --shape, --feed, -i count: and ones:,
 * --columns, --random. */
bool inputs_resolve_names(struct inputs *inputs, struct irrun_error *err);

/* Returns the type and shape of a record of input `index`, with --shape applied. */
struct records_port inputs_port(const struct inputs *inputs, size_t index);

/* Returns the type and shape of the values that --feed may give to input `index`. --shape is not
 * applied: it gives the shape of the records that are read. */
struct records_port inputs_fed_port(const struct inputs *inputs, size_t index);

/* Opens the sources of the sequence, and creates the records of their inputs (inputs_sources.c). */
bool inputs_read_sources(struct inputs *inputs, const struct sequence *sequence,
                         struct irrun_error *err);

/* Finds the input or control with this name. `context` is a struct inputs. */
bool inputs_find_source_input(void *context, const char *name, size_t *index,
                              struct irrun_error *err);

/* Returns the name that the option of the control gives, or NULL. */
const char *inputs_control_name(const struct inputs *inputs, size_t control);

/* Sets the session's input to the record or, if the record is a control, checks that it is one
 * number. */
bool inputs_bind(struct inputs *inputs, const struct records *records, struct irrun_error *err);

/* Copies a value to the record of input `index`, and binds it. */
bool inputs_set_record(struct inputs *inputs, size_t index, const struct irrun_tensor *value,
                       struct irrun_error *err);

/* Fails with IRRUN_DATA because the source contains no record. */
bool inputs_fail_empty(const struct records *records, struct irrun_error *err);

/* Opens the sources of the sequence, and creates records for all other inputs too. */
bool inputs_fill(struct inputs *inputs, const struct sequence *sequence, struct irrun_error *err);

/* ---- --feed: inputs_fed.c -------------------------------------------------------------------- */

/* Finds the inputs and outputs of --feed, and checks their types. */
bool inputs_find_feeds(struct inputs *inputs, struct irrun_error *err);

/* Uses the sources of fed inputs as prompts. The first record of a prompt is the first value of the
 * input. */
bool inputs_open_prompts(struct inputs *inputs, struct irrun_error *err);

/* Starts the feeds, after every input has its first record. A reset returns to that record. */
bool inputs_begin_feeds(struct inputs *inputs, struct irrun_error *err);

/* Skips the records of the prompts that the interrupted process used in its first n iterations. */
bool inputs_skip_prompts(struct inputs *inputs, uint64_t n, struct irrun_error *err);

/* Computes feed->chosen from the output, for argmax and sample. key: the value of --key, or 0. In
 * inputs_chosen.c. */
bool inputs_choose(struct inputs *inputs, struct feed *feed, const struct irrun_tensor *output,
                   int64_t key, struct irrun_error *err);

/* Checks that argmax or sample chooses one index per element of the input, and sets *shape to the
 * shape of the indices: that of --shape if it has as many elements. In inputs_chosen.c. */
bool inputs_check_choice(const struct inputs *inputs, const struct feed *feed,
                         const struct irrun_tensor *output, struct irrun_shape *shape,
                         struct irrun_error *err);

/* Adds the count to the variables of the inputs. Borrows it. */
bool inputs_add_count(struct inputs *inputs, struct count *count, struct irrun_error *err);

/* Ends the feeds of a sequence. Keeps the last values for --reset=never. */
void inputs_end_feeds(struct inputs *inputs);
void inputs_free_feeds(struct inputs *inputs);

/* ---- count: and ones:: inputs_counted.c ------------------------------------------------------ */

/* Finds the inputs of count: and ones:, and the inputs that they count. */
bool inputs_find_counters(struct inputs *inputs, struct irrun_error *err);

/* Returns the counter that fills the input, or NULL. */
const struct counter *inputs_counter_of(const struct inputs *inputs, size_t input);

/* Opens the records of count: and ones:, after every other input has its first record. */
bool inputs_open_counters(struct inputs *inputs, struct irrun_error *err);

void inputs_free_counters(struct inputs *inputs);

/* Creates a record from the numbers in `text`, "V[,V...]"; a single number fills all elements. The
 * caller frees the data. Fails with IRRUN_USAGE if a number does not fit the type of the port, or
 * if the count of numbers is wrong. In value_input.c. */
bool value_record(const char *text, const struct records_port *port, struct irrun_tensor *record,
                  struct irrun_error *err);

/* Creates a random record for input `index`. The caller frees its data. Floats are rounded to the
 * nearest value of the type, ties to even; integers and booleans are converted from floats as
 * Convert does. The numbers of an input do not depend on other inputs. The port must have no open
 * dimension. In random.c. */
bool random_record(const struct random_spec *spec, uint64_t seed, size_t index,
                   const struct records_port *port, struct irrun_tensor *record,
                   struct irrun_error *err);

/* Returns a number in [0, 1): the first one of the generator with this seed and stream. In
 * random.c. */
double random_unit(uint64_t seed, uint64_t stream);

#endif
