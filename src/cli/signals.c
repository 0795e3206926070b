/* Removes temporaries, and dies by the signal that came.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/output_file.h"

static void remove_and_die(int number)
{
    output_files_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

static void install(int number, bool keeps_ignored)
{
    struct sigaction old, action = {.sa_handler = remove_and_die};
    if (keeps_ignored && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
        return;
    sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void signals_install(void)
{
    install(SIGINT, true);
    install(SIGHUP, true);
    install(SIGTERM, false);
    install(SIGPIPE, false);
}
