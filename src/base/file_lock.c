/* Locks files with flock. flock does not report which process holds a lock; /proc/locks does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/file_lock.h"

#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int file_lock(int fd)
{
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

/* Searches for the file in lines such as "1: FLOCK ADVISORY WRITE 4711 fe:00:5310851 0 EOF", which
 * name the process, the device and the inode. On some file systems, stat reports a different device
 * number. If no line has both the device and the inode, the last line with the same inode is
 * used. */
long file_lock_holder(int fd)
{
    struct stat status;
    char line[256];
    long holder = 0;
    FILE *locks = fstat(fd, &status) == 0 ? fopen("/proc/locks", "re") : NULL;
    while (locks && fgets(line, sizeof line, locks)) {
        long pid;
        unsigned major_number, minor_number;
        unsigned long long inode;
        if (sscanf(line, "%*s FLOCK %*s WRITE %ld %x:%x:%llu", &pid, &major_number, &minor_number,
                   &inode) != 4 ||
            inode != (unsigned long long)status.st_ino || pid <= 0)
            continue;
        holder = pid;
        if (major_number == major(status.st_dev) && minor_number == minor(status.st_dev))
            break;
    }
    if (locks)
        fclose(locks);
    return holder;
}
