/* IRs as strings, for the tests of the IR reader. The first layer of a NET is in line 3, every
 * other layer in its own line, and the first edge two lines after the last layer.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_IR_TEXT_H
#define IRRUN_TESTS_IR_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/ir_builder.h"

#define NET(layers, edges)                                                                         \
    "<net name=\"n\" version=\"11\">\n<layers>\n" layers "</layers>\n<edges>\n" edges              \
    "</edges>\n</net>\n"
#define LAYER(id, name, type, opset, content)                                                      \
    "<layer id=\"" id "\" name=\"" name "\" type=\"" type "\" version=\"" opset "\">" content      \
    "</layer>\n"
#define PARAMETER(id, name)                                                                        \
    LAYER(id, name, "Parameter", "opset1",                                                         \
          "<data shape=\"2\" element_type=\"f32\"/>" OUTPUT(PORT("0")))
#define ADD(id, name) LAYER(id, name, "Add", "opset1", INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2")))
#define RESULT(id, name) LAYER(id, name, "Result", "opset1", INPUT(PORT("0")))
#define INPUT(ports) "<input>" ports "</input>"
#define OUTPUT(ports) "<output>" ports "</output>"
#define PORT(id) "<port id=\"" id "\"/>"
#define EDGE(from_layer, from_port, to_layer, to_port)                                             \
    "<edge from-layer=\"" from_layer "\" from-port=\"" from_port "\" to-layer=\"" to_layer         \
    "\" to-port=\"" to_port "\"/>\n"

#define TEXT_PATH_BYTES 256

/* Writes a temporary file with these bytes; the caller removes it. */
static inline void write_temporary(const void *bytes, size_t n, char path[TEXT_PATH_BYTES])
{
    const char *directory = getenv("TMPDIR");
    snprintf(path, TEXT_PATH_BYTES, "%s/irrun-unit-XXXXXX", directory ? directory : "/tmp");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static inline bool load_bytes(const void *bytes, size_t n, size_t piece_bytes,
                              struct ir_model *model, struct irrun_error *err)
{
    char path[TEXT_PATH_BYTES];
    write_temporary(bytes, n, path);
    error_clear(err);
    bool is_loaded = ir_load(path, NULL, true, piece_bytes, model, err);
    unlink(path);
    return is_loaded;
}

/* Loads an IR, which must succeed. */
static inline struct graph *load_good(const char *xml, struct ir_model *model)
{
    struct irrun_error err;
    if (!load_bytes(xml, strlen(xml), 0, model, &err))
        fail_test("%u:%u: %s\n", err.line, err.column, err.message);
    return model->graph;
}

/* Loads an IR, which must fail at this position with this code, message and hint. */
static inline void check_bad(const char *xml, enum irrun_error_code code, uint32_t line,
                             uint32_t column, const char *message, const char *hint)
{
    struct ir_model model;
    struct irrun_error err;
    if (load_bytes(xml, strlen(xml), 0, &model, &err)) {
        ir_free(&model);
        fail_test("was read, but should fail with: %s\n", message);
    }
    if (err.code != code || err.line != line || err.column != column ||
        !strstr(err.message, message) || !strstr(err.hint, hint) || !err.hint[0])
        fail_test("%d at %u:%u: %s (hint: %s)\nexpected %d at %u:%u: %s (hint: %s)\n",
                  (int)err.code, err.line, err.column, err.message, err.hint, (int)code, line,
                  column, message, hint);
}

#endif
