/* Creates the sequences of a run: a single one from the command line, one per key of Kaldi
 * archives, or one per line of a manifest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "cli/manifest.h"
#include "cli/warning.h"

/* An array that was read during the search for a different key, before its own sequence is run. */
struct early_array {
    char *key;
    struct irrun_tensor array;
};

/* An archive with keys. The first archive on the command line determines the sequences; the other
 * archives are searched for its keys. */
struct key_reader {
    struct reader *reader;
    struct early_array *early;
    size_t n_early, early_capacity;
};

struct sequences {
    const struct options *options;
    struct key_reader *readers;
    size_t n_readers;
    struct manifest *manifest;   /* NULL: none */
    uint64_t n_seen, n_returned; /* sequences so far; n_seen includes other shards */
    bool is_list;                /* see sequences_new */
};

bool sequences_are_many(const struct options *options)
{
    if (options->manifest_path)
        return true;
    for (size_t i = 0; i < options->inputs.n; i++)
        if (options->inputs.items[i].spec.format->has_keys)
            return true;
    return false;
}

bool sequences_new(const struct options *options, const struct reader_wait *wait, bool is_list,
                   struct sequences **sequences, struct irrun_error *err)
{
    struct sequences *made = *sequences = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    made->is_list = is_list;
    made->options = options;
    made->readers = new_array(options->inputs.n, sizeof *made->readers, err);
    if (!made->readers)
        return false;
    if (options->manifest_path)
        return manifest_open(options, wait, &made->manifest, err);
    for (size_t i = 0; i < options->inputs.n; i++) {
        const struct binding *binding = &options->inputs.items[i];
        if (!binding->spec.format->has_keys)
            continue;
        struct key_reader *reader = &made->readers[made->n_readers++];
        if (!reader_open(binding->spec.format, binding->spec.path, &reader->reader, err))
            return false;
        reader_on_wait(reader->reader, wait);
        if (made->is_list)
            break; /* the first archive lists all keys */
    }
    return true;
}

void sequences_free(struct sequences *sequences)
{
    if (!sequences)
        return;
    for (size_t i = 0; i < sequences->n_readers; i++) {
        struct key_reader *reader = &sequences->readers[i];
        for (size_t j = 0; j < reader->n_early; j++) {
            free(reader->early[j].key);
            free(reader->early[j].array.data);
        }
        free(reader->early);
        reader_close(reader->reader);
    }
    manifest_close(sequences->manifest);
    free(sequences->readers);
    free(sequences);
}

void sequence_free(struct sequence *sequence)
{
    for (size_t i = 0; i < sequence->n_inputs; i++)
        free(sequence->inputs[i].array.data);
    arena_free(&sequence->arena);
    *sequence = (struct sequence){.key = NULL};
}

/* ---- Archives with keys ---------------------------------------------------------------------- */

static bool remove_early_array(struct key_reader *reader, const char *key,
                               struct irrun_tensor *array)
{
    for (size_t i = 0; i < reader->n_early; i++) {
        if (strcmp(reader->early[i].key, key) != 0)
            continue;
        if (array)
            *array = reader->early[i].array;
        else
            free(reader->early[i].array.data);
        free(reader->early[i].key);
        reader->early[i] = reader->early[--reader->n_early];
        return true;
    }
    return false;
}

static bool store_early_array(struct key_reader *reader, const struct array_header *header,
                              struct irrun_error *err)
{
    if (!GROW_ARRAY(reader->early, reader->n_early, reader->early_capacity, err))
        return false;
    struct early_array *early = &reader->early[reader->n_early];
    *early = (struct early_array){.key = strdup(header->key)};
    if (!early->key)
        return fail_memory(err, strlen(header->key) + 1);
    reader->n_early++;
    return reader_read_tensor(reader->reader, header, &early->array, err);
}

/* Finds the array with this key, which was read early or comes later in the file. array: NULL to
 * skip it. */
static bool find_key(struct key_reader *reader, const char *key, struct irrun_tensor *array,
                     struct irrun_error *err)
{
    if (remove_early_array(reader, key, array))
        return true;
    for (;;) {
        struct array_header header;
        bool is_end;
        if (!reader_next(reader->reader, &header, &is_end, err))
            return false;
        if (is_end)
            return fail_at(err, IRRUN_DATA, whole_file(reader_path(reader->reader)),
                           "has no key \"%s\"", key);
        if (strcmp(header.key, key) == 0)
            return !array || reader_read_tensor(reader->reader, &header, array, err);
        if (!store_early_array(reader, &header, err))
            return false;
    }
}

/* Checks that the other archives end when the first one does. */
static bool check_ends(struct sequences *sequences, struct irrun_error *err)
{
    for (size_t i = 1; i < sequences->n_readers; i++) {
        struct key_reader *reader = &sequences->readers[i];
        struct array_header header;
        bool is_end = true;
        if (reader->n_early == 0 && !reader_next(reader->reader, &header, &is_end, err))
            return false;
        if (reader->n_early > 0 || !is_end)
            return fail_at(err, IRRUN_DATA, whole_file(reader_path(reader->reader)),
                           "has key \"%s\", which %s lacks",
                           reader->n_early > 0 ? reader->early[0].key : header.key,
                           reader_path(sequences->readers[0].reader));
    }
    return true;
}

/* Reads the arrays of a sequence, in the order of the archives on the command line. */
static bool read_arrays(struct sequences *sequences, struct sequence *sequence,
                        const struct array_header *header, struct irrun_error *err)
{
    for (size_t i = 0, n = 0; i < sequence->n_inputs; i++) {
        struct sequence_input *input = &sequence->inputs[i];
        if (!input->binding.spec.format->has_keys)
            continue;
        struct key_reader *reader = &sequences->readers[n++];
        bool is_leading = n == 1;
        if (!(is_leading ? reader_read_tensor(reader->reader, header, &input->array, err)
                         : find_key(reader, sequence->key, &input->array, err)))
            return false;
    }
    return true;
}

/* Skips the arrays of a sequence that belongs to a different shard, in all archives but the
 * first. */
static bool skip_arrays(struct sequences *sequences, const char *key, struct irrun_error *err)
{
    for (size_t i = 1; i < sequences->n_readers; i++)
        if (!find_key(&sequences->readers[i], key, NULL, err))
            return false;
    return true;
}

/* ---- Iterating ------------------------------------------------------------------------------- */

char *sequence_key_of_path(const char *path, struct arena *arena, struct irrun_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return arena_strndup(arena, name, dot && dot != name ? (size_t)(dot - name) : strlen(name),
                         err);
}

/* Appends the bindings of the command line to those from the line of a manifest. */
static bool copy_bindings(const struct options *options, struct sequence *sequence,
                          struct irrun_error *err)
{
    size_t n_own = sequence->n_inputs, n = n_own + options->inputs.n;
    const struct sequence_input *own = sequence->inputs;
    sequence->inputs = arena_alloc_array(&sequence->arena, n, sizeof *sequence->inputs, err);
    if (!sequence->inputs)
        return false;
    for (size_t i = 0; i < n; i++)
        sequence->inputs[i] =
            i < n_own ? own[i]
                      : (struct sequence_input){.binding = options->inputs.items[i - n_own]};
    sequence->n_inputs = n;
    return true;
}

/* Returns the only sequence of the command line, or the next sequence of its archives. Reads its
 * data if is_ours, and skips it otherwise. */
static bool next_from_command_line(struct sequences *sequences, struct sequence *sequence,
                                   bool is_ours, bool *is_end, struct irrun_error *err)
{
    const struct options *options = sequences->options;
    struct array_header header = {.key = NULL};
    *is_end = sequences->n_seen > 0;
    if (sequences->n_readers > 0 &&
        !reader_next(sequences->readers[0].reader, &header, is_end, err))
        return false;
    if (*is_end)
        return sequences->is_list || check_ends(sequences, err);
    if (!is_ours)
        return skip_arrays(sequences, header.key, err);
    const char *path = "-";
    for (size_t i = options->inputs.n; i-- > 0;)
        if (!options->inputs.items[i].spec.format->is_generated)
            path = options->inputs.items[i].spec.path;
    sequence->key = header.key ? arena_strdup(&sequence->arena, header.key, err)
                               : sequence_key_of_path(path, &sequence->arena, err);
    return sequence->key && copy_bindings(options, sequence, err) &&
           (sequences->is_list || read_arrays(sequences, sequence, &header, err));
}

bool sequences_next(struct sequences *sequences, struct sequence *sequence, bool *has_one,
                    struct irrun_error *err)
{
    const struct options *options = sequences->options;
    *sequence = (struct sequence){.index = sequences->n_returned};
    *has_one = false;
    for (;;) {
        bool is_ours =
            sequences->is_list || sequences->n_seen % options->n_shards == options->shard;
        bool is_end;
        sequence->number = sequences->n_seen;
        if (!(sequences->manifest
                  ? manifest_next(sequences->manifest, sequence, is_ours, &is_end, err)
                  : next_from_command_line(sequences, sequence, is_ours, &is_end, err))) {
            sequences->n_seen += sequence->place.file != NULL; /* an invalid line is also counted */
            return false;
        }
        if (is_end && sequences->manifest && sequences->n_seen == 0 && !sequences->is_list)
            warn(options, "%s: no sequence is listed",
                 strcmp(options->manifest_path, "-") == 0 ? STANDARD_INPUT
                                                          : options->manifest_path);
        if (is_end)
            return true;
        sequences->n_seen++;
        if (is_ours)
            break;
    }
    sequences->n_returned++;
    *has_one = true;
    return !sequences->manifest || options->inputs.n == 0 || copy_bindings(options, sequence, err);
}

void sequence_locate(const struct sequence *sequence, struct irrun_error *err)
{
    const struct place *place = &sequence->place;
    if (!place->file || err->code == IRRUN_OK)
        return;
    if (err->file[0]) {
        bool lacks_folder = err->code == IRRUN_NO_INPUT && !strchr(err->file, '/') &&
                            strcmp(place->file, STANDARD_INPUT) == 0;
        fail_hint(err, "named in %s:%u%s", place->file, (unsigned)place->line,
                  lacks_folder ? "; ls FOLDER/* | irrun ... --manifest=- names the folder, too"
                               : "");
        return;
    }
    struct irrun_error located = {.code = IRRUN_OK};
    fail_at(&located, err->code == IRRUN_USAGE ? IRRUN_DATA : err->code, *place, "%s",
            err->message);
    fail_hint(&located, "%s", err->hint);
    *err = located;
}
