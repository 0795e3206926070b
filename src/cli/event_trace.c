/* Collects events in memory and appends them to the file in batches. A batch is one write. It ends
 * with the closing bracket, which the next batch overwrites.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/event_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/json.h"

#define MAX_EVENTS 4096       /* kept in memory for each thread */
#define MAX_WAIT_NS 200000000 /* after this time, events are written */

struct event {
    const char *name;
    const char *type; /* of the op; NULL: not an op */
    uint32_t line;
    uint64_t number, start_ns, end_ns;
};

struct event_trace {
    const char *path;
    int fd;
    uint64_t start_ns;
    pthread_mutex_t lock; /* protects all members below */
    struct text text;     /* the current batch */
    struct json json;
    off_t offset; /* file offset of the closing bracket */
    struct irrun_error err;
};

/* The events of one thread. */
struct event_buffer {
    unsigned track_id; /* "tid" in the file */
    struct event *events;
    size_t n;
};

struct event_track {
    struct event_trace *trace;
    struct irrun_session *session;
    uint64_t written_ns;
    size_t n_buffers;
    struct event_buffer buffers[]; /* [n_buffers], one per thread, the first for the worker */
};

/* ---- The file -------------------------------------------------------------------------------- */

/* Writes the batch and a closing bracket. The caller holds the lock. */
static void write_batch(struct event_trace *trace)
{
    static const char ending[] = "\n]\n";
    struct text *text = &trace->text;
    text_add_bytes(text, ending, sizeof ending - 1);
    if (trace->err.code == IRRUN_OK && text_check(text, &trace->err) &&
        (file_write_at(trace->fd, (uint64_t)trace->offset, text->data, text->length) ||
         fail_errno(&trace->err, IRRUN_IO, trace->path, "cannot write", errno)))
        trace->offset += (off_t)(text->length - (sizeof ending - 1));
    text->length = 0;
}

static void open_event(struct event_trace *trace, const char *phase, const char *name,
                       unsigned track)
{
    struct json *json = &trace->json;
    json_open(json, NULL, '{');
    json_string(json, "ph", phase);
    json_string(json, "name", name);
    json_count(json, "pid", 1);
    json_count(json, "tid", track);
}

static void add_thread_name(struct event_trace *trace, unsigned track, const char *name)
{
    struct json *json = &trace->json;
    open_event(trace, "M", "thread_name", track);
    json_open(json, "args", '{');
    json_string(json, "name", name);
    json_close(json, '}');
    json_close(json, '}');
}

static void add_event(struct event_trace *trace, unsigned track, const struct event *event)
{
    struct json *json = &trace->json;
    open_event(trace, "X", event->name, track);
    json_string(json, "cat", event->type ? event->type : "irrun");
    json_number(json, "ts", (double)(event->start_ns - trace->start_ns) / 1000);
    json_number(json, "dur", (double)(event->end_ns - event->start_ns) / 1000);
    json_open(json, "args", '{');
    json_count(json, event->type ? "line" : "number", event->type ? event->line : event->number);
    json_close(json, '}');
    json_close(json, '}');
    text_add_bytes(json->text, "\n", 1);
}

bool event_trace_open(const char *path, uint64_t start_ns, struct event_trace **trace,
                      struct irrun_error *err)
{
    struct stat status;
    struct event_trace *made = *trace = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    *made = (struct event_trace){.path = path, .start_ns = start_ns};
    made->json.text = &made->text;
    pthread_mutex_init(&made->lock, NULL);
    made->fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
    bool is_pipe = made->fd < 0 && errno == ENXIO; /* a pipe without a reader */
    if (made->fd < 0 && !is_pipe)
        return fail_errno(err, IRRUN_CANT_CREATE, path, "cannot create", errno);
    if (is_pipe || fstat(made->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return fail(err, IRRUN_USAGE, "--trace: '%s' is not a regular file", path);
    if (ftruncate(made->fd, 0) != 0)
        return fail_errno(err, IRRUN_CANT_CREATE, path, "cannot truncate", errno);
    text_add_bytes(&made->text, "[\n", 2);
    write_batch(made);
    return true;
}

bool event_trace_close(struct event_trace *trace, struct irrun_error *err)
{
    if (!trace)
        return true;
    if (trace->fd >= 0 && close(trace->fd) != 0)
        fail_errno(&trace->err, IRRUN_IO, trace->path, "cannot write", errno);
    bool is_written = trace->err.code == IRRUN_OK;
    if (!is_written && err->code == IRRUN_OK)
        *err = trace->err;
    pthread_mutex_destroy(&trace->lock);
    text_free(&trace->text);
    free(trace);
    return is_written;
}

/* ---- Tracks ---------------------------------------------------------------------------------- */

static void write_buffer(struct event_trace *trace, struct event_buffer *buffer)
{
    uint64_t start_ns = clock_now_ns();
    pthread_mutex_lock(&trace->lock);
    for (size_t i = 0; i < buffer->n; i++)
        add_event(trace, buffer->track_id, &buffer->events[i]);
    write_batch(trace);
    pthread_mutex_unlock(&trace->lock);
    buffer->n = 1;
    buffer->events[0] =
        (struct event){.name = "trace", .start_ns = start_ns, .end_ns = clock_now_ns()};
}

static void buffer_event(struct event_trace *trace, struct event_buffer *buffer,
                         const struct event *event)
{
    buffer->events[buffer->n++] = *event;
    if (buffer->n == MAX_EVENTS)
        write_buffer(trace, buffer);
}

/* Writes the events of all threads of the session, which must be idle. */
static void write_track(struct event_track *track)
{
    for (size_t i = 0; i < track->n_buffers; i++)
        if (track->buffers[i].n > 0)
            write_buffer(track->trace, &track->buffers[i]);
    track->written_ns = clock_now_ns();
}

static void record_step(void *context, unsigned thread, const struct irrun_op_name *op,
                        uint64_t start_ns, uint64_t end_ns)
{
    struct event_track *track = context;
    buffer_event(track->trace, &track->buffers[thread],
                 &(struct event){.name = op->name,
                                 .type = op->type,
                                 .line = op->line,
                                 .start_ns = start_ns,
                                 .end_ns = end_ns});
}

static bool open_buffer(struct event_track *track, unsigned job, unsigned thread,
                        struct irrun_error *err)
{
    struct event_trace *trace = track->trace;
    struct event_buffer *buffer = &track->buffers[thread];
    char name[64];
    buffer->track_id = job * (unsigned)track->n_buffers + thread;
    buffer->events = new_array(MAX_EVENTS, sizeof *buffer->events, err);
    snprintf(name, sizeof name, thread > 0 ? "job %u thread %u" : "job %u", job, thread);
    pthread_mutex_lock(&trace->lock);
    add_thread_name(trace, buffer->track_id, name);
    write_batch(trace);
    pthread_mutex_unlock(&trace->lock);
    return buffer->events != NULL;
}

bool event_track_open(struct event_trace *trace, unsigned job, struct irrun_session *session,
                      struct event_track **track, struct irrun_error *err)
{
    struct irrun_session_info info;
    irrun_session_describe(session, &info);
    size_t size_bytes = sizeof **track + info.n_threads * sizeof(*track)->buffers[0];
    struct event_track *made = *track = calloc(1, size_bytes);
    if (!made)
        return fail_memory(err, size_bytes);
    made->trace = trace;
    made->session = session;
    made->written_ns = clock_now_ns();
    made->n_buffers = info.n_threads;
    for (unsigned i = 0; i < info.n_threads; i++)
        if (!open_buffer(made, job, i, err))
            return false;
    irrun_session_watch(session, record_step, made);
    return true;
}

void event_track_close(struct event_track *track)
{
    if (!track)
        return;
    irrun_session_watch(track->session, NULL, NULL);
    write_track(track);
    for (size_t i = 0; i < track->n_buffers; i++)
        free(track->buffers[i].events);
    free(track);
}

uint64_t event_start(const struct event_track *track)
{
    return track ? clock_now_ns() : 0;
}

void event_add(struct event_track *track, const char *name, uint64_t number, uint64_t start_ns)
{
    if (!track)
        return;
    uint64_t now = clock_now_ns();
    buffer_event(
        track->trace, &track->buffers[0],
        &(struct event){.name = name, .number = number, .start_ns = start_ns, .end_ns = now});
    if (now - track->written_ns > MAX_WAIT_NS)
        write_track(track);
}
