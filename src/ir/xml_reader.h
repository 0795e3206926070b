/* Streams an XML file through expat: calls handlers, and reports errors with their position. Knows
 * nothing about IR.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_XML_READER_H
#define IRRUN_IR_XML_READER_H

#include "base/error.h"

struct xml_reader;

/* Returns the version of expat, such as "2.5.0". */
const char *xml_library_version(void);

/* A handler that returns false has filled the *err that xml_read was given; reading stops. */
struct xml_handlers {
    /* attrs: name, value, name, value …, NULL; all text is UTF-8 and lasts for the call. */
    bool (*start)(void *context, struct xml_reader *xml, const char *name,
                  const char *const *attrs);
    bool (*end)(void *context, struct xml_reader *xml);
    /* Text within an element, in any number of pieces; only between xml_want_text(true) and
     * (false). */
    bool (*text)(void *context, const char *bytes, size_t n);
};

/* Reads the file at `path` ("-": standard input) to its end. Passes pieces of piece_bytes to expat;
 * 0 = the default. Refuses a DOCTYPE: IR has none, and without it no entity can be defined. */
bool xml_read(const char *path, size_t piece_bytes, const struct xml_handlers *handlers,
              void *context, uint64_t *digest, struct irrun_error *err);

/* Returns the name of the file in messages. */
const char *xml_file_name(const char *path);

/* Returns the start of the element of the current start or end handler. Lines and columns count
 * from 1; a column is a character. */
struct place xml_place(const struct xml_reader *xml);

void xml_want_text(struct xml_reader *xml, bool is_wanted);

#endif
