/* Where the outputs of the iterations go: a writer for every destination on the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_OUTPUTS_H
#define IRRUN_CLI_OUTPUTS_H

#include "cli/options.h"
#include "cli/sequence.h"

/* How many outputs are meant where none is named: those of --tap too. Those that only --tap-all
 * asks for come behind them. */
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
void outputs_free(struct outputs *outputs); /* removes what is unfinished; NULL is allowed */

/* Nothing is written at all. */
bool outputs_are_none(const struct outputs *outputs);

/* Whether a file depends on one record being told from a stack. */
bool outputs_depend_on_layout(const struct outputs *outputs);

/* IRRUN_USAGE if --concat names an axis that an output lacks; values as for outputs_begin_sequence.
 * For any thread. */
bool outputs_check_axes(const struct outputs *outputs, const struct irrun_tensor *const *values,
                        struct irrun_error *err);

/* A file that outputs are written to. key: of the array that a sequence adds to a file which it
 * shares with others; NULL: the file as a whole. */
struct output_path {
    const char *path, *key;
};

typedef bool output_path_fn(void *context, const struct output_path *output,
                            struct irrun_error *err);

/* Calls `take` with every file of a sequence alone, and every array that it adds; or, sequence
 * being NULL, with every file that the sequences share. Opens nothing. */
bool outputs_visit_paths(const struct outputs *outputs, const struct sequence *sequence,
                         output_path_fn *take, void *context, struct irrun_error *err);

/* Whether the command line alone gives sequences something of their own there. */
bool outputs_have_own_paths(const struct outputs *outputs);

/* --skip-existing: whether every file that the sequence writes is there. For any thread. */
bool outputs_exist(const struct outputs *outputs, const struct sequence *sequence, bool *exist,
                   struct irrun_error *err);

/* --checkpoint: how many positions there are, the positions, and beginning from them: NULL for a
 * new run. The array is borrowed until outputs_begin_sequence. is_finishing: what is not there any
 * more has its name already. */
size_t outputs_n_positions(const struct outputs *outputs);
bool outputs_pause(struct outputs *outputs, struct writer_position *positions,
                   struct irrun_error *err);
void outputs_resume(struct outputs *outputs, const struct writer_position *positions,
                    bool is_finishing);

/* Opens what the sequence writes to, unless an earlier one did. values: the model's outputs as far
 * as they are known before the first record: without data, or NULL. */
bool outputs_begin_sequence(struct outputs *outputs, const struct sequence *sequence,
                            const struct irrun_tensor *const *values, bool is_stacked,
                            struct irrun_error *err);

/* Writes one record of the model's outputs. index: the iteration within the sequence. */
bool outputs_write(struct outputs *outputs, const struct irrun_tensor *const *values,
                   uint64_t index, struct irrun_error *err);

/* Sends off what waits for pipes, devices and standard output. */
bool outputs_flush(struct outputs *outputs, struct irrun_error *err);
bool outputs_end_sequence(struct outputs *outputs, struct irrun_error *err);

/* Removes what the sequence has written alone, if it has begun. */
void outputs_drop_sequence(struct outputs *outputs, const struct sequence *sequence);

/* Everything is on disk under its name. */
bool outputs_finish(struct outputs *outputs, struct irrun_error *err);

#endif
