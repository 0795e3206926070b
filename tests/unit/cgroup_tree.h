/* A directory tree like that of mounted cgroups.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_CGROUP_TREE_H
#define IRRUN_TESTS_CGROUP_TREE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

static char root[PATH_MAX];

static void path_of(char path[2 * PATH_MAX], const char *name)
{
    snprintf(path, 2 * PATH_MAX, "%s/%s", root, name);
}

static void make_root(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/irrun-cgroup-XXXXXX", parent && *parent ? parent : "/tmp");
    assert_non_null(mkdtemp(root));
}

/* Runs a command such as "mkdir -p" or "rm -r" on a file of the tree. */
static void run_on(const char *command, const char *name)
{
    char path[2 * PATH_MAX], line[2 * PATH_MAX + 32];
    path_of(path, name);
    snprintf(line, sizeof line, "%s '%s'", command, path);
    assert_int_equal(system(line), 0);
}

static void write_file(const char *name, const char *text)
{
    char path[2 * PATH_MAX];
    path_of(path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#endif
