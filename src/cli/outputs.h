/* Writes the outputs of all sequences, with one writer per destination.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_OUTPUTS_H
#define IRRUN_CLI_OUTPUTS_H

#include "cli/options.h"
#include "cli/sequence.h"

/* Returns the number of outputs that are written if no option names one: those of the model and of
 * --tap. The outputs that traces_all adds come after them. */
static inline size_t n_default_outputs(const struct irrun_model *model)
{
    size_t n = irrun_model_n_outputs(model);
    while (n > 0 && irrun_model_output(model, n - 1)->is_traced)
        n--;
    return n;
}

struct outputs;

/* Checks names and destinations against the model; opens nothing. Borrows model and options. */
bool outputs_new(const struct irrun_model *model, const struct options *options,
                 struct outputs **outputs, struct irrun_error *err);
void outputs_free(struct outputs *outputs); /* removes unfinished files; accepts NULL */

/* Returns whether nothing is written. */
bool outputs_are_none(const struct outputs *outputs);

/* Returns whether an output may store one record and a stack of one record differently. */
bool outputs_depend_on_layout(const struct outputs *outputs);

/* Fails with IRRUN_USAGE if --concat names an axis that an output does not have; values as for
 * outputs_begin_sequence. Thread-safe. */
bool outputs_check_axes(const struct outputs *outputs, const struct irrun_tensor *const *values,
                        struct irrun_error *err);

/* Warns about a wav file with fewer samples per record than the input, which has n_frames.
 * Thread-safe. */
void outputs_check_rate(const struct outputs *outputs, const struct irrun_tensor *const *values,
                        uint64_t n_frames);

/* A file to which outputs are written. key: the key of the array that a sequence adds to a shared
 * file; NULL: the output is the whole file. */
struct output_path {
    const char *path, *key;
};

typedef bool output_path_fn(void *context, const struct output_path *output,
                            struct irrun_error *err);

/* Calls `visit` for every file of a sequence and every array that it adds to a shared file, or, if
 * sequence is NULL, for every shared file. Opens nothing. */
bool outputs_visit_paths(const struct outputs *outputs, const struct sequence *sequence,
                         output_path_fn *visit, void *context, struct irrun_error *err);

/* Returns whether the paths on the command line give each sequence its own file or array. */
bool outputs_have_own_paths(const struct outputs *outputs);

/* Sets *exist to whether all files of the sequence exist, for --skip-existing. Thread-safe. */
bool outputs_exist(const struct outputs *outputs, const struct sequence *sequence, bool *exist,
                   struct irrun_error *err);

/* For --checkpoint. outputs_pause gets the current positions; outputs_resume makes the run continue
 * from them, and borrows them until outputs_begin_sequence. is_finishing: some files may already
 * have their final names. */
size_t outputs_n_positions(const struct outputs *outputs);
bool outputs_pause(struct outputs *outputs, struct writer_position *positions,
                   struct irrun_error *err);
void outputs_resume(struct outputs *outputs, const struct writer_position *positions,
                    bool is_finishing);

/* Opens the files of the sequence that are not open yet. values: the model's outputs without
 * data, or NULL if their shape is not known before the first record. */
bool outputs_begin_sequence(struct outputs *outputs, const struct sequence *sequence,
                            const struct irrun_tensor *const *values, bool is_stacked,
                            struct irrun_error *err);

/* Writes one record of the model's outputs. index: the number of the iteration in the sequence. */
bool outputs_write(struct outputs *outputs, const struct irrun_tensor *const *values,
                   uint64_t index, struct irrun_error *err);

/* Flushes pipes, devices and standard output. */
bool outputs_flush(struct outputs *outputs, struct irrun_error *err);
bool outputs_end_sequence(struct outputs *outputs, struct irrun_error *err);

/* Removes the files that only this sequence has written, if it has begun. */
void outputs_drop_sequence(struct outputs *outputs, const struct sequence *sequence);

/* Completes all files and gives them their final names. */
bool outputs_finish(struct outputs *outputs, struct irrun_error *err);

#endif
