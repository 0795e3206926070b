/* Runs irrun under a plan of faults, and checks its exit status, messages and files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fault_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGUMENTS 32
#define SECONDS 60 /* SIGALRM ends a run that takes longer */

static struct {
    const char *irrun, *preloaded;
    char directory[256];
    struct fault_plan *plan;
    int output, error; /* files that receive standard output and standard error */
    char problem[2048];
} context;

static void stop(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(2);
}

/* ---- The directory --------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        stop(path);
}

static void empty_directory(const char *path)
{
    char file[512];
    DIR *stream = opendir(path);
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
            remove(file);
    }
    if (!stream)
        stop(path);
    closedir(stream);
}

/* Writes a csv file of n rows. With many rows, a sequence takes so long that another worker must
 * keep the outputs of later sequences. */
static void write_rows(const char *path, int n)
{
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < n; i++)
        fprintf(file, "%d\n", i);
    if (!file || fclose(file) != 0)
        stop(path);
}

static void make_inputs(void)
{
    static const struct command make_state = {
        .name = "state",
        .arguments = "root/models/lstm_tagger/model.xml -i root/models/lstm_tagger/in.npz "
                     "--state-out=out/state.npz -o none:"};
    struct reference made;
    write_rows("in/long.csv", 5000);
    write_file("in/five.csv", "1\n2\n3\n4\n5\n");
    write_file("in/two.csv", "10\n20\n");
    write_file("in/list.tsv", "a\tx=in/long.csv\nb\tx=in/two.csv\nc\tx=in/five.csv\n"
                              "d\tx=in/two.csv\t>sum=out/own.csv\ne\tx=in/five.csv\n");
    fault_run_reference(&make_state, FAULT_NONE, &made);
    reference_free(&made);
    if (rename("out/state.npz", "in/state.npz") != 0)
        stop("out/state.npz");
}

void fault_run_open(const char *irrun, const char *library)
{
    char root[512];
    context.irrun = irrun;
    context.preloaded = library;
    const char *temporary = getenv("TMPDIR");
    snprintf(context.directory, sizeof context.directory, "%s/irrun-faults-XXXXXX",
             temporary ? temporary : "/tmp");
    if (!getcwd(root, sizeof root) || !mkdtemp(context.directory) || chdir(context.directory) != 0)
        stop(context.directory);
    int fd = open("plan", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *context.plan) != 0)
        stop("plan");
    void *shared = mmap(NULL, sizeof *context.plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    context.output = open("stdout", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    context.error = open("stderr", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (shared == MAP_FAILED || context.output < 0 || context.error < 0 ||
        symlink(root, "root") != 0 || mkdir("in", 0700) != 0 || mkdir("out", 0700) != 0 ||
        mkdir("tmp", 0700) != 0)
        stop(context.directory);
    context.plan = shared;
    make_inputs();
}

void fault_run_close(void)
{
    static const char *const directories[] = {"out", "in", "tmp", "."};
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
        empty_directory(directories[i]);
    for (size_t i = 0; i < 3; i++)
        rmdir(directories[i]);
    if (chdir("/") != 0 || rmdir(context.directory) != 0)
        stop(context.directory);
}

static unsigned char *read_all(int fd, size_t *n)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
        stop("a file that irrun wrote");
    *n = (size_t)status.st_size;
    unsigned char *data = malloc(*n + 1);
    if (!data || pread(fd, data, *n, 0) != (ssize_t)*n)
        stop("a file that irrun wrote");
    data[*n] = '\0';
    return data;
}

static unsigned char *read_output(const char *name, size_t *n)
{
    char path[512];
    snprintf(path, sizeof path, "out/%s", name);
    int fd = name[0] == '\0' ? dup(context.output) : open(path, O_RDONLY | O_CLOEXEC);
    unsigned char *data = read_all(fd, n);
    close(fd);
    return data;
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* Returns a pipe for standard input, which holds the file and has no writer. */
static int open_input(const char *path)
{
    int ends[2];
    size_t n = 0;
    unsigned char *data = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        stop("pipe");
    if (path) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        data = read_all(fd, &n);
        close(fd);
    }
    if (n > 0 && write(ends[1], data, n) != (ssize_t)n)
        stop(path);
    free(data);
    close(ends[1]);
    return ends[0];
}

static void become_irrun(const struct command *command, int input)
{
    char words[1024], *arguments[MAX_ARGUMENTS] = {(char *)(uintptr_t) "irrun"}, *rest = NULL;
    size_t n = 1;
    snprintf(words, sizeof words, "%s", command->arguments);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (n < MAX_ARGUMENTS - 1)
            arguments[n++] = word;
    if (dup2(input, 0) < 0 || dup2(context.output, 1) < 0 || dup2(context.error, 2) < 0)
        _exit(127);
    setenv("LD_PRELOAD", context.preloaded, 1);
    setenv(FAULT_VARIABLE, "plan", 1);
    setenv("TMPDIR", "tmp", 1);
    alarm(SECONDS);
    execv(context.irrun, arguments);
    _exit(127);
}

/* Runs the command. Returns its wait status. */
static int run(const struct command *command, enum fault_kind kind, uint64_t first, uint64_t last)
{
    int status, input = open_input(command->input);
    memset(context.plan, 0, sizeof *context.plan);
    context.plan->kind = kind;
    context.plan->first = first;
    context.plan->last = last;
    if (ftruncate(context.output, 0) != 0 || ftruncate(context.error, 0) != 0 ||
        lseek(context.output, 0, SEEK_SET) != 0 || lseek(context.error, 0, SEEK_SET) != 0)
        stop("stdout");
    pid_t process = fork();
    if (process < 0)
        stop("fork");
    if (process == 0)
        become_irrun(command, input);
    close(input);
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            stop("waitpid");
    return status;
}

/* Lists the names in out/, and standard output as "". */
static void list_outputs(struct reference *found)
{
    DIR *stream = opendir("out");
    found->files[found->n_files++].name = strdup("");
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (found->n_files < MAX_FILES)
            found->files[found->n_files++].name = strdup(entry->d_name);
    }
    if (!stream)
        stop("out");
    closedir(stream);
}

void reference_free(struct reference *reference)
{
    for (size_t i = 0; i < reference->n_files; i++) {
        free(reference->files[i].name);
        free(reference->files[i].data);
    }
    *reference = (struct reference){.n_files = 0};
}

void fault_run_reference(const struct command *command, enum fault_kind kind,
                         struct reference *reference)
{
    *reference = (struct reference){.n_files = 0};
    empty_directory("out");
    int status = run(command, kind, UINT64_MAX, UINT64_MAX);
    size_t n;
    unsigned char *said = read_all(context.error, &n);
    if (status != 0 || n > 0 || !atomic_load(&context.plan->is_attached)) {
        fprintf(stderr, "%s without faults: wait status %d, %s%s\n", command->name, status,
                n > 0 ? "" : "nothing was preloaded", said);
        exit(2);
    }
    free(said);
    reference->n_calls = atomic_load(&context.plan->n_calls);
    list_outputs(reference);
    for (size_t i = 0; i < reference->n_files; i++)
        reference->files[i].data = read_output(reference->files[i].name, &reference->files[i].n);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Stores the description of a problem and returns it. */
static const char *wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(context.problem, sizeof context.problem, format, args);
    va_end(args);
    return context.problem;
}

/* Checks standard error, which has one error if the run failed, otherwise none. It may have hints
 * and warnings. */
static const char *check_messages(bool has_failed)
{
    size_t n, n_errors = 0;
    char *said = (char *)read_all(context.error, &n), *rest = NULL;
    const char *found = NULL;
    char *whole = strdup(said);
    for (char *line = strtok_r(said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        bool is_error = strstr(line, ": error: ") != NULL;
        n_errors += is_error;
        if (!is_error && strncmp(line, "  hint: ", 8) != 0 && !strstr(line, ": warning: "))
            found = wrong("a line that is neither error nor hint nor warning: %s", whole);
    }
    if (n_errors != has_failed && !found)
        found = wrong("%zu errors: %s", n_errors, whole);
    free(said);
    free(whole);
    return found;
}

static const struct bytes *find_file(const struct reference *reference, const char *name)
{
    for (size_t i = 0; i < reference->n_files; i++)
        if (strcmp(reference->files[i].name, name) == 0)
            return &reference->files[i];
    return NULL;
}

/* A file must be complete or missing. If the run failed, standard output may be truncated. */
static const char *check_file(const struct reference *reference, const char *name, bool has_failed)
{
    const struct bytes *want = find_file(reference, name);
    size_t n;
    if (!want)
        return wrong("out/%s is left", name);
    unsigned char *got = read_output(name, &n);
    bool may_be_short = has_failed && name[0] == '\0';
    bool is_same = (may_be_short ? n <= want->n : n == want->n) && memcmp(got, want->data, n) == 0;
    free(got);
    return is_same ? NULL : wrong("%s differs", name[0] ? name : "standard output");
}

static const char *check_files(const struct command *command, const struct reference *reference,
                               bool has_failed)
{
    struct reference found = {.n_files = 0};
    const char *problem = NULL;
    list_outputs(&found);
    for (size_t i = 0; i < found.n_files && !problem; i++) {
        const char *name = found.files[i].name;
        bool is_for_resuming = command->resumes && has_failed && !find_file(reference, name);
        problem = is_for_resuming ? NULL : check_file(reference, name, has_failed);
    }
    if (!has_failed && !problem && found.n_files != reference->n_files)
        problem = wrong("%zu outputs of %zu", found.n_files, reference->n_files);
    reference_free(&found);
    if (!problem && rmdir("tmp") != 0)
        problem = wrong("something is left in TMPDIR");
    mkdir("tmp", 0700);
    return problem;
}

static bool is_listed(int code, const int *statuses)
{
    while (*statuses != 0 && *statuses != code)
        statuses++;
    return code == *statuses;
}

static const char *check(const struct command *command, const struct reference *reference,
                         int status, const int *statuses)
{
    size_t n;
    if (!WIFEXITED(status))
        return wrong("ended by signal %d", WTERMSIG(status));
    int code = WEXITSTATUS(status);
    if (!is_listed(code, statuses)) {
        char *said = (char *)read_all(context.error, &n);
        wrong("exit status %d: %s", code, said);
        free(said);
        return context.problem;
    }
    const char *problem = check_messages(code != 0);
    return problem ? problem : check_files(command, reference, code != 0);
}

const char *fault_run(const struct command *command, enum fault_kind kind, uint64_t first,
                      uint64_t last, const int *statuses, const struct reference *reference,
                      uint64_t *n_failed)
{
    static const int none[] = {0};
    empty_directory("out");
    int status = run(command, kind, first, last);
    *n_failed = atomic_load(&context.plan->n_failed);
    const char *problem = check(command, reference, status, *n_failed > 0 ? statuses : none);
    if (problem || !command->resumes || WEXITSTATUS(status) == 0)
        return problem;
    status = run(command, FAULT_NONE, 0, 0);
    problem = check(command, reference, status, none);
    if (problem) {
        char copy[sizeof context.problem];
        snprintf(copy, sizeof copy, "%s", problem);
        wrong("the run that resumes: %.2000s", copy);
    }
    return problem;
}
