/* Functions that the fuzz targets share. A target is a file that defines LLVMFuzzerTestOneInput,
 * which libFuzzer or replay.c calls.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_FUZZ_H
#define IRRUN_TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* An unnamed file in memory; its path is in /proc. */
struct memory_file {
    int fd;
    char path[32];
};

static inline void memory_file_open(struct memory_file *file, const void *data, size_t n)
{
    file->fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (file->fd < 0 || (n > 0 && write(file->fd, data, n) != (ssize_t)n)) {
        perror("memfd_create");
        exit(2);
    }
    lseek(file->fd, 0, SEEK_SET);
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
}

static inline void memory_file_close(const struct memory_file *file)
{
    close(file->fd);
}

/* Aborts, which the fuzzer reports as a crash, if a failure has no message or is an internal error.
 * Returns is_fine. */
static inline bool check_error(bool is_fine, const struct irrun_error *err)
{
    if (is_fine || (err->code != IRRUN_OK && err->code != IRRUN_INTERNAL && err->message[0]))
        return is_fine;
    fprintf(stderr, "failed with code %d and message \"%s\"\n", (int)err->code, err->message);
    abort();
}

/* Reads every byte, for the sanitizers. */
static inline void read_bytes(const void *data, size_t n)
{
    unsigned char sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = (unsigned char)(sum + ((const unsigned char *)data)[i]);
    __asm__ volatile("" : : "r"(sum)); /* the compiler must keep the sum */
}

#endif
