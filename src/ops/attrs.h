/* Declares the attributes of an op in a table: name, struct field, kind and default of each.
 * Unknown attributes are ignored, as the IR requires.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_ATTRS_H
#define IRRUN_OPS_ATTRS_H

#include <stddef.h>

#include "base/arena.h"

struct i64_list {
    const int64_t *items;
    uint32_t n;
};

/* Returns whether item i of a mask is not 0; items past its end are 0. */
static inline bool i64_list_is_set(const struct i64_list *mask, uint32_t i)
{
    return i < mask->n && mask->items[i] != 0;
}

static inline bool i64_list_is_all(const struct i64_list *list, int64_t number)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->items[i] != number)
            return false;
    return true;
}

struct f64_list {
    const double *items;
    uint32_t n;
};

struct string_list {
    const char *const *items; /* without surrounding blanks, in their original case */
    uint32_t n;
};

enum attr_kind {
    ATTR_KIND_INT,
    ATTR_KIND_FLOAT,
    ATTR_KIND_BOOL,
    ATTR_KIND_STRING,
    ATTR_KIND_INTS,
    ATTR_KIND_FLOATS,
    ATTR_KIND_STRINGS,
    ATTR_KIND_DTYPE,
    ATTR_KIND_SHAPE,
    ATTR_KIND_STATIC_SHAPE,
    ATTR_KIND_CHOICE /* an int: the index of the word in `choices`; case is ignored */
};

struct attr_def {
    const char *name; /* as in the XML */
    enum attr_kind kind;
    size_t offset;
    /* Parsed like a value in the XML, so "" is an empty list. NULL if the attribute is required. */
    const char *default_text;
    const char *choices; /* "numpy|none|pdpd" for ATTR_KIND_CHOICE */
};

#define ATTR_KIND_OF(object)                                                                       \
    _Generic((object),                                                                             \
        int64_t: ATTR_KIND_INT,                                                                    \
        double: ATTR_KIND_FLOAT,                                                                   \
        bool: ATTR_KIND_BOOL,                                                                      \
        const char *: ATTR_KIND_STRING,                                                            \
        struct i64_list: ATTR_KIND_INTS,                                                           \
        struct f64_list: ATTR_KIND_FLOATS,                                                         \
        struct string_list: ATTR_KIND_STRINGS,                                                     \
        enum irrun_dtype: ATTR_KIND_DTYPE,                                                         \
        struct irrun_partial_shape: ATTR_KIND_SHAPE,                                               \
        struct irrun_shape: ATTR_KIND_STATIC_SHAPE)

/* ATTR(struct select_attrs, axis, "0"): the field has the name of the attribute. */
#define ATTR(type, field, default_text_) ATTR_NAMED(type, field, #field, default_text_)
#define ATTR_NAMED(type, field, name_, default_text_)                                              \
    {                                                                                              \
        .name = name_, .kind = ATTR_KIND_OF(((type *)0)->field), .offset = offsetof(type, field),  \
        .default_text = default_text_                                                              \
    }
/* For an int field: ATTR_CHOICE(struct select_attrs, auto_broadcast, "numpy",
 * "none|numpy|pdpd"). */
#define ATTR_CHOICE(type, field, default_text_, choices_)                                          \
    ATTR_CHOICE_NAMED(type, field, #field, default_text_, choices_)
#define ATTR_CHOICE_NAMED(type, field, name_, default_text_, choices_)                             \
    {                                                                                              \
        .name = name_, .kind = ATTR_KIND_CHOICE, .offset = offsetof(type, field),                  \
        .default_text = default_text_, .choices = choices_                                         \
    }
/* Initialize members of a struct op_def: the attribute table, and the size of the struct that
 * attrs_read fills. */
#define OP_ATTRS(table, type) OP_ATTR_TABLE(table), .attrs_size = sizeof(type)
#define OP_ATTR_TABLE(table) .attrs = table, .n_attrs = sizeof(table) / sizeof *(table)

struct op_def;

/* Fills `attrs` (def->attrs_size bytes, zeroed) from a NULL-terminated list name, value, name,
 * value … as passed by expat (NULL if there is no <data>). Lists and strings are copied into the
 * arena. The message of an IRRUN_DATA error names the layer (`layer_name`), the attribute, its
 * value and what was expected. */
bool attrs_read(const struct op_def *def, const char *const *pairs, void *attrs,
                struct arena *arena, const char *layer_name, struct place place,
                struct irrun_error *err);

/* Returns the value of `name` in a list like `pairs`, or NULL. */
const char *attrs_find(const char *const *pairs, const char *name);

#endif
