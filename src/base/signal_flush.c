/* A table of output buffers that a signal handler may read at any time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/signal_flush.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "base/clock.h"

#define MAX_BUFFERS 256
#define FLUSH_TIMEOUT_MS 1000

enum buffer_state { BUFFER_FREE, BUFFER_OPENING, BUFFER_IDLE, BUFFER_LOCKED, BUFFER_SENDING };

static struct signal_buffer {
    atomic_int state;
    int fd;
    const unsigned char *data;
    atomic_size_t n_complete;
} buffers[MAX_BUFFERS];

static atomic_int pending_signal; /* the signal that ends the process; 0: none */
static atomic_flag is_sending = ATOMIC_FLAG_INIT;

struct signal_buffer *signal_buffer_open(int fd, unsigned char *data)
{
    for (size_t i = 0; i < MAX_BUFFERS; i++) {
        struct signal_buffer *buffer = &buffers[i];
        int expected = BUFFER_FREE;
        if (!atomic_compare_exchange_strong(&buffer->state, &expected, BUFFER_OPENING))
            continue;
        buffer->fd = fd;
        buffer->data = data;
        atomic_store(&buffer->n_complete, 0);
        atomic_store(&buffer->state, BUFFER_IDLE);
        return buffer;
    }
    return NULL;
}

void signal_buffer_close(struct signal_buffer *buffer)
{
    if (!buffer)
        return;
    signal_buffer_lock(buffer);
    atomic_store(&buffer->state, BUFFER_FREE);
    if (atomic_load(&pending_signal) != 0)
        raise(atomic_load(&pending_signal));
}

void signal_buffer_set_complete(struct signal_buffer *buffer, size_t n)
{
    if (buffer)
        atomic_store_explicit(&buffer->n_complete, n, memory_order_release);
}

/* Locks the buffer. If the handler is writing the buffer in a different thread, waits forever,
 * because the process is about to end. */
void signal_buffer_lock(struct signal_buffer *buffer)
{
    int expected = BUFFER_IDLE;
    while (buffer && !atomic_compare_exchange_strong(&buffer->state, &expected, BUFFER_LOCKED)) {
        expected = BUFFER_IDLE;
        sched_yield();
    }
}

void signal_buffer_unlock(struct signal_buffer *buffer, size_t n_complete)
{
    if (!buffer)
        return;
    atomic_store(&buffer->n_complete, n_complete);
    atomic_store(&buffer->state, BUFFER_IDLE);
    if (atomic_load(&pending_signal) != 0)
        raise(atomic_load(&pending_signal));
}

/* ---- The signal handler ---------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    return (int64_t)(clock_now_ns() / 1000000);
}

/* Writes the complete part of a buffer. After poll has reported that a pipe is writable, a write of
 * up to PIPE_BUF bytes does not block. */
static void send_complete(const struct signal_buffer *buffer, int64_t deadline_ms)
{
    const unsigned char *at = buffer->data;
    size_t n_left = atomic_load_explicit(&buffer->n_complete, memory_order_acquire);
    while (n_left > 0) {
        struct pollfd wait = {.fd = buffer->fd, .events = POLLOUT};
        int64_t wait_ms = deadline_ms - now_ms();
        if (poll(&wait, 1, wait_ms > 0 ? (int)wait_ms : 0) <= 0)
            return;
        ssize_t n = write(buffer->fd, at, n_left < PIPE_BUF ? n_left : PIPE_BUF);
        if (n < 0 && errno != EAGAIN)
            return;
        if (n > 0) {
            at += n;
            n_left -= (size_t)n;
        }
    }
}

/* Claims all idle buffers. If one is locked, claims none and returns false. */
static bool claim_all(void)
{
    for (size_t i = 0; i < MAX_BUFFERS; i++) {
        int state = BUFFER_IDLE;
        if (atomic_compare_exchange_strong(&buffers[i].state, &state, BUFFER_SENDING) ||
            state != BUFFER_LOCKED)
            continue;
        while (i-- > 0) {
            state = BUFFER_SENDING;
            atomic_compare_exchange_strong(&buffers[i].state, &state, BUFFER_IDLE);
        }
        return false;
    }
    return true;
}

bool signal_buffers_flush(int number)
{
    atomic_store(&pending_signal, number);
    if (atomic_flag_test_and_set(&is_sending)) {
        poll(NULL, 0, 2 * FLUSH_TIMEOUT_MS); /* another thread's handler ends the process */
        return true;
    }
    if (!claim_all()) {
        atomic_flag_clear(&is_sending);
        return false;
    }
    int64_t deadline_ms = now_ms() + FLUSH_TIMEOUT_MS;
    for (size_t i = 0; i < MAX_BUFFERS; i++)
        if (atomic_load(&buffers[i].state) == BUFFER_SENDING)
            send_complete(&buffers[i], deadline_ms);
    return true;
}
