/* Runs a fuzz target on files, and on all files of directories, as one test: for compilers without
 * libFuzzer.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>

#include "fuzz.h"

static size_t n_files;

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(2);
    }
    size_t size = (size_t)ftell(file);
    /* Exactly `size` bytes, so that a sanitizer detects a read beyond the end. */
    uint8_t *data = malloc(size > 0 ? size : 1);
    rewind(file);
    if (!data || fread(data, 1, size, file) != size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    fprintf(stderr, "# %s\n", path);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    n_files++;
}

static void replay(const char *path)
{
    DIR *directory = opendir(path);
    char name[4096];
    if (!directory) {
        replay_file(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            replay_file(name);
    }
    closedir(directory);
}

int main(int argc, char **argv)
{
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("1..1\n%sok 1 %zu inputs\n", n_files > 0 ? "" : "not ", n_files);
    return n_files > 0 ? 0 : 1;
}
