/* What the run asks of the machine: a limit of memory, floats without denormals.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_MACHINE_H
#define IRRUN_CLI_MACHINE_H

#include "base/error.h"

/* Returns a size of this process from /proc/self/status: "VmHWM", its peak in memory; "VmData",
 * what a limit counts. Returns 0 if it is not known. */
uint64_t machine_status_bytes(const char *name);

/* Allocations of this process beyond so many bytes fail from now on; 0: no limit. Files that are
 * mapped for reading, the weights, do not count. IRRUN_SYSTEM if more is held already. */
bool machine_limit_memory(uint64_t size_bytes, struct irrun_error *err);

/* Fails with IRRUN_USAGE if denormals are to be flushed and this processor is not known to be able
 * to. */
bool machine_check_denormals(bool is_flushed, struct irrun_error *err);

/* Denormals, as operands and as results, become zero in this thread, and in those it creates;
 * returns what machine_set_floats takes to have them back. */
uint64_t machine_flush_denormals(void);
void machine_set_floats(uint64_t mode);

#endif
