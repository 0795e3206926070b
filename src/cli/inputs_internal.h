/* What inputs.c and inputs_open.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_INPUTS_INTERNAL_H
#define IRRUN_CLI_INPUTS_INTERNAL_H

#include "cli/bind.h"
#include "cli/inputs.h"

struct input_slot {
    bool is_filled;
    bool is_fed;                    /* by --feed, but for the first value */
    const struct axis_spec *axis;   /* NULL: none, or the one without a name */
    const struct shape_spec *shape; /* NULL: none was given */
};

/* A --feed. The present value is the record of the input. */
struct feed {
    size_t output, input;
    bool is_argmax;
    bool has_source;             /* -i gives the first values … */
    struct records prompt;       /* … these; closed once they are over */
    struct irrun_tensor initial; /* the first value; malloc'ed */
    struct irrun_tensor last;    /* the value at the end of the last sequence; malloc'ed or NULL */
    struct irrun_tensor picked;  /* of argmax; malloc'ed or NULL */
};

/* An input of count: or ones:. */
struct counter {
    size_t input, reference; /* the input that is counted */
    const struct binding *binding;
    int64_t n_before;          /* of the sequence, along the last axis: a variable … */
    struct irrun_port port;    /* … of this name and type */
    struct irrun_tensor value; /* … and value */
    int64_t n_now, n_last;     /* in this record; n_before at the end of the last sequence */
    struct irrun_tensor made;  /* the record; malloc'ed or NULL */
    size_t capacity_bytes;
};

struct inputs {
    const struct irrun_model *model;
    const struct options *options;
    size_t n; /* inputs of the model */
    struct records
        *records; /* [n + 1]: the last one is the series of --reset=if:, if no input is */
    struct input_slot *slots; /* [n + 1] */
    struct feed *feeds;       /* [options->feeds.n] */
    struct counter *counters;
    size_t n_counters;
    const struct axis_spec *common_axis;
    struct records **streams; /* those that can end: n_streams of [n + 1] */
    size_t n_streams;
    struct archive_list archives;
    const struct reader_wait *wait;      /* what is done before waiting */
    const struct records *reset_records; /* NULL: no --reset=if: */
    uint64_t n_records;
    bool was_given; /* the one record of inputs that never end */
};

/* Checks the names in --axis, --shape, --feed and --random. */
bool inputs_find_names(struct inputs *inputs, struct irrun_error *err);

/* Returns the form of a record of input `index`, with --shape in place of the open dimensions. */
struct records_port inputs_port(const struct inputs *inputs, size_t index);

/* inputs_sources.c: opens the sources of the sequence, records for their inputs. */
bool inputs_read_sources(struct inputs *inputs, const struct sequence *sequence,
                         struct irrun_error *err);

/* Finds the input that a name means, which may be the series of --reset=if:, which is not an input
 * of the model. `context` is the inputs. */
bool inputs_find_source_input(void *context, const char *name, size_t *index,
                              struct irrun_error *err);

/* Tells the session where the input's record is. */
bool inputs_bind(struct inputs *inputs, struct irrun_session *session,
                 const struct records *records, struct irrun_error *err);

/* Opens the sources of the sequence, and fills what they leave: records for every input. */
bool inputs_fill(struct inputs *inputs, const struct sequence *sequence, struct irrun_error *err);

/* ---- --feed: inputs_fed.c -------------------------------------------------------------------- */

bool inputs_find_feeds(struct inputs *inputs, struct irrun_error *err);

/* Makes the sources of fed inputs prompts. The first record of a prompt is that of the input. */
bool inputs_open_prompts(struct inputs *inputs, struct irrun_error *err);

/* Begins the feeds, when every input has its first record. A reset returns to it. */
bool inputs_begin_feeds(struct inputs *inputs, struct irrun_error *err);

/* Skips the prompts of n iterations of the sequence, which another process has run. */
bool inputs_skip_prompts(struct inputs *inputs, uint64_t n, struct irrun_error *err);

/* Ends the sequence, and keeps what --reset=never needs. */
void inputs_end_feeds(struct inputs *inputs);
void inputs_free_feeds(struct inputs *inputs);

/* ---- count: and ones:: inputs_counted.c ------------------------------------------------------ */

/* Finds the inputs of count: and ones:, and those that they count. */
bool inputs_find_counters(struct inputs *inputs, struct irrun_error *err);

/* Returns NULL if neither count: nor ones: fills the input. */
const struct counter *inputs_counter_of(const struct inputs *inputs, size_t input);

/* Opens their records, when every other input has its first one. */
bool inputs_open_counters(struct inputs *inputs, struct irrun_error *err);

/* Keeps what --reset=never needs when the sequence is over. */
void inputs_end_counters(struct inputs *inputs);
void inputs_free_counters(struct inputs *inputs);

/* Makes a record of the numbers in `text`, "V[,V...]"; a single one fills every element. The caller
 * frees its data. Fails with IRRUN_USAGE if they are not numbers of the type of the port, or too
 * few or too many. In value_input.c. */
bool value_record(const char *text, const struct records_port *port, struct irrun_tensor *record,
                  struct irrun_error *err);

/* Makes a random record for input `index`. The caller frees its data. Floats that the type cannot
 * hold are rounded to nearest even; integers and booleans are converted from them as by Convert.
 * The numbers of one input do not depend on the others. Fails with IRRUN_USAGE if the port has open
 * dimensions. In random.c. */
bool random_record(const struct random_spec *spec, uint64_t seed, size_t index,
                   const struct records_port *port, struct irrun_tensor *record,
                   struct irrun_error *err);

#endif
