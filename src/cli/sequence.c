/* Where sequences come from and what they are called.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/sequence.h"

#include <string.h>

/* The file's name without folder and ending. */
static char *key_of_path(const char *path, struct arena *arena, struct irrun_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return arena_strndup(arena, name, dot && dot != name ? (size_t)(dot - name) : strlen(name),
                         err);
}

bool sequence_of_command_line(const struct options *options, struct arena *arena,
                              struct sequence *sequence, struct irrun_error *err)
{
    const char *path = options->inputs.n > 0 ? options->inputs.items[0].spec.path : "-";
    sequence->key = key_of_path(path, arena, err);
    sequence->inputs = options->inputs.items;
    sequence->n_inputs = options->inputs.n;
    return sequence->key != NULL;
}
