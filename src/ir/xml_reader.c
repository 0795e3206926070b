/* Parses XML with expat, which no other file uses.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/xml_reader.h"

#include <errno.h>
#include <expat.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "ir/sniff.h"

/* Before expat 2.9, the functions have no suffix. */
#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
#define XML_GetCurrentLineNumber64 XML_GetCurrentLineNumber
#define XML_GetCurrentColumnNumber64 XML_GetCurrentColumnNumber
#define XML_GetCurrentByteIndex64 XML_GetCurrentByteIndex
#endif

#define PIECE_BYTES ((size_t)64 << 10)
#define LARGEST_PIECE_BYTES ((size_t)256 << 20)

/* An element that is not closed yet. */
struct open_element {
    size_t name; /* offset in names */
    uint32_t line, column;
};

struct xml_reader {
    XML_Parser parser;
    const struct xml_handlers *handlers;
    void *context;
    struct irrun_error *err;
    const char *file;
    struct open_element *open;
    size_t n_open, open_capacity;
    char *names; /* names of the open elements, each with a final NUL */
    size_t names_length, names_capacity;
    struct place current;
    unsigned char head[SNIFF_BYTES]; /* first bytes of the file */
    size_t n_head;
    bool has_root, has_failed;
    uint64_t digest;
};

const char *xml_library_version(void)
{
    const char *version = XML_ExpatVersion();
    const char *number = strchr(version, '_');
    return number ? number + 1 : version;
}

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
#define FNV_OFFSET UINT64_C(14695981039346656037)
#define FNV_PRIME UINT64_C(1099511628211)

static void add_to_digest(struct xml_reader *xml, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        xml->digest = (xml->digest ^ bytes[i]) * FNV_PRIME;
}

const char *xml_file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? STANDARD_INPUT : path;
}

struct place xml_place(const struct xml_reader *xml)
{
    return xml->current;
}

/* Returns the current position. expat counts columns from 0, irrun from 1. */
static struct place current_place(const struct xml_reader *xml)
{
    uint64_t line = XML_GetCurrentLineNumber64(xml->parser);
    uint64_t column = XML_GetCurrentColumnNumber64(xml->parser) + 1;
    return (struct place){xml->file, line < UINT32_MAX ? (uint32_t)line : UINT32_MAX,
                          column < UINT32_MAX ? (uint32_t)column : UINT32_MAX};
}

static void stop(struct xml_reader *xml)
{
    xml->has_failed = true;
    XML_StopParser(xml->parser, XML_FALSE);
}

static bool push_open(struct xml_reader *xml, const char *name)
{
    size_t size_bytes = strlen(name) + 1;
    while (xml->names_capacity - xml->names_length < size_bytes)
        if (!grow_array((void **)&xml->names, xml->names_capacity, &xml->names_capacity, 1,
                        xml->err))
            return false;
    if (!GROW_ARRAY(xml->open, xml->n_open, xml->open_capacity, xml->err))
        return false;
    memcpy(xml->names + xml->names_length, name, size_bytes);
    xml->open[xml->n_open++] =
        (struct open_element){xml->names_length, xml->current.line, xml->current.column};
    xml->names_length += size_bytes;
    return true;
}

static void XMLCALL on_start(void *user_data, const XML_Char *name, const XML_Char **attrs)
{
    struct xml_reader *xml = user_data;
    if (xml->has_failed)
        return;
    xml->has_root = true;
    xml->current = current_place(xml);
    if (!push_open(xml, name) ||
        !xml->handlers->start(xml->context, xml, name, (const char *const *)attrs))
        stop(xml);
}

static void XMLCALL on_end(void *user_data, const XML_Char *name)
{
    struct xml_reader *xml = user_data;
    (void)name;
    if (xml->has_failed)
        return;
    const struct open_element *closed = &xml->open[--xml->n_open];
    xml->names_length = closed->name;
    xml->current = (struct place){xml->file, closed->line, closed->column};
    if (!xml->handlers->end(xml->context, xml))
        stop(xml);
}

static void XMLCALL on_text(void *user_data, const XML_Char *bytes, int n)
{
    struct xml_reader *xml = user_data;
    if (!xml->has_failed && !xml->handlers->text(xml->context, bytes, (size_t)n))
        stop(xml);
}

static void XMLCALL on_doctype(void *user_data, const XML_Char *name, const XML_Char *system_id,
                               const XML_Char *public_id, int has_internal_subset)
{
    struct xml_reader *xml = user_data;
    (void)name, (void)system_id, (void)public_id, (void)has_internal_subset;
    if (xml->has_failed)
        return;
    fail_at(xml->err, IRRUN_DATA, current_place(xml), "a DOCTYPE is not allowed in an IR");
    fail_hint(xml->err, "remove the <!DOCTYPE ...>; a web page is not a model");
    stop(xml);
}

void xml_want_text(struct xml_reader *xml, bool is_wanted)
{
    XML_SetCharacterDataHandler(xml->parser, is_wanted ? on_text : NULL);
}

/* Returns whether expat reports this error for a truncated file. */
static bool is_cut_short(enum XML_Error code)
{
    return code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN ||
           code == XML_ERROR_PARTIAL_CHAR || code == XML_ERROR_UNCLOSED_CDATA_SECTION;
}

/* Adds the hint of sniff, with the name of the file in place of %s. */
static bool hint_file(struct irrun_error *err, const char *hint, const char *file)
{
    char quoted[TEXT_QUOTED_BYTES];
    const char *name = strstr(hint, "%s");
    if (!name)
        return fail_hint(err, "%s", hint);
    return fail_hint(err, "%.*s%s%s", (int)(name - hint), hint,
                     strcmp(file, STANDARD_INPUT) == 0 ? "FILE" : text_shell_quote(file, quoted),
                     name + 2);
}

/* Fails because the file is not well-formed. */
static bool fail_form(struct xml_reader *xml)
{
    enum XML_Error code = XML_GetErrorCode(xml->parser);
    if (code == XML_ERROR_NO_MEMORY)
        return fail_memory(xml->err, PIECE_BYTES);
    struct place place = current_place(xml);
    char quoted[TEXT_QUOTED_BYTES];
    const char *hint;
    const char *kind = xml->has_root ? NULL : sniff(xml->head, xml->n_head, &hint);
    if (kind) {
        fail_at(xml->err, IRRUN_DATA, whole_file(xml->file), "is %s, not the XML of an OpenVINO IR",
                kind);
        return hint && hint_file(xml->err, hint, xml->file);
    }
    if (!xml->has_root && xml->n_head == 0) {
        fail_at(xml->err, IRRUN_DATA, whole_file(xml->file), "is empty");
        return fail_hint(xml->err, "copy it again");
    }
    const struct open_element *open = xml->n_open ? &xml->open[xml->n_open - 1] : NULL;
    if (open && code == XML_ERROR_TAG_MISMATCH) {
        fail_at(xml->err, IRRUN_DATA, place,
                "mismatched tag: <%s> of line %u, column %u is still open", xml->names + open->name,
                open->line, open->column);
        return fail_hint(xml->err, "is </%s> missing? Copy the file again, or fix it",
                         xml->names + open->name);
    }
    if (open && is_cut_short(code)) {
        fail_at(xml->err, IRRUN_DATA, place, "the file ends within <%s> of line %u, column %u",
                xml->names + open->name, open->line, open->column);
        return fail_hint(xml->err, "the file is cut short: copy it again");
    }
    if (code == XML_ERROR_INVALID_TOKEN)
        fail_at(xml->err, IRRUN_DATA, place,
                "not well-formed XML: a character that is not allowed here");
    else
        fail_at(xml->err, IRRUN_DATA, place, "not well-formed XML: %s", XML_ErrorString(code));
    if (code == XML_ERROR_JUNK_AFTER_DOC_ELEMENT)
        return fail_hint(xml->err, "nothing may follow the closing </net>");
    return fail_hint(xml->err, "run xmllint --noout %s to find the place",
                     text_shell_quote(xml->file, quoted));
}

static void keep_head(struct xml_reader *xml, const unsigned char *bytes, size_t n)
{
    size_t n_kept = SNIFF_BYTES - xml->n_head < n ? SNIFF_BYTES - xml->n_head : n;
    if (n_kept != 0)
        memcpy(xml->head + xml->n_head, bytes, n_kept);
    xml->n_head += n_kept;
}

/* Reads the rest of the first SNIFF_BYTES for sniff(), because expat may have failed before. */
static bool complete_head(struct xml_reader *xml, int fd)
{
    size_t n;
    if (!file_read_full(fd, xml->file, xml->head + xml->n_head, SNIFF_BYTES - xml->n_head, &n,
                        xml->err))
        return false;
    xml->n_head += n;
    return true;
}

/* Chooses the size of the next piece. expat scans an unfinished token again with every piece. A
 * piece with the length of the unfinished token keeps the total work linear in the file size. */
static size_t choose_piece(const struct xml_reader *xml, int64_t n_fed)
{
    int64_t n_done = XML_GetCurrentByteIndex64(xml->parser);
    int64_t n_waiting = n_done < 0 ? 0 : n_fed - n_done;
    if (n_waiting <= (int64_t)PIECE_BYTES)
        return PIECE_BYTES;
    return n_waiting < (int64_t)LARGEST_PIECE_BYTES ? (size_t)n_waiting : LARGEST_PIECE_BYTES;
}

static bool feed(struct xml_reader *xml, int fd, size_t piece_bytes)
{
    int64_t n_fed = 0;
    for (bool is_last = false; !is_last;) {
        size_t wanted = piece_bytes ? piece_bytes : choose_piece(xml, n_fed);
        unsigned char *buffer = XML_GetBuffer(xml->parser, (int)wanted);
        if (!buffer)
            return fail_memory(xml->err, wanted);
        size_t n;
        if (!file_read_full(fd, xml->file, buffer, wanted, &n, xml->err))
            return false;
        keep_head(xml, buffer, n);
        add_to_digest(xml, buffer, n);
        n_fed += (int64_t)n;
        is_last = n < wanted;
        enum XML_Status status = XML_ParseBuffer(xml->parser, (int)n, is_last);
        if (xml->has_failed)
            return false;
        if (status != XML_STATUS_OK)
            return (is_last || complete_head(xml, fd)) && fail_form(xml);
    }
    return true;
}

static bool read_from(struct xml_reader *xml, int fd, size_t piece_bytes)
{
    static const XML_Memory_Handling_Suite memory = {malloc, realloc, free};
    xml->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    if (!xml->parser)
        return fail_memory(xml->err, PIECE_BYTES);
    XML_SetUserData(xml->parser, xml);
    XML_SetElementHandler(xml->parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(xml->parser, on_doctype);
    bool is_read = feed(xml, fd, piece_bytes);
    XML_ParserFree(xml->parser);
    return is_read;
}

bool xml_read(const char *path, size_t piece_bytes, const struct xml_handlers *handlers,
              void *context, uint64_t *digest, struct irrun_error *err)
{
    struct xml_reader xml = {.handlers = handlers,
                             .context = context,
                             .err = err,
                             .file = xml_file_name(path),
                             .digest = FNV_OFFSET};
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, IRRUN_NO_INPUT, path, "cannot be opened", errno);
    bool is_read = read_from(&xml, fd, piece_bytes);
    if (!is_stdin)
        close(fd);
    free(xml.open);
    free(xml.names);
    *digest = xml.digest;
    return is_read;
}
