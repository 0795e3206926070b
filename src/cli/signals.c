/* Removes temporaries, and dies by the signal that came, or by the alarm clock.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/output_file.h"

static volatile sig_atomic_t is_deferring, pending;

/* Whether it is the first signal of a run that has a checkpoint. */
static bool note(int number)
{
    if (!is_deferring || pending != 0)
        return false;
    pending = number;
    return true;
}

static void remove_and_die(int number)
{
    if ((number == SIGINT || number == SIGTERM) && note(number))
        return;
    output_files_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

static void give_up(int number)
{
    static const char message[] = "irrun: error: timed out (--timeout)\n";
    if (note(number))
        return;
    output_files_remove_all();
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    _exit(IRRUN_TIMEOUT);
}

static void install(int number, bool keeps_ignored, void (*handler)(int))
{
    struct sigaction old, action = {.sa_handler = handler};
    if (keeps_ignored && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
        return;
    sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void signals_install(void)
{
    install(SIGINT, true, remove_and_die);
    install(SIGHUP, true, remove_and_die);
    install(SIGTERM, false, remove_and_die);
    install(SIGPIPE, false, remove_and_die);
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
    install(SIGALRM, false, give_up);
    setitimer(ITIMER_REAL, &timer, NULL);
}
