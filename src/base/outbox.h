/* Buffers that a signal handler flushes before it ends the process: complete records for pipes,
 * devices and standard output. One thread fills a buffer; the handler may run in any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_OUTBOX_H
#define IRRUN_BASE_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

struct outbox;

/* Registers a buffer whose bytes go to fd. NULL if the table is full: a signal then discards the
 * bytes. Every function accepts that NULL. */
struct outbox *outbox_open(int fd, unsigned char *buffer);
void outbox_close(struct outbox *outbox);

/* The first n bytes of the buffer are complete records and do not change until outbox_lock. */
void outbox_set_whole(struct outbox *outbox, size_t n);

/* While the buffer is locked, the handler does not send it: the caller is writing it, or half of a
 * record is out. outbox_unlock raises a signal again that arrives meanwhile. */
void outbox_lock(struct outbox *outbox);
void outbox_unlock(struct outbox *outbox, size_t n_whole);

/* For the handler of signal `number`, which then ends the process; async-signal-safe. Sends
 * complete records, and waits at most one second for readers. False if a buffer is locked: nothing
 * was sent, the handler should return, and the signal is raised again. */
bool outboxes_send(int number);

#endif
