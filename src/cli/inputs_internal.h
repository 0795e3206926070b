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

struct inputs {
    const struct irrun_model *model;
    const struct options *options;
    size_t n; /* inputs of the model */
    struct records
        *records; /* [n + 1]: the last one is the series of --reset=if:, if no input is */
    struct input_slot *slots; /* [n + 1] */
    struct feed *feeds;       /* [options->feeds.n] */
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

/* What a record of input `index` looks like, with --shape in place of the open dimensions. */
struct records_port inputs_port(const struct inputs *inputs, size_t index);

/* inputs_sources.c: opens the sources of the sequence, records for their inputs. */
bool inputs_read_sources(struct inputs *inputs, const struct sequence *sequence,
                         struct irrun_error *err);

/* Which input a name means; the series of --reset=if: is none of the model's. `context` is the
 * inputs. */
bool inputs_find_source_input(void *context, const char *name, size_t *index,
                              struct irrun_error *err);

/* Tells the session where the input's record is. */
bool inputs_bind(struct inputs *inputs, struct irrun_session *session,
                 const struct records *records, struct irrun_error *err);

/* Opens the sources of the sequence, and fills what they leave: records for every input. */
bool inputs_fill(struct inputs *inputs, const struct sequence *sequence, struct irrun_error *err);

/* ---- --feed: inputs_fed.c -------------------------------------------------------------------- */

bool inputs_find_feeds(struct inputs *inputs, struct irrun_error *err);

/* The sources of fed inputs become prompts, of which the first record is the input's. */
bool inputs_open_prompts(struct inputs *inputs, struct irrun_error *err);

/* Every input has its first record, to which a reset returns. */
bool inputs_begin_feeds(struct inputs *inputs, struct irrun_error *err);

/* After n iterations of the sequence that another process has run. */
bool inputs_skip_prompts(struct inputs *inputs, uint64_t n, struct irrun_error *err);

/* The sequence is over; what --reset=never needs is kept. */
void inputs_end_feeds(struct inputs *inputs);
void inputs_free_feeds(struct inputs *inputs);

/* value_input.c: a record of the numbers in `text`, "V[,V...]"; one fills every element. Its data
 * is malloc'ed, the caller's. IRRUN_USAGE if they are not numbers of the port's type, or too few
 * or too many. */
bool value_record(const char *text, const struct records_port *port, struct irrun_tensor *record,
                  struct irrun_error *err);

/* random.c: a record for input `index`; its data is malloc'ed, the caller's. Floats that the type
 * cannot hold are rounded to nearest even; integers and booleans are made from them as Convert
 * does. The numbers of one input do not depend on the others. IRRUN_USAGE if the port has open
 * dimensions. */
bool random_record(const struct random_spec *spec, uint64_t seed, size_t index,
                   const struct records_port *port, struct irrun_tensor *record,
                   struct irrun_error *err);

#endif
