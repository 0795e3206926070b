/* %k, %n and %% in the names of files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_PATH_FIELDS_H
#define IRRUN_CLI_PATH_FIELDS_H

#include "base/error.h"

/* Whether `path` has %field. */
bool path_has_field(const char *path, char field);

/* IRRUN_USAGE for a percent that stands before none of `fields`, "kn" say, nor a percent. */
bool path_check_fields(const char *option, const char *path, const char *fields,
                       struct irrun_error *err);

/* Puts `value`, '/' as '_', for every %field, and if `is_last` a percent for %%. malloc'ed. */
bool path_fill_field(const char *path, char field, const char *value, bool is_last, char **filled,
                     struct irrun_error *err);

#endif
