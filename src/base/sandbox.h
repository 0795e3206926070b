/* Restricts what this process can do, as far as the kernel supports it: Landlock restricts the
 * files that the process can open, and seccomp the system calls that it can make.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_SANDBOX_H
#define IRRUN_BASE_SANDBOX_H

#include <stdbool.h>

/* The access that a rule allows to a file, or to all files below a directory. */
enum sandbox_access {
    SANDBOX_READ,
    SANDBOX_WRITE, /* to a file that exists */
    SANDBOX_CHANGE /* to a directory: create, read, write, rename and remove files in it */
};

#define LANDLOCK_TRUNCATE 3 /* the first version that limits truncation */

struct sandbox {
    int fd;           /* of the Landlock ruleset; -1: none, or closed by sandbox_enter */
    unsigned version; /* of Landlock's ABI; 0: the kernel does not support Landlock */
    int reason;       /* errno of the last call that failed; 0: none */
};

/* Starts a list of rules. They have no effect before sandbox_enter. */
void sandbox_open(struct sandbox *sandbox);

/* Allows this access to the file or directory. Does nothing for a path that does not exist,
 * or that is an unnamed pipe, which needs no rule. */
void sandbox_allow(struct sandbox *sandbox, const char *path, enum sandbox_access access);

/* Applies the rules to this thread and those that it starts: they cannot open other files, run
 * programs, create sockets or, with Landlock 6, signal other processes. Sets *files and *calls to
 * 0, or to an errno if files or calls cannot be restricted. Frees the rules. */
void sandbox_enter(struct sandbox *sandbox, int *files, int *calls);

#endif
