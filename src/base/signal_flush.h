/* Buffers that a signal handler flushes before it ends the process: complete records for pipes,
 * devices and standard output. One thread fills a buffer; the handler may run in any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_SIGNAL_FLUSH_H
#define IRRUN_BASE_SIGNAL_FLUSH_H

#include <stdbool.h>
#include <stddef.h>

struct signal_buffer;

/* Registers a buffer whose bytes go to fd. NULL if the table is full: a signal then discards the
 * bytes. Every function accepts that NULL. */
struct signal_buffer *signal_buffer_open(int fd, unsigned char *data);
void signal_buffer_close(struct signal_buffer *buffer);

/* The first n bytes are complete records and do not change until signal_buffer_lock. */
void signal_buffer_set_complete(struct signal_buffer *buffer, size_t n);

/* While the buffer is locked, the handler does not send it: the caller is writing it, or half of a
 * record is out. signal_buffer_unlock raises a signal again that arrives meanwhile. */
void signal_buffer_lock(struct signal_buffer *buffer);
void signal_buffer_unlock(struct signal_buffer *buffer, size_t n_complete);

/* For the handler of signal `number`, which then ends the process; async-signal-safe. Sends
 * complete records, and waits at most one second for readers. False if a buffer is locked: nothing
 * was sent, the handler should return, and the signal is raised again. */
bool signal_buffers_send(int number);

#endif
