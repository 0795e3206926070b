/* A table of buffers that a signal handler may read at any time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/outbox.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define MAX_OUTBOXES 256
#define LAST_WAIT_MS 1000

enum outbox_state { OUTBOX_FREE, OUTBOX_OPENING, OUTBOX_IDLE, OUTBOX_LOCKED, OUTBOX_SENDING };

static struct outbox {
    atomic_int state;
    int fd;
    const unsigned char *buffer;
    atomic_size_t n_whole;
} outboxes[MAX_OUTBOXES];

static atomic_int pending_signal; /* a signal that came while a buffer was locked; 0: none */
static atomic_flag is_sending = ATOMIC_FLAG_INIT;

struct outbox *outbox_open(int fd, unsigned char *buffer)
{
    for (size_t i = 0; i < MAX_OUTBOXES; i++) {
        struct outbox *outbox = &outboxes[i];
        int expected = OUTBOX_FREE;
        if (!atomic_compare_exchange_strong(&outbox->state, &expected, OUTBOX_OPENING))
            continue;
        outbox->fd = fd;
        outbox->buffer = buffer;
        atomic_store(&outbox->n_whole, 0);
        atomic_store(&outbox->state, OUTBOX_IDLE);
        return outbox;
    }
    return NULL;
}

void outbox_close(struct outbox *outbox)
{
    if (!outbox)
        return;
    outbox_lock(outbox);
    atomic_store(&outbox->state, OUTBOX_FREE);
    if (atomic_load(&pending_signal) != 0)
        raise(atomic_load(&pending_signal));
}

void outbox_set_whole(struct outbox *outbox, size_t n)
{
    if (outbox)
        atomic_store_explicit(&outbox->n_whole, n, memory_order_release);
}

/* Waits while another thread's handler is sending the buffer: the process ends after it. */
void outbox_lock(struct outbox *outbox)
{
    int expected = OUTBOX_IDLE;
    while (outbox && !atomic_compare_exchange_strong(&outbox->state, &expected, OUTBOX_LOCKED)) {
        expected = OUTBOX_IDLE;
        sched_yield();
    }
}

void outbox_unlock(struct outbox *outbox, size_t n_whole)
{
    if (!outbox)
        return;
    atomic_store(&outbox->n_whole, n_whole);
    atomic_store(&outbox->state, OUTBOX_IDLE);
    if (atomic_load(&pending_signal) != 0)
        raise(atomic_load(&pending_signal));
}

/* ---- The handler's side ---------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* If poll says that a pipe is writable, a write of PIPE_BUF bytes does not block. */
static void send_whole(const struct outbox *outbox, int64_t deadline_ms)
{
    const unsigned char *at = outbox->buffer;
    size_t n_left = atomic_load_explicit(&outbox->n_whole, memory_order_acquire);
    while (n_left > 0) {
        struct pollfd room = {.fd = outbox->fd, .events = POLLOUT};
        int64_t wait_ms = deadline_ms - now_ms();
        if (poll(&room, 1, wait_ms > 0 ? (int)wait_ms : 0) <= 0)
            return;
        ssize_t n = write(outbox->fd, at, n_left < PIPE_BUF ? n_left : PIPE_BUF);
        if (n < 0 && errno != EAGAIN)
            return;
        if (n > 0) {
            at += n;
            n_left -= (size_t)n;
        }
    }
}

/* Claims all buffers, or none. */
static bool claim_all(void)
{
    for (size_t i = 0; i < MAX_OUTBOXES; i++) {
        int state = OUTBOX_IDLE;
        if (atomic_compare_exchange_strong(&outboxes[i].state, &state, OUTBOX_SENDING) ||
            state != OUTBOX_LOCKED)
            continue;
        while (i-- > 0) {
            state = OUTBOX_SENDING;
            atomic_compare_exchange_strong(&outboxes[i].state, &state, OUTBOX_IDLE);
        }
        return false;
    }
    return true;
}

bool outboxes_send(int number)
{
    atomic_store(&pending_signal, number);
    if (atomic_flag_test_and_set(&is_sending)) {
        poll(NULL, 0, 2 * LAST_WAIT_MS); /* another thread's handler ends the process */
        return true;
    }
    if (!claim_all()) {
        atomic_flag_clear(&is_sending);
        return false;
    }
    int64_t deadline_ms = now_ms() + LAST_WAIT_MS;
    for (size_t i = 0; i < MAX_OUTBOXES; i++)
        if (atomic_load(&outboxes[i].state) == OUTBOX_SENDING)
            send_whole(&outboxes[i], deadline_ms);
    return true;
}
