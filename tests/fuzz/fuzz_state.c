/* Loads a state or a checkpoint into the variables, then writes a state and reads it again.
 *
 * An input is a byte of choices and the file. The file is an npz, or its parts with "\n--\n"
 * between them: the comment, then the name and the content of each member. The target then computes
 * the checksums, which mutations would make wrong.
 * SPDX-License-Identifier: Apache-2.0 */
#include <zlib.h>

#include "base/memory_limit.h"
#include "cli/checkpoint.h"
#include "cli/state_file.h"
#include "fuzz.h"

#define MODEL "tests/fuzz/state.xml"
#define IDENTITY "irrun-checkpoint 1\n"
#define SEPARATOR "\n--\n"
#define MAX_MEMBERS 16
#define MAX_BYTES (1 << 20)

static struct irrun_model *model;
static struct irrun_session *session;
static struct inputs *inputs;
static struct model_identity identity;
static struct options options;
static char directory[] = "/tmp/irrun-fuzz-XXXXXX", written[64];

static void stop(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(2);
}

static void close_all(void)
{
    inputs_free(inputs);
    irrun_session_free(session);
    irrun_model_free(model);
    rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct irrun_error err;
    (void)argc;
    (void)argv;
    error_clear(&err);
    memory_limit_lower((size_t)512 << 20);
    if (!irrun_model_load(MODEL, NULL, &model, &err) || !irrun_session_new(model, &session, &err) ||
        !inputs_new(model, session, &options, NULL, &inputs, &err) || !mkdtemp(directory))
        stop(err.message);
    snprintf(written, sizeof written, "%s/state.npz", directory);
    model_identify(model, &identity);
    atexit(close_all);
    return 0;
}

/* ---- Parts to npz --------------------------------------------------------------------------- */

struct zip {
    uint8_t bytes[MAX_BYTES];
    size_t n;
};

struct part {
    const uint8_t *data;
    size_t n;
};

static void put(struct zip *zip, const void *data, size_t n)
{
    if (n > sizeof zip->bytes - zip->n)
        return;
    memcpy(zip->bytes + zip->n, data, n);
    zip->n += n;
}

static void put_number(struct zip *zip, size_t number, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        uint8_t byte = i < sizeof number ? (uint8_t)(number >> 8 * i) : 0;
        put(zip, &byte, 1);
    }
}

/* Writes the fields that the local header and the directory entry of a member have in common. */
static void put_entry(struct zip *zip, struct part name, struct part content)
{
    uint32_t sum = (uint32_t)crc32(0, content.data, (unsigned)content.n);
    put_number(zip, 20, 2);
    put_number(zip, 0, 2);
    put_number(zip, 0, 2); /* stored */
    put_number(zip, 0, 4);
    put_number(zip, sum, 4);
    put_number(zip, content.n, 4);
    put_number(zip, content.n, 4);
    put_number(zip, name.n, 2);
    put_number(zip, 0, 2);
}

static void make_zip(struct zip *zip, struct part comment, const struct part *parts, size_t n)
{
    size_t offsets[MAX_MEMBERS], start;
    zip->n = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        offsets[i / 2] = zip->n;
        put(zip, "PK\3\4", 4);
        put_entry(zip, parts[i], parts[i + 1]);
        put(zip, parts[i].data, parts[i].n);
        put(zip, parts[i + 1].data, parts[i + 1].n);
    }
    start = zip->n;
    for (size_t i = 0; i + 1 < n; i += 2) {
        put(zip, "PK\1\2", 4);
        put_number(zip, 20, 2);
        put_entry(zip, parts[i], parts[i + 1]);
        put_number(zip, 0, 10); /* comment, disk, attributes */
        put_number(zip, offsets[i / 2], 4);
        put(zip, parts[i].data, parts[i].n);
    }
    size_t size = zip->n - start;
    put(zip, "PK\5\6", 4);
    put_number(zip, 0, 4);
    put_number(zip, n / 2, 2);
    put_number(zip, n / 2, 2);
    put_number(zip, size, 4);
    put_number(zip, start, 4);
    put_number(zip, comment.n & 0xffff, 2);
    put(zip, comment.data, comment.n & 0xffff);
}

static void join_parts(struct zip *zip, const uint8_t *data, size_t size)
{
    struct part parts[1 + 2 * MAX_MEMBERS];
    size_t n = 0;
    for (bool is_end = false; !is_end && n < 1 + 2 * MAX_MEMBERS;) {
        const uint8_t *end = size > 0 ? memmem(data, size, SEPARATOR, strlen(SEPARATOR)) : NULL;
        is_end = !end;
        parts[n++] = (struct part){data, end ? (size_t)(end - data) : size};
        if (end) {
            size -= (size_t)(end - data) + strlen(SEPARATOR);
            data = end + strlen(SEPARATOR);
        }
    }
    make_zip(zip, parts[0], parts + 1, n - 1);
}

/* ---- The target ----------------------------------------------------------------------------- */

/* Writes the variables to a file and reads it. */
static void write_and_read(const struct all_variables *variables)
{
    struct snapshot snapshot = {.n = 0};
    struct irrun_error err;
    const struct irrun_tensor *values[MAX_MEMBERS];
    error_clear(&err);
    if (all_variables_count(variables) > MAX_MEMBERS)
        abort();
    all_variables_values(variables, values);
    if (!state_file_write(written, variables, values, &identity, false, &err) ||
        !state_file_read(written, variables, &identity, false, &snapshot, &err)) {
        fprintf(stderr, "cannot write the state and read it: %s\n", err.message);
        abort();
    }
    snapshot_free(&snapshot);
    unlink(written);
}

static void read_state(const char *path, const struct all_variables *variables, unsigned choices)
{
    struct snapshot snapshot = {.n = 0};
    struct irrun_error err;
    error_clear(&err);
    bool is_read = state_file_read(path, variables, &identity, (choices & 4) != 0, &snapshot, &err);
    if (check_error(is_read, &err) &&
        check_error(snapshot_restore(&snapshot, variables, &err), &err))
        write_and_read(variables);
    snapshot_free(&snapshot);
}

static void read_checkpoint(const char *path, const struct all_variables *variables)
{
    struct checkpoint checkpoint;
    struct irrun_error err;
    error_clear(&err);
    options.checkpoint_path = path;
    if (check_error(checkpoint_read(&options, IDENTITY, variables, &checkpoint, &err), &err))
        check_error(snapshot_restore(&checkpoint.variables, variables, &err), &err);
    checkpoint_free(&checkpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct zip zip;
    const struct all_variables variables = {model, session, inputs};
    struct memory_file file;
    if (size == 0)
        return 0;
    if ((data[0] & 1) != 0) {
        join_parts(&zip, data + 1, size - 1);
        memory_file_open(&file, zip.bytes, zip.n);
    } else {
        memory_file_open(&file, data + 1, size - 1);
    }
    irrun_session_reset(session);
    if ((data[0] & 2) != 0)
        read_checkpoint(file.path, &variables);
    else
        read_state(file.path, &variables, data[0]);
    memory_file_close(&file);
    return 0;
}
