/* What a dying process still sends: the whole records that wait in the buffers of pipes, devices
 * and standard output. One thread fills a buffer; the signal handler that empties it may run in
 * any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_OUTBOX_H
#define IRRUN_BASE_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

struct outbox;

/* Announces a buffer whose bytes go to fd. NULL if there is no room: its bytes then die with the
 * process. Every function allows that NULL. */
struct outbox *outbox_open(int fd, unsigned char *buffer);
void outbox_close(struct outbox *outbox);

/* The first n bytes of the buffer are whole records and stay as they are, until outbox_lock. */
void outbox_set_whole(struct outbox *outbox, size_t n);

/* Between the two nobody else sends: the bytes are on their way already, or a record is half out. A
 * signal that comes meanwhile is raised again by outbox_unlock. */
void outbox_lock(struct outbox *outbox);
void outbox_unlock(struct outbox *outbox, size_t n_whole);

/* For the handler of signal `number`, which then ends the process; async-signal-safe. Sends what is
 * whole, waiting for readers no longer than a second. False if a buffer is locked: then nothing was
 * sent, the handler should return, and the signal comes again. */
bool outboxes_send(int number);

#endif
