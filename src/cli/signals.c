/* Sends off what is whole, removes temporaries, and dies by the signal that came, or by the alarm
 * clock.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/outbox.h"
#include "base/temporaries.h"
#include "irrun.h"

static volatile sig_atomic_t is_deferring, pending;
static volatile sig_atomic_t ending; /* the signal that ends the process; 0: none came */

/* Whether it is the first signal of a run that has a checkpoint. */
static bool note(int number)
{
    if (!is_deferring || pending != 0 || number == SIGHUP || number == SIGPIPE)
        return false;
    pending = number;
    return true;
}

static void install(int number, bool keeps_ignored, void (*handler)(int))
{
    struct sigaction old, action = {.sa_handler = handler};
    if (keeps_ignored && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
        return;
    sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void end_process(int number)
{
    static const char message[] = "irrun: error: timed out (--timeout)\n";
    temporaries_remove_all();
    if (number == SIGALRM) {
        (void)!write(STDERR_FILENO, message, sizeof message - 1);
        _exit(IRRUN_TIMEOUT);
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* In the midst of writing to a pipe the signal waits for the end of the record: a second at most,
 * and not for a second signal. */
static void handle(int number)
{
    if (note(number))
        return;
    bool is_first = ending == 0;
    if (is_first)
        ending = number;
    if (!outboxes_send(ending) && is_first && number != SIGPIPE) {
        install(SIGALRM, false, handle);
        alarm(1);
        return;
    }
    end_process(ending);
}

void signals_install(void)
{
    install(SIGINT, true, handle);
    install(SIGHUP, true, handle);
    install(SIGTERM, false, handle);
    install(SIGPIPE, false, handle);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond its limit fails as one on a full disk does */
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
    double whole = seconds < 1e9 ? seconds : 1e9;
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)whole}};
    timer.it_value.tv_usec = (suseconds_t)((whole - (double)(time_t)whole) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1;
    install(SIGALRM, false, handle);
    setitimer(ITIMER_REAL, &timer, NULL);
}
