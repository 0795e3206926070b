/* Finds, checks and replaces the fields in file names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/path_fields.h"

#include <string.h>

#include "base/text.h"

bool path_has_field(const char *path, char field)
{
    for (const char *p = strchr(path, '%'); p; p = strchr(p + 1 + (p[1] != '\0'), '%'))
        if (p[1] == field)
            return true;
    return false;
}

bool path_check_fields(const char *option, const char *path, const char *fields,
                       struct irrun_error *err)
{
    for (const char *p = path; *p; p += 1 + (*p == '%')) {
        bool is_name = p[1] != '\0' && strchr(fields, p[1]);
        size_t length = *p != '*' && p[1] != '\0' ? 1 + text_utf8_length(p + 1) : 1;
        /* rejects a wrong %, and what xargs or a shell would replace: {}, $k, * */
        if (*p == '%'   ? is_name || p[1] == '%'
            : *p == '$' ? !is_name
                        : *p != '*' && strncmp(p, "{}", 2) != 0)
            continue;
        fail(err, IRRUN_USAGE, "%s%s: '%.*s' is not a field", option, path, (int)length, p);
        return fail_hint(err,
                         "the fields are %%k, the key of the sequence, %sand %%%%, a percent sign",
                         strchr(fields, 'n') ? "%n, the name of the output, " : "");
    }
    return true;
}

bool path_fill_field(const char *path, char field, const char *value, bool is_last, char **filled,
                     struct irrun_error *err)
{
    struct text text = {0};
    text_add_bytes(&text, "", 0);
    for (const char *p = path; *p; p++) {
        if (p[0] == '%' && p[1] == field) {
            for (const char *c = value; *c; c++) {
                text_add_bytes(&text, *c == '/' ? "_" : c, 1);
                if (*c == '%' && !is_last)
                    text_add_bytes(&text, c, 1);
            }
            p++;
        } else if (p[0] == '%' && p[1] == '%') {
            text_add_bytes(&text, "%%", is_last ? 1 : 2);
            p++;
        } else {
            text_add_bytes(&text, p, 1);
        }
    }
    *filled = text.data;
    if (text_check(&text, err))
        return true;
    text_free(&text);
    return false;
}
