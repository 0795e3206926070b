/* Replaces the fields %k, %n and %% in file names.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_PATH_FIELDS_H
#define IRRUN_CLI_PATH_FIELDS_H

#include "base/error.h"

/* Returns whether `path` contains %field. */
bool path_has_field(const char *path, char field);

/* Fails with IRRUN_USAGE for a '%' that is not followed by '%' or one of `fields`, such as "kn". */
bool path_check_fields(const char *option, const char *path, const char *fields,
                       struct irrun_error *err);

/* Replaces every %field with `value`, in which '/' becomes '_'. If is_last, also replaces every %%
 * with '%'; otherwise, '%' in `value` becomes %%. *filled is malloc'ed. */
bool path_fill_field(const char *path, char field, const char *value, bool is_last, char **filled,
                     struct irrun_error *err);

#endif
