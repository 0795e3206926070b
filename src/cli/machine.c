/* Limits the memory of the process, and sets the floating-point mode of the processor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory_limit.h"

uint64_t machine_status_bytes(const char *name)
{
    char line[256];
    uint64_t n_kb = 0;
    size_t length = strlen(name);
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, length) == 0 && sscanf(line + length, ": %" SCNu64, &n_kb) == 1)
            break;
    }
    if (file)
        fclose(file);
    return n_kb * 1024;
}

bool machine_limit_memory(uint64_t size_bytes, struct irrun_error *err)
{
    struct rlimit limit;
    if (size_bytes == 0)
        return true;
    uint64_t held = machine_status_bytes("VmData");
    if (size_bytes < held)
        return fail(err, IRRUN_SYSTEM,
                    "--max-memory=%" PRIu64 ": irrun without a model uses %" PRIu64
                    " bytes already",
                    size_bytes, held);
    memory_limit_lower((size_t)size_bytes == size_bytes ? (size_t)size_bytes : 0);
    if (getrlimit(RLIMIT_DATA, &limit) != 0)
        return fail(err, IRRUN_SYSTEM, "--max-memory: %s", strerror(errno));
    if (size_bytes < limit.rlim_cur)
        limit.rlim_cur = (rlim_t)size_bytes;
    return setrlimit(RLIMIT_DATA, &limit) == 0 ||
           fail(err, IRRUN_SYSTEM, "--max-memory=%" PRIu64 ": %s", size_bytes, strerror(errno));
}

#if defined(__SSE__)
/* The flags FTZ (flush to zero) and DAZ (denormals are zero) of MXCSR. */
#define CAN_FLUSH true
#define FLUSH_BITS 0x8040U
#define DENORMAL_FLAGS 0x0012U /* an operand was denormal, a result underflowed */

uint64_t machine_flush_denormals(void)
{
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | FLUSH_BITS);
    return before;
}

void machine_restore_denormals(uint64_t mode)
{
    __builtin_ia32_ldmxcsr((unsigned)mode);
}

void machine_clear_denormal_flag(void)
{
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~DENORMAL_FLAGS);
}

bool machine_denormal_flag(void)
{
    return (__builtin_ia32_stmxcsr() & DENORMAL_FLAGS) != 0;
}

#elif defined(__aarch64__)
/* The flag FZ of FPCR. */
#define CAN_FLUSH true
#define FLUSH_BITS (UINT64_C(1) << 24)
#define UNDERFLOW_FLAG (UINT64_C(1) << 3)

uint64_t machine_flush_denormals(void)
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | FLUSH_BITS));
    return before;
}

void machine_restore_denormals(uint64_t mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}

void machine_clear_denormal_flag(void)
{
    uint64_t flags;
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags));
    __asm__ volatile("msr fpsr, %0" : : "r"(flags & ~UNDERFLOW_FLAG));
}

bool machine_denormal_flag(void)
{
    uint64_t flags;
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags));
    return (flags & UNDERFLOW_FLAG) != 0;
}

#else
#define CAN_FLUSH false

uint64_t machine_flush_denormals(void)
{
    return 0;
}

void machine_restore_denormals(uint64_t mode)
{
    (void)mode;
}

void machine_clear_denormal_flag(void)
{
}

bool machine_denormal_flag(void)
{
    return false;
}
#endif

bool machine_check_denormals(bool is_flushed, struct irrun_error *err)
{
    return CAN_FLUSH || !is_flushed ||
           fail(err, IRRUN_USAGE, "--denormals=flush is not supported on this processor");
}
