/* Identities from stat, and from the real path.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/file_identity.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

static struct digest digest_of(const struct stat *status, const char *name)
{
    const uint64_t numbers[] = {(uint64_t)status->st_dev, (uint64_t)status->st_ino};
    struct digest digest = digest_add(DIGEST_SEED, numbers, sizeof numbers);
    return digest_add(digest, name, strlen(name));
}

/* Of a file that is not there: its folder and its name. */
static struct digest digest_of_missing(char *real)
{
    struct stat folder;
    char *slash = strrchr(real, '/');
    if (!slash)
        return digest_add(DIGEST_SEED, real, strlen(real));
    *slash = '\0';
    bool is_there = stat(slash == real ? "/" : real, &folder) == 0;
    *slash = '/';
    return is_there ? digest_of(&folder, slash) : digest_add(DIGEST_SEED, real, strlen(real));
}

bool file_identity_of_path(const char *path, struct file_identity *identity,
                           struct irrun_error *err)
{
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    *identity = (struct file_identity){.is_file = !is_there || S_ISREG(status.st_mode)};
    if (!identity->is_file)
        return true;
    char *real = file_real_path(path);
    if (!real)
        return fail_memory(err, strlen(path) + 1);
    identity->has_path = true;
    identity->by_path = digest_add(digest_add(DIGEST_SEED, "path", 4), real, strlen(real));
    identity->by_file = is_there ? digest_of(&status, "") : digest_of_missing(real);
    free(real);
    return true;
}

void file_identity_of_stream(int fd, struct file_identity *identity)
{
    struct stat status;
    *identity =
        (struct file_identity){.is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode)};
    if (identity->is_file)
        identity->by_file = digest_of(&status, "");
}
