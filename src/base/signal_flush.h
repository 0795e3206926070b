/* Lets a signal handler write the complete records in the buffers of pipes, devices and standard
 * output before it ends the process. One thread fills a buffer; the handler may run in any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_SIGNAL_FLUSH_H
#define IRRUN_BASE_SIGNAL_FLUSH_H

#include <stdbool.h>
#include <stddef.h>

struct signal_buffer;

/* Registers a buffer whose bytes are written to fd. Returns NULL if the table is full; the handler
 * then cannot write the bytes. All functions accept NULL. */
struct signal_buffer *signal_buffer_open(int fd, unsigned char *data);
void signal_buffer_close(struct signal_buffer *buffer);

/* Declares that the first n bytes are complete records. They must not change until
 * signal_buffer_lock. */
void signal_buffer_set_complete(struct signal_buffer *buffer, size_t n);

/* signal_buffer_lock keeps the handler from writing the buffer. Lock the buffer before you write
 * its bytes to fd, and keep it locked while a record is only partly written. signal_buffer_unlock
 * also sets the number of bytes in complete records. If a signal arrived while the buffer was
 * locked, signal_buffer_unlock raises it again. */
void signal_buffer_lock(struct signal_buffer *buffer);
void signal_buffer_unlock(struct signal_buffer *buffer, size_t n_complete);

/* Writes the complete records. The handler of signal `number` calls this and then ends the process.
 * Waits at most one second for readers. If a buffer is locked, returns false and writes nothing;
 * the handler must then return, and signal_buffer_unlock raises the signal again.
 * Async-signal-safe. */
bool signal_buffers_flush(int number);

#endif
