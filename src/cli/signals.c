/* Flushes complete records, removes temporary files, and ends the process with the received signal,
 * or after a timeout.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/signal_flush.h"
#include "base/temporaries.h"
#include "irrun.h"

/* Signals that end a process by default, except SIGTERM and SIGPIPE, which are caught even if they
 * are ignored, and those that signals_install handles itself: SIGBUS, faults, real-time signals. */
static const int terminating[] = {
    SIGHUP,    SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,
    SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGIO,
#ifdef SIGPWR
    SIGPWR,
#endif
#ifdef SIGSTKFLT
    SIGSTKFLT,
#endif
};

/* Synchronous signals, and SIGABRT. */
static const int faults[] = {SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV, SIGSYS};

static struct sigaction bus_before; /* the handler of SIGBUS before irrun's */

static volatile sig_atomic_t is_resumable, is_deferring, pending, has_timeout;
static volatile sig_atomic_t ending; /* the signal that ends the process; 0: none */

/* Defers the first signal of a run with a checkpoint. Returns whether the signal is deferred. */
static bool defer(int number)
{
    bool can_wait = number == SIGINT || number == SIGTERM || (number == SIGALRM && has_timeout);
    if (!is_deferring || pending != 0 || !can_wait)
        return false;
    pending = number;
    return true;
}

typedef void handler_fn(int number, siginfo_t *info, void *context);

static void install_handler(int number, handler_fn *handler)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* Installs a handler, unless the signal is ignored or a sanitizer or profiler handles it. */
static void install_if_default(int number, handler_fn *handler)
{
    struct sigaction old;
    if (sigaction(number, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
        old.sa_handler == SIG_DFL)
        install_handler(number, handler);
}

static void end_with(const char *message, int status)
{
    (void)!write(STDERR_FILENO, message, strlen(message));
    _exit(status);
}

static void end_process(int number)
{
    temporaries_remove_all();
    if (number == SIGALRM && has_timeout)
        end_with("irrun: error: timed out (--timeout)\n",
                 is_resumable ? IRRUN_TEMPORARY : IRRUN_TIMEOUT);
    if (is_resumable && !is_deferring && (number == SIGTERM || number == SIGINT))
        end_with("irrun: error: interrupted before the first iteration\n", IRRUN_TEMPORARY);
    signal(number, SIG_DFL);
    raise(number);
}

/* Ends the process. First completes a write to a pipe, which may take up to a second. A second
 * signal ends the process at once. */
static void handle_signal(int number, siginfo_t *info, void *context)
{
    int reason = errno;
    (void)context;
    /* The kernel sends SIGXFSZ for a write beyond the size limit, which then fails with EFBIG. */
    bool is_failing_write = number == SIGXFSZ && info->si_pid == getpid();
    if (is_failing_write || (ending == 0 && defer(number)))
        return;
    bool is_first = ending == 0;
    if (is_first)
        ending = number;
    if (!signal_buffers_flush(ending) && is_first && number != SIGPIPE) {
        install_handler(SIGALRM, handle_signal);
        alarm(1);
        errno = reason;
        return;
    }
    end_process(ending);
}

/* Ends the process after a fault. Memory may be damaged, so buffered records are not written. */
static void handle_fault(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    end_process(number);
}

static void end_with_file(const char *path, const char *words, int status)
{
    char message[PATH_MAX + 256];
    size_t length = strnlen(path, PATH_MAX);
    memcpy(message, path, length);
    strcpy(message + length, words);
    end_with(message, status);
}

/* Handles SIGBUS: a mapped file was truncated, or the disk fails. */
static void handle_bus_error(int number, siginfo_t *info, void *context)
{
    bool is_truncated, is_fault = info->si_code > 0;
    const char *path = is_fault ? irrun_mapped_file(info->si_addr, &is_truncated) : NULL;
    (void)context;
    if (path) {
        static atomic_flag is_ending = ATOMIC_FLAG_INIT;
        while (atomic_flag_test_and_set(&is_ending))
            pause(); /* another thread has the same fault and reports it */
        temporaries_remove_all();
        if (is_truncated)
            end_with_file(path,
                          ": error: was truncated while it was in use\n"
                          "  hint: " FILE_CHANGED_HINT "\n",
                          IRRUN_DATA);
        end_with_file(path, ": error: can no longer be read\n", IRRUN_NO_INPUT);
    }
    if (!(bus_before.sa_flags & SA_SIGINFO) && bus_before.sa_handler == SIG_DFL)
        end_process(number);
    sigaction(number, &bus_before, NULL); /* the handler of a sanitizer or profiler */
    if (!is_fault)
        raise(number);
}

void signals_install(void)
{
    sigaction(SIGBUS, NULL, &bus_before);
    install_handler(SIGBUS, handle_bus_error);
    install_handler(SIGTERM, handle_signal);
    install_handler(SIGPIPE, handle_signal);
    for (size_t i = 0; i < sizeof terminating / sizeof terminating[0]; i++)
        install_if_default(terminating[i], handle_signal);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        install_if_default(number, handle_signal);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        install_if_default(faults[i], handle_fault);
}

void signals_set_resumable(void)
{
    is_resumable = 1;
}

void signals_defer(void)
{
    is_deferring = 1;
}

int signals_pending(void)
{
    return pending;
}

void signals_set_timeout(double seconds)
{
    double limited_s = seconds < 1e9 ? seconds : 1e9;
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)limited_s}};
    timer.it_value.tv_usec = (suseconds_t)((limited_s - (double)(time_t)limited_s) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1;
    has_timeout = 1;
    install_handler(SIGALRM, handle_signal);
    setitimer(ITIMER_REAL, &timer, NULL);
}
