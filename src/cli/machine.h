/* Limits the memory of the process, and controls how its threads treat denormals.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_MACHINE_H
#define IRRUN_CLI_MACHINE_H

#include "base/error.h"

/* Returns a size of this process from /proc/self/status: "VmHWM", its peak resident memory;
 * "VmData", the memory that machine_limit_memory limits. Returns 0 if it is not known. */
uint64_t machine_status_bytes(const char *name);

/* Makes allocations of this process beyond size_bytes fail; 0: no limit. Mapped files, such as the
 * weights, do not count. Fails with IRRUN_SYSTEM if the process uses more already. */
bool machine_limit_memory(uint64_t size_bytes, struct irrun_error *err);

/* Fails with IRRUN_USAGE if is_flushed and irrun cannot flush denormals on this processor. */
bool machine_check_denormals(bool is_flushed, struct irrun_error *err);

/* Makes denormal operands and results zero in this thread, and in threads that it creates. Returns
 * the previous mode, which machine_restore_denormals sets. */
uint64_t machine_flush_denormals(void);
void machine_restore_denormals(uint64_t mode);

/* Clears the flag that machine_denormal_flag returns. */
void machine_clear_denormal_flag(void);

/* Returns whether this thread has read or computed denormals since the flag was cleared. On
 * AArch64, only results that were rounded set the flag. Returns false on processors without a
 * flag. */
bool machine_denormal_flag(void);

#endif
