/* --trace: writes the steps and events of all workers as Chrome trace events. The file is valid
 * JSON after every write.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_EVENT_TRACE_H
#define IRRUN_CLI_EVENT_TRACE_H

#include "irrun.h"

/* event_trace is the file, which all workers share; event_track holds the events of one worker.
 * Both are NULL without --trace. */
struct event_trace;
struct event_track;

/* Opens the file. Times are relative to start_ns, on CLOCK_MONOTONIC. */
bool event_trace_open(const char *path, uint64_t start_ns, struct event_trace **trace,
                      struct irrun_error *err);
/* Closes the file, after the tracks. Fails with the first write error. */
bool event_trace_close(struct event_trace *trace, struct irrun_error *err);

/* Opens the track of a worker, which records every step of all threads of the session, and the
 * events of event_add. */
bool event_track_open(struct event_trace *trace, unsigned job, struct irrun_session *session,
                      struct event_track **track, struct irrun_error *err);
void event_track_close(struct event_track *track);

/* event_start returns the start time of an event; event_add adds the event when it ends. `name` is
 * a string literal; `number` is the number of the iteration or sequence. Events may be nested, but
 * must not overlap otherwise. */
uint64_t event_start(const struct event_track *track);
void event_add(struct event_track *track, const char *name, uint64_t number, uint64_t start_ns);

#endif
