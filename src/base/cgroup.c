/* Reads the cgroups of this process, and visits their directories.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/cgroup.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define PATH_BYTES 4096

bool cgroup_read(const char *directory, const char *name, long long *first, long long *second)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool is_read =
        fscanf(file, "%lld", first) == 1 && (!second || fscanf(file, "%lld", second) == 1);
    fclose(file);
    return is_read;
}

static void visit_group_and_parents(const char *root, const char *controllers, const char *group,
                                    cgroup_visit_fn *visit, void *context)
{
    char directory[PATH_BYTES];
    int length = snprintf(directory, sizeof directory, "%s%s%s%s", root, *controllers ? "/" : "",
                          controllers, group);
    if (length < 0 || (size_t)length >= sizeof directory)
        return;
    for (size_t end = strlen(root); strlen(directory) >= end;) {
        visit(context, directory);
        char *slash = strrchr(directory, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
}

void cgroup_visit(const char *membership, const char *root, const char *controller,
                  cgroup_visit_fn *visit, void *context)
{
    FILE *file = fopen(membership, "re");
    char line[PATH_BYTES];
    if (!file) {
        visit_group_and_parents(root, controller, "", visit, context);
        return;
    }
    /* A line is "0::GROUP" in version 2, "7:cpu,cpuacct:GROUP" in version 1. */
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers++ = '\0';
        *group++ = '\0';
        if (*controllers == '\0' || text_list_has(controllers, controller))
            visit_group_and_parents(root, controllers, group, visit, context);
    }
    fclose(file);
}
