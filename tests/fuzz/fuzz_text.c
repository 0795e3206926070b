/* Parses a command line or a manifest, without a model.
 *
 * An input is a byte of choices and a text: arguments with newlines between them, or a manifest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_limit.h"
#include "cli/manifest.h"
#include "cli/options.h"
#include "fuzz.h"

#define MAX_ARGUMENTS 64
#define MAX_LINES 200

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    memory_limit_lower((size_t)512 << 20);
    return 0;
}

static void parse_options(const uint8_t *data, size_t size)
{
    struct options options;
    struct irrun_error err;
    char *arguments[MAX_ARGUMENTS + 2] = {(char *)(uintptr_t) "irrun"};
    char *text = malloc(size + 1), *rest = NULL;
    int n = 1;
    if (!text)
        return;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *word = strtok_r(text, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest))
        if (n <= MAX_ARGUMENTS)
            arguments[n++] = word;
    error_clear(&err);
    check_error(options_parse(n, arguments, &options, &err), &err);
    options_free(&options);
    free(text);
}

static void read_manifest(const char *path, unsigned choices)
{
    struct random_spec all = {.name = NULL};
    struct options options = {.manifest_path = path};
    struct manifest *manifest;
    struct irrun_error err;
    bool is_end = false, is_read = true;
    error_clear(&err);
    if ((choices & 2) != 0)
        options.randoms = (struct random_list){&all, 1};
    if (check_error(manifest_open(&options, NULL, &manifest, &err), &err)) {
        for (int i = 0; i < MAX_LINES && is_read && !is_end; i++) {
            struct sequence sequence = {.key = NULL};
            is_read =
                check_error(manifest_next(manifest, &sequence, i % 5 != 4, &is_end, &err), &err);
            sequence_free(&sequence);
        }
    }
    manifest_close(manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_file file;
    if (size == 0)
        return 0;
    if ((data[0] & 1) != 0) {
        parse_options(data + 1, size - 1);
        return 0;
    }
    memory_file_open(&file, data + 1, size - 1);
    read_manifest(file.path, data[0]);
    memory_file_close(&file);
    return 0;
}
