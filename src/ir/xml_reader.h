/* Parses an XML file with expat: calls handlers, and reports errors with their position.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_XML_READER_H
#define IRRUN_IR_XML_READER_H

#include "base/error.h"

struct xml_reader;

/* Returns the version of expat, such as "2.5.0". */
const char *xml_library_version(void);

/* A handler that returns false must fill the *err of xml_read; reading then stops. */
struct xml_handlers {
    /* attrs: name, value, name, value …, NULL. All text is UTF-8 and valid during the call. */
    bool (*start)(void *context, struct xml_reader *xml, const char *name,
                  const char *const *attrs);
    bool (*end)(void *context, struct xml_reader *xml);
    /* Called with the text within an element, in any number of pieces, but only between calls of
     * xml_want_text with true and with false. */
    bool (*text)(void *context, const char *bytes, size_t n);
};

/* Reads the file at `path` ("-": standard input) to its end. Passes pieces of piece_bytes to expat;
 * 0: the default. *digest becomes the 64-bit FNV-1a hash of the file. Fails with IRRUN_NO_INPUT if
 * the file cannot be opened or read, and with IRRUN_DATA if it is not well-formed or has a DOCTYPE.
 * An IR has no DOCTYPE, and without a DOCTYPE it cannot define entities. */
bool xml_read(const char *path, size_t piece_bytes, const struct xml_handlers *handlers,
              void *context, uint64_t *digest, struct irrun_error *err);

/* Returns the name of the file for messages, which is not the path if the path is "-". */
const char *xml_file_name(const char *path);

/* Returns the place where the element of the current start or end handler starts. Lines and columns
 * count from 1, columns in characters. */
struct place xml_place(const struct xml_reader *xml);

/* Chooses whether the text handler is called. */
void xml_want_text(struct xml_reader *xml, bool is_wanted);

#endif
