/* Restricts access to files with Landlock, and system calls with seccomp. Declares the parts of
 * Landlock that it uses, because kernel headers before 5.13 do not declare Landlock, and headers
 * before 6.12 only some of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Files: Landlock ------------------------------------------------------------------------- */

/* These numbers are the same on x86-64, AArch64 and most other architectures. */
#define CALL_CREATE_RULESET 444
#define CALL_ADD_RULE 445
#define CALL_RESTRICT_SELF 446

#define CREATE_RULESET_VERSION 1U
#define RULE_PATH_BENEATH 1

#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_REMOVE_DIR (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_CHAR (UINT64_C(1) << 6)
#define FS_MAKE_DIR (UINT64_C(1) << 7)
#define FS_MAKE_REG (UINT64_C(1) << 8)
#define FS_MAKE_SOCK (UINT64_C(1) << 9)
#define FS_MAKE_FIFO (UINT64_C(1) << 10)
#define FS_MAKE_BLOCK (UINT64_C(1) << 11)
#define FS_MAKE_SYM (UINT64_C(1) << 12)
#define FS_REFER (UINT64_C(1) << 13)    /* from version 2 on */
#define FS_TRUNCATE (UINT64_C(1) << 14) /* from version 3 on */

#define SCOPE_ABSTRACT_SOCKET (UINT64_C(1) << 0) /* from version 6 on */
#define SCOPE_SIGNAL (UINT64_C(1) << 1)

struct ruleset {
    uint64_t handled_fs, handled_net, scoped;
};

/* The kernel's structure is packed: 12 bytes. */
struct path_rule {
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed));

/* Returns the rights that the rules restrict. Listing directories stays allowed, because hints list
 * the files of a directory. */
static uint64_t handled_fs(unsigned version)
{
    uint64_t all = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE |
                   FS_MAKE_CHAR | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO |
                   FS_MAKE_BLOCK | FS_MAKE_SYM;
    return all | (version >= 2 ? FS_REFER : 0) | (version >= LANDLOCK_TRUNCATE ? FS_TRUNCATE : 0);
}

void sandbox_open(struct sandbox *sandbox)
{
    *sandbox = (struct sandbox){.fd = -1};
    long version = syscall(CALL_CREATE_RULESET, NULL, (size_t)0, CREATE_RULESET_VERSION);
    if (version < 0) {
        sandbox->reason = errno;
        return;
    }
    sandbox->version = (unsigned)version;
    struct ruleset rules = {.handled_fs = handled_fs(sandbox->version),
                            .scoped = SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL};
    size_t size_bytes = version >= 6 ? sizeof rules : offsetof(struct ruleset, handled_net);
    sandbox->fd = (int)syscall(CALL_CREATE_RULESET, &rules, size_bytes, 0U);
    if (sandbox->fd < 0)
        sandbox->reason = errno;
}

static uint64_t allowed_fs(const struct sandbox *sandbox, enum sandbox_access access, bool is_file)
{
    uint64_t write = FS_WRITE_FILE | FS_TRUNCATE, allowed = FS_READ_FILE;
    if (access == SANDBOX_WRITE)
        allowed = write;
    if (access == SANDBOX_CHANGE)
        allowed |= write | (is_file ? 0 : FS_MAKE_REG | FS_REMOVE_FILE);
    return allowed & handled_fs(sandbox->version);
}

void sandbox_allow(struct sandbox *sandbox, const char *path, enum sandbox_access access)
{
    struct stat status;
    if (sandbox->fd < 0)
        return;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
            sandbox->reason = errno;
        return;
    }
    bool is_file = fstat(fd, &status) == 0 && !S_ISDIR(status.st_mode);
    struct path_rule rule = {.allowed = allowed_fs(sandbox, access, is_file), .parent_fd = fd};
    /* EBADFD: a pipe or another file without a name. */
    if (syscall(CALL_ADD_RULE, sandbox->fd, RULE_PATH_BENEATH, &rule, 0U) != 0 && errno != EBADFD)
        sandbox->reason = errno;
    close(fd);
}

static int limit_files(struct sandbox *sandbox)
{
    int reason = sandbox->reason;
    if (reason == 0 && syscall(CALL_RESTRICT_SELF, sandbox->fd, 0U) != 0)
        reason = errno;
    if (sandbox->fd >= 0)
        close(sandbox->fd);
    sandbox->fd = -1;
    return reason;
}

/* ---- Calls: seccomp -------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define AUDIT_ARCHITECTURE AUDIT_ARCH_X86_64
#define FOREIGN_CALLS 0x40000000 /* the system calls of x32 */
#elif defined(__aarch64__)
#define AUDIT_ARCHITECTURE AUDIT_ARCH_AARCH64
#define FOREIGN_CALLS 0x7fffffff
#endif

#ifdef AUDIT_ARCHITECTURE

#define CALL_IO_URING_SETUP 425

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
#define SKIP_UNLESS(x) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (x), 0, 1)
#define SKIP_IF(x) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (x), 1, 0)
#define SKIP_BELOW(x) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (x), 0, 1)
#define REFUSE_CALL(nr) SKIP_UNLESS(nr), REFUSE

/* Without SECCOMP_FILTER_FLAG_SPEC_ALLOW, kernels before 5.16 make the whole process slower. */
static int limit_calls(void)
{
    struct sock_filter filter[] = {
        LOAD(arch),
        SKIP_IF(AUDIT_ARCHITECTURE),
        REFUSE,
        LOAD(nr),
        SKIP_BELOW(FOREIGN_CALLS),
        REFUSE,
        REFUSE_CALL(SYS_socket),
        REFUSE_CALL(SYS_execve),
        REFUSE_CALL(SYS_execveat),
        REFUSE_CALL(CALL_IO_URING_SETUP), /* io_uring performs calls that the filter does not see */
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                   &program) == 0
               ? 0
               : errno;
}

#else

static int limit_calls(void)
{
    return ENOSYS;
}

#endif

/* ---- Both ------------------------------------------------------------------------------------ */

void sandbox_enter(struct sandbox *sandbox, int *files, int *calls)
{
    /* Landlock and seccomp require this of unprivileged processes. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 && sandbox->reason == 0)
        sandbox->reason = errno;
    *files = limit_files(sandbox);
    *calls = limit_calls();
}
