/* The inputs of a sequence: reads the records of every input of the model, one at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_INPUTS_H
#define IRRUN_CLI_INPUTS_H

#include "cli/records.h"
#include "cli/sequence.h"

struct inputs;

/* Checks the names on the command line against the model; opens nothing. Borrows model,
 * session, options, and wait, which is called before the run waits for an input. */
bool inputs_new(const struct irrun_model *model, struct irrun_session *session,
                const struct options *options, const struct reader_wait *wait,
                struct inputs **inputs, struct irrun_error *err);
void inputs_free(struct inputs *inputs);

/* Opens the sources of the sequence and binds every input of the session. must_look_ahead: finds
 * out whether there are several records, even if it must wait for the second. */
bool inputs_open(struct inputs *inputs, const struct sequence *sequence, bool must_look_ahead,
                 struct irrun_error *err);
void inputs_close(struct inputs *inputs);

/* Reads the next record into the inputs of the session; *has_record is false at the end. If no
 * input ends, there is one record. Fails with IRRUN_DATA if the inputs have different numbers of
 * records. */
bool inputs_next(struct inputs *inputs, bool *has_record, struct irrun_error *err);

/* Skips n records, as if inputs_next had been called n times, rewinding at the end. */
bool inputs_skip(struct inputs *inputs, uint64_t n, struct irrun_error *err);

/* Returns to the first record. Fails with IRRUN_DATA if there is none, or if it was read from a
 * pipe. */
bool inputs_rewind(struct inputs *inputs, struct irrun_error *err);

/* Computes the current records of count: and ones:, before an iteration. */
bool inputs_count(struct inputs *inputs, struct irrun_error *err);

/* Checks before the first iteration that outputs fit the inputs of --feed. values: the outputs;
 * NULL where the shape is not known yet. */
bool inputs_check_feeds(const struct inputs *inputs, const struct irrun_tensor *const *values,
                        struct irrun_error *err);

/* Finds the next values of the inputs of --feed, after an iteration. values: the n outputs of the
 * model, to which the next values are appended. key: of --key; otherwise 0. */
bool inputs_choose_next(struct inputs *inputs, const struct irrun_tensor **values, size_t n,
                        int64_t key, struct irrun_error *err);

/* Returns whether the next value of fed input i is a record of -i. */
bool inputs_next_is_record(const struct inputs *inputs, size_t i);

/* Copies these values to the inputs. Fails with IRRUN_DATA if one does not fit. */
bool inputs_feed_back(struct inputs *inputs, struct irrun_error *err);

/* Returns the number of variables of the inputs: the values of --feed in the order of the options,
 * then the numbers of draws of :sample, and those of elements for count: and ones:. */
size_t inputs_n_variables(const struct inputs *inputs);
const struct irrun_port *inputs_variable_port(const struct inputs *inputs, size_t i);
const struct irrun_tensor *inputs_variable(const struct inputs *inputs, size_t i);

/* Returns whether -i gives the first value, which takes precedence over --state-in. */
bool inputs_variable_is_given(const struct inputs *inputs, size_t i);

/* Sets a variable to a copy of `value`. Fails with IRRUN_DATA if it does not fit. */
bool inputs_set_variable(struct inputs *inputs, size_t i, const struct irrun_tensor *value,
                         struct irrun_error *err);

/* Resets these variables to their first values. */
bool inputs_reset_variables(struct inputs *inputs, struct irrun_error *err);

/* Sets these variables to their values at the end of the previous sequence, unless -i gives one.
 * For --reset=never, after inputs_open. */
bool inputs_keep_variables(struct inputs *inputs, struct irrun_error *err);

/* Returns whether there may be several records. Otherwise all iterations have the same one. */
bool inputs_are_stacked(const struct inputs *inputs);

/* Returns whether the scalar of --reset=if:NAME is not zero in the current record. */
bool inputs_ask_for_reset(const struct inputs *inputs);

/* Returns the current record of an input of the model. */
const struct irrun_tensor *inputs_record(const struct inputs *inputs, size_t index);

/* Returns the number of --key in the current record. */
int64_t inputs_key(const struct inputs *inputs);

/* Returns the expected number of records, as far as it is known from the files; 0: unknown. */
uint64_t inputs_n_expected(const struct inputs *inputs);

/* Returns the number of elements along the cut axis in one record; 0: no input is cut. */
uint64_t inputs_n_frames(const struct inputs *inputs);

/* Warns of raw and csv files without a record, which are probably mistakes, unlike an empty stack
 * or an empty pipe. For when the first inputs_next has returned no record. */
void inputs_warn_empty(const struct inputs *inputs);

void inputs_show(const struct inputs *inputs);

uint64_t inputs_n_records(const struct inputs *inputs); /* since inputs_open, despite rewinds */

#endif
