/* The inputs of a sequence: the records of every input of the model, pulled one at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_INPUTS_H
#define IRRUN_CLI_INPUTS_H

#include "cli/records.h"
#include "cli/sequence.h"

struct inputs;

/* Checks the names on the command line against the model; opens nothing. Borrows model, options and
 * wait: what is done before an input makes the run wait. */
bool inputs_new(const struct irrun_model *model, const struct options *options,
                const struct reader_wait *wait, struct inputs **inputs, struct irrun_error *err);
void inputs_free(struct inputs *inputs);

/* Opens what the sequence reads and binds every input of the session. must_look_ahead: whether one
 * record or several come has to be known now, even if that means to wait for the second. */
bool inputs_open(struct inputs *inputs, const struct sequence *sequence,
                 struct irrun_session *session, bool must_look_ahead, struct irrun_error *err);
void inputs_close(struct inputs *inputs);

/* Puts the next record into the inputs of the session; *has_record is false at the end. If no input
 * ends, there is one record. Fails with IRRUN_DATA if the inputs have different numbers of
 * records. */
bool inputs_next(struct inputs *inputs, struct irrun_session *session, bool *has_record,
                 struct irrun_error *err);

/* Goes to where inputs_next has been called n times, rewinding whenever the end is reached. */
bool inputs_skip(struct inputs *inputs, struct irrun_session *session, uint64_t n,
                 struct irrun_error *err);

/* Begins again with the first record; IRRUN_DATA if there is none or it is gone with its pipe. */
bool inputs_rewind(struct inputs *inputs, struct irrun_session *session, struct irrun_error *err);

/* Makes the present records of count: and ones:, before an iteration. */
bool inputs_count(struct inputs *inputs, struct irrun_session *session, struct irrun_error *err);

/* Passes outputs to the inputs that --feed names, between two iterations. Fails with IRRUN_DATA if
 * an input cannot take its output. */
bool inputs_feed_back(struct inputs *inputs, struct irrun_session *session,
                      const struct irrun_tensor *const *values, struct irrun_error *err);

/* Returns the number of inputs that --feed makes variables, in the order of the options, and after
 * them those of count: and ones:. They have the names of their inputs. */
size_t inputs_n_variables(const struct inputs *inputs);
struct irrun_port;
const struct irrun_port *inputs_variable_port(const struct inputs *inputs, size_t i);
const struct irrun_tensor *inputs_variable(const struct inputs *inputs, size_t i);

/* Whether -i gives its first value, which wins over --state-in. */
bool inputs_variable_is_given(const struct inputs *inputs, size_t i);

/* Sets the next value to a copy. Fails with IRRUN_DATA if it does not fit. */
bool inputs_set_variable(struct inputs *inputs, struct irrun_session *session, size_t i,
                         const struct irrun_tensor *value, struct irrun_error *err);

/* Resets them to their first values. */
bool inputs_reset_variables(struct inputs *inputs, struct irrun_session *session,
                            struct irrun_error *err);

/* Sets them, for --reset=never, to their values at the end of the sequence before, unless -i gives
 * one. Call it after inputs_open. */
bool inputs_keep_variables(struct inputs *inputs, struct irrun_session *session,
                           struct irrun_error *err);

/* Whether records come along some axis (or that is not known yet), so that outputs are stacks too;
 * if not, every iteration has the same record. */
bool inputs_are_stacked(const struct inputs *inputs);

/* Whether the scalar of --reset=if:NAME is non-zero in the present record. */
bool inputs_ask_for_reset(const struct inputs *inputs);

/* Returns how many records there will be, as far as the files tell now; 0 if it is not known. */
uint64_t inputs_n_expected(const struct inputs *inputs);

/* Steps along the cut axis in one record; 0: no input is cut. */
uint64_t inputs_n_frames(const struct inputs *inputs);

/* Warns of files of raw or csv that held no record: they are mistakes more often than an empty
 * stack is, or a pipe through which nothing came. For when the first inputs_next gave none. */
void inputs_warn_empty(const struct inputs *inputs);

/* Says with -v what every input reads. */
void inputs_tell(const struct inputs *inputs);

uint64_t inputs_n_records(const struct inputs *inputs); /* read since inputs_open, rewound or not */

#endif
