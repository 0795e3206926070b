/* The program: parses the command line, runs the action, reports the error, and returns its code as
 * the exit status.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cli/actions.h"
#include "cli/advice.h"
#include "cli/signals.h"
#include "cli/warning.h"

/* Opens closed standard streams, so that no other file gets their descriptors. Reading and writing
 * them still fails. */
static void occupy_closed_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* Only fclose reports whether all text was written. */
static bool close_standard_output(struct irrun_error *err)
{
    bool had_error = ferror(stdout);
    if (fclose(stdout) == 0 && !had_error)
        return true;
    return fail(err, IRRUN_IO, "cannot write standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
    struct options options;
    struct warnings warnings;
    struct irrun_error err;
    occupy_closed_streams();
    warnings_init(&warnings);
    error_clear(&err);
    signals_install();
    irrun_hold_blas_to_one_thread();
    bool is_done = options_parse(argc, argv, &options, &err) && (options.warnings = &warnings) &&
                   do_action(&options, &err);
    is_done = close_standard_output(&err) && is_done;
    if (!is_done) {
        advise(&options, &err);
        warning_show_error(&options, &err);
    }
    options_free(&options);
    warnings_free(&warnings);
    return is_done ? IRRUN_OK : (int)err.code;
}
