/* --trace: what the workers do, as Chrome trace events. After every write the file is whole.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_EVENT_TRACE_H
#define IRRUN_CLI_EVENT_TRACE_H

#include "irrun.h"

/* The file, shared by all workers, and the events of one of them. NULL: there is no --trace. */
struct event_trace;
struct event_track;

/* Times count from start_ns, on CLOCK_MONOTONIC. */
bool event_trace_open(const char *path, uint64_t start_ns, struct event_trace **trace,
                      struct irrun_error *err);
/* Fails with the first error of writing. The tracks are closed before. */
bool event_trace_close(struct event_trace *trace, struct irrun_error *err);

/* The tracks of a worker and of the threads of its session: the steps, and what event_add adds. */
bool event_track_open(struct event_trace *trace, unsigned job, struct irrun_session *session,
                      struct event_track **track, struct irrun_error *err);
void event_track_close(struct event_track *track);

/* When an event begins; and the event: `name`, a string literal, with the number of its iteration
 * or sequence. Events lie in each other or apart. */
uint64_t event_start(const struct event_track *track);
void event_add(struct event_track *track, const char *name, uint64_t number, uint64_t start_ns);

#endif
