/* Runs irrun while call k of a kind fails, either only call k or also all calls after it. irrun
 * must exit with a status that the manual lists, print one error and leave no incomplete file. If
 * it succeeds nevertheless, its outputs must be those of a run without faults.
 *
 *   sweep KIND              runs all commands, with every k up to N_DENSE and N_SPARSE others; only
 *                           call k fails if k is odd, also later calls if it is even
 *   sweep KIND COMMAND [K]  runs one command, or "all", in both ways, for every k or one k
 *
 * Runs in the root of the project. IRRUN is the program, FAULTS_LIBRARY the library to preload.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault_plan.h"
#include "fault_run.h"

#define N_DENSE 300
#define N_SPARSE 100

struct kind {
    const char *name;
    enum fault_kind kind;
    int statuses[5];  /* the exit statuses of a run that a fault stops, then zeros */
    uint64_t n_after; /* how many calls after call k fail too, in every second run */
};

static const struct kind kinds[] = {
    {"memory", FAULT_MEMORY, {71}, UINT64_MAX},
    {"read", FAULT_READ, {66, 74}, UINT64_MAX},
    {"open", FAULT_OPEN, {66, 71, 73, 74}, UINT64_MAX},
    {"write", FAULT_WRITE, {71, 73, 74}, UINT64_MAX},
    {"close", FAULT_CLOSE, {74}, UINT64_MAX},
    {"file", FAULT_FILE, {66, 71, 73, 74}, UINT64_MAX},
    {"short", FAULT_SHORT, {0}, UINT64_MAX},
    {"interrupt", FAULT_INTERRUPT, {0}, 3},
};

static const struct command commands[] = {
    {.name = "npz",
     .arguments = "root/models/lstm_tagger/model.xml -i root/models/lstm_tagger/in.npz "
                  "--state-in=in/state.npz --state-out=out/state.npz -o out/y.npz"},
    {.name = "csv",
     .arguments = "root/models/sensor_watch/model.xml -i csv:- -o csv:out/%n.csv",
     .input = "root/models/sensor_watch/readings.csv"},
    {.name = "manifest",
     .arguments = "root/tests/cli/data/sum.xml --manifest=in/list.tsv --jobs=2 -o out/%k.npy"},
    {.name = "checkpoint",
     .arguments = "root/tests/cli/data/sum.xml -i in/five.csv -o out/y.npy --checkpoint=out/c "
                  "--checkpoint-every=2",
     .resumes = true},
    {.name = "tap-all",
     .arguments = "root/models/lstm_tagger/model.xml -i root/models/lstm_tagger/in.npz "
                  "--tap-all=out/taps.npz -o text:-"},
    {.name = "cache",
     .arguments = "root/models/tiny_transformer/model.xml -i root/models/tiny_transformer/in.npz "
                  "-n 20 --emit=all --feed=next=tokens -o out/y.npz --gemm=packed"},
    {.name = "pipe",
     .arguments = "root/models/lstm_tagger/model.xml -i npz:- -o out/%n.npy",
     .input = "root/models/lstm_tagger/in.npz"},
    {.name = "inspect", .arguments = "root/models/lstm_tagger/model.xml --inspect"},
};

#define N_COMMANDS (sizeof commands / sizeof commands[0])

/* ---- One command ----------------------------------------------------------------------------- */

struct sweep {
    const struct kind *kind;
    const struct command *command;
    struct reference reference;
    size_t n_runs, n_wrong;
};

static void try(struct sweep *sweep, uint64_t first, uint64_t last)
{
    uint64_t n_failed;
    const char *wrong = fault_run(sweep->command, sweep->kind->kind, first, last,
                                  sweep->kind->statuses, &sweep->reference, &n_failed);
    sweep->n_runs++;
    if (!wrong)
        return;
    sweep->n_wrong++;
    printf("# call %" PRIu64 "%s of %" PRIu64 " fails: %s\n", first,
           last > first ? " and later ones" : "", sweep->reference.n_calls, wrong);
}

static bool sweep_command(const struct kind *kind, const struct command *command, bool is_full,
                          uint64_t only)
{
    struct sweep sweep = {.kind = kind, .command = command};
    fault_run_reference(command, kind->kind, &sweep.reference);
    uint64_t n = sweep.reference.n_calls;
    uint64_t stride = is_full || n <= N_DENSE ? 1 : (n - N_DENSE) / N_SPARSE | 1;
    for (uint64_t k = only ? only : 1; k <= (only ? only : n); k += k < N_DENSE ? 1 : stride) {
        if (is_full || k % 2 == 1)
            try(&sweep, k, k);
        if (is_full || k % 2 == 0)
            try(&sweep, k, kind->n_after < UINT64_MAX ? k + kind->n_after : UINT64_MAX);
    }
    printf("# %s, %s: %" PRIu64 " calls, %zu runs, %zu wrong\n", kind->name, command->name, n,
           sweep.n_runs, sweep.n_wrong);
    fflush(stdout);
    reference_free(&sweep.reference);
    return sweep.n_wrong == 0;
}

/* ---- The program ----------------------------------------------------------------------------- */

/* This program is built with the same sanitizers as irrun. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

/* Returns whether the program has no dynamic linker, so that no library can be preloaded. */
static bool is_static(const char *path)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    bool is_found = false;
    FILE *file = fopen(path, "r");
    if (!file || fread(&header, sizeof header, 1, file) != 1 ||
        fseek(file, (long)header.e_phoff, SEEK_SET) != 0) {
        perror(path);
        exit(2);
    }
    for (int i = 0; i < header.e_phnum && fread(&segment, sizeof segment, 1, file) == 1; i++)
        is_found = is_found || segment.p_type == PT_INTERP;
    fclose(file);
    return !is_found;
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (name && strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fprintf(stderr,
            "usage: sweep memory|read|open|write|close|file|short|interrupt [COMMAND [K]]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    const struct kind *kind = find_kind(argc > 1 ? argv[1] : NULL);
    const char *irrun = getenv("IRRUN"), *library = getenv("FAULTS_LIBRARY");
    const char *name = argc > 2 ? argv[2] : NULL;
    uint64_t only = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    bool is_fine = true;
    size_t number = 0;
    if (!irrun || !library) {
        fprintf(stderr, "IRRUN and FAULTS_LIBRARY are not set\n");
        return 2;
    }
    if (IS_SANITIZED || is_static(irrun)) {
        printf("skip: %s\n1..1\nok 1 # SKIP %s\n",
               IS_SANITIZED ? "sanitizers come before any preloaded library"
                            : "a static program loads no library",
               kind->name);
        return 0;
    }
    fault_run_open(irrun, library);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (name && strcmp(name, "all") != 0 && strcmp(name, commands[i].name) != 0)
            continue;
        bool is_good = sweep_command(kind, &commands[i], name != NULL, only);
        printf("%sok %zu %s\n", is_good ? "" : "not ", ++number, commands[i].name);
        is_fine = is_fine && is_good;
    }
    printf("1..%zu\n", number);
    fault_run_close();
    return is_fine ? 0 : 1;
}
