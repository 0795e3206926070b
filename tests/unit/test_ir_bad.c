/* ir: every malformed model is rejected, with a position, what was found and expected, and a hint.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "ir_text.h"

#define ONE_LAYER(content) NET(content, "")
#define HEAD "<net name=\"n\" version=\"11\">\n"

static void refuses_what_is_not_well_formed(void **state)
{
    (void)state;
    check_bad("", IRRUN_DATA, 0, 0, "is empty", "copy it again");
    check_bad("<net", IRRUN_DATA, 1, 1, "not well-formed XML: unclosed token", "xmllint");
    check_bad("hello", IRRUN_DATA, 1, 1, "not well-formed XML: syntax error", "xmllint");
    check_bad(HEAD "<layers>\n  <layer id=\"0\" type=\"Result\">\n", IRRUN_DATA, 4, 1,
              "the file ends within <layer> of line 3, column 3", "cut short");
    check_bad(HEAD "<layers>\n  <layer id=\"0\" type=\"Res", IRRUN_DATA, 3, 3,
              "the file ends within <layers> of line 2, column 1", "cut short");
    check_bad(HEAD "<layers>\n</net>\n", IRRUN_DATA, 3, 3,
              "mismatched tag: <layers> of line 2, column 1 is still open", "</layers>");
    check_bad(NET(PARAMETER("0", "x"), "") "<net/>", IRRUN_DATA, 8, 1, "junk after document",
              "nothing may follow");
    check_bad(HEAD "<layers>\n<layer id=\"0\" id=\"1\"/></layers></net>", IRRUN_DATA, 3, 15,
              "duplicate attribute", "xmllint");
    check_bad(HEAD "&lol;</net>", IRRUN_DATA, 2, 1, "undefined entity", "xmllint");
    check_bad(HEAD "<layers name=\"a<b\"/></net>", IRRUN_DATA, 2, 16,
              "a character that is not allowed here", "xmllint");
    check_bad(HEAD "<layers name=\"\xff\"/></net>", IRRUN_DATA, 2, 15,
              "a character that is not allowed here", "xmllint");
}

static void refuses_a_doctype_and_so_every_entity(void **state)
{
    (void)state;
    check_bad(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE net [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n"
        "<net name=\"&b;\" version=\"11\"/>",
        IRRUN_DATA, 2, 15, "DOCTYPE", "remove");
    check_bad("<!DOCTYPE net SYSTEM \"file:///etc/passwd\">\n<net version=\"11\"/>", IRRUN_DATA, 1,
              42, "DOCTYPE", "remove");
}

static void refuses_other_roots_and_versions(void **state)
{
    (void)state;
    check_bad("<model/>", IRRUN_DATA, 1, 1, "the root element is <model>, expected <net>",
              "begins with <net");
    check_bad("\n <html></html>", IRRUN_DATA, 2, 2, "<html>", "web page");
    check_bad("<net name=\"n\"/>", IRRUN_DATA, 1, 1, "<net> has no version", "begins with <net");
    check_bad("<net version=\"x\"/>", IRRUN_DATA, 1, 1, "version is \"x\"", "begins with <net");
    check_bad("<net version=\"7\"/>", IRRUN_UNSUPPORTED, 1, 1,
              "IR version 7 is that of OpenVINO 2019", "convert");
    check_bad("<net version=\"12\"/>", IRRUN_UNSUPPORTED, 1, 1, "IR version 12 is newer",
              "OpenVINO 2026");
    check_bad("<net version=\"11\"/>", IRRUN_DATA, 1, 1, "there are no layers", "<layers>");
}

static void refuses_files_of_other_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *kind;
    } files[] = {
        {"PK\003\004\024\0\0\0", 8, "is a zip archive"},
        {"\x1f\x8b\010\0", 4, "is compressed with gzip"},
        {"\x08\x08\x12\x07pytorch", 11, "is an ONNX model"},
        {"\x1c\0\0\0TFL3\x14\0", 10, "is a TensorFlow Lite model"},
        {"\x89HDF\r\n\x1a\n", 8, "is an HDF5 file"},
        {"\x93NUMPY\1\0", 8, "is a NumPy array"},
        {"{\"format\": 1}", 13, "is JSON"},
        {"\0\0\x80?\0\0\x80?", 8, "is a binary file, such as the weights"},
        {"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", 57, "is a git-LFS pointer"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        for (size_t piece = 0; piece <= 64; piece += 64) {
            struct ir_model model;
            struct irrun_error err;
            assert_false(load_bytes(files[i].bytes, files[i].n, piece, &model, &err));
            assert_int_equal(err.code, IRRUN_DATA);
            assert_non_null(strstr(err.message, files[i].kind));
            assert_true(err.hint[0] != '\0');
        }
    }
}

static void refuses_a_file_that_cannot_be_read(void **state)
{
    (void)state;
    struct ir_model model;
    struct irrun_error err;
    error_clear(&err);
    assert_false(ir_load("no/such/model.xml", NULL, true, 0, &model, &err));
    assert_int_equal(err.code, IRRUN_NO_INPUT);
    assert_string_equal(err.file, "no/such/model.xml");
    error_clear(&err);
    assert_false(ir_load("/", NULL, true, 0, &model, &err));
    assert_int_equal(err.code, IRRUN_NO_INPUT);
}

static void refuses_bad_layers(void **state)
{
    (void)state;
    check_bad(ONE_LAYER("<layer type=\"Result\"/>\n"), IRRUN_DATA, 3, 1, "<layer> has no id",
              "id=");
    check_bad(ONE_LAYER("<layer id=\"-1\" type=\"Result\"/>\n"), IRRUN_DATA, 3, 1,
              "id is \"-1\", expected a whole number below 4294967295", "numbers");
    check_bad(ONE_LAYER("<layer id=\"4294967295\" type=\"Result\"/>\n"), IRRUN_DATA, 3, 1,
              "id is \"4294967295\"", "numbers");
    check_bad(ONE_LAYER("<layer id=\"7\"/>\n"), IRRUN_DATA, 3, 1, "<layer> 7 has no type", "type=");
    check_bad(ONE_LAYER("<layer id=\"7\" type=\"\"/>\n"), IRRUN_DATA, 3, 1, "<layer> 7 has no type",
              "type=");
    check_bad(ONE_LAYER(PARAMETER("3", "a") PARAMETER("5", "b") RESULT("3", "c")), IRRUN_DATA, 5, 1,
              "layer id 3 of Result \"c\" is already used by Parameter \"a\" at line 3, column 1",
              "id of its own");
    check_bad(ONE_LAYER(LAYER("0", "x", "Parameter", "opset1",
                              "<data shape=\"\" element_type=\"f32\"/><data/>")),
              IRRUN_DATA, 3, 93, "Parameter \"x\" has a second <data>", "one <data>");
}

static void refuses_bad_ports(void **state)
{
    (void)state;
    check_bad(ONE_LAYER(LAYER("0", "x", "Add", "opset1", INPUT("<port/>"))), IRRUN_DATA, 3, 59,
              "<port> has no id", "id=");
    check_bad(ONE_LAYER(LAYER("0", "x", "Add", "opset1", INPUT(PORT("1") PORT("0") PORT("1")))),
              IRRUN_DATA, 3, 1, "Add \"x\" lists port 1 twice", "id of its own");
    check_bad(ONE_LAYER(LAYER("0", "x", "Add", "opset1", OUTPUT(PORT("4") PORT("3")))), IRRUN_DATA,
              3, 1, "Add \"x\" lists 2 output ports, but the operator has 1", "extra <port>");
    check_bad(ONE_LAYER(LAYER("0", "x", "Result", "opset1", OUTPUT(PORT("0")))), IRRUN_DATA, 3, 1,
              "Result \"x\" lists 1 output ports, but the operator has 0", "extra <port>");
}

static void refuses_bad_dims(void **state)
{
    (void)state;
    static const char *const dims[] = {
        "-2",
        "",
        "a",
        "1.5",
        "1 2",
        "?",
        "9223372036854775808",
        "1<x/>x",
        "12345678901234567890123456789012345",
    };
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        char xml[600];
        snprintf(
            xml, sizeof xml,
            ONE_LAYER(LAYER("0", "x", "Add", "opset1",
                            "<input>\n<port id=\"0\"><dim>1</dim><dim>%s</dim></port></input>")),
            dims[i]);
        check_bad(xml, IRRUN_DATA, 4, 26, "expected a whole number of at least -1", "not known");
    }
}

#define PAIR PARAMETER("0", "x") ADD("1", "sum") RESULT("2", "y")

static void refuses_bad_edges(void **state)
{
    (void)state;
    check_bad(NET(PAIR, "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\"/>\n"), IRRUN_DATA, 8,
              1, "<edge> has no to-port", "to-port=");
    check_bad(NET(PAIR, EDGE("9", "0", "1", "0")), IRRUN_DATA, 8, 1,
              "the edge goes from layer 9, but there is no such layer", "between 0 and 2");
    check_bad(NET(PAIR, EDGE("0", "0", "9", "0")), IRRUN_DATA, 8, 1,
              "the edge goes to layer 9, but there is no such layer", "between 0 and 2");
    check_bad(NET(PAIR, EDGE("0", "1", "1", "0")), IRRUN_DATA, 8, 1,
              "the edge goes from port 1 of Parameter \"x\" (line 3), but there is no such output",
              "its output ports: 0");
    check_bad(NET(PAIR, EDGE("0", "0", "1", "2")), IRRUN_DATA, 8, 1,
              "the edge goes to port 2 of Add \"sum\" (line 4), but there is no such input",
              "its input ports: 0, 1");
    check_bad(NET(PAIR, EDGE("2", "0", "1", "0")), IRRUN_DATA, 8, 1, "from port 0 of Result \"y\"",
              "lists no output ports");
    check_bad(NET(PAIR, EDGE("0", "0", "1", "0") EDGE("0", "0", "1", "0")), IRRUN_DATA, 9, 1,
              "port 0 of Add \"sum\" (line 4) already has an edge, at line 8, column 1",
              "one edge");
    check_bad(NET(PAIR, EDGE("0", "0", "1", "0") EDGE("1", "2", "2", "0")), IRRUN_DATA, 4, 1,
              "Add \"sum\": no edge goes to input 1 (port 1)", "to-layer=\"1\" to-port=\"1\"");
}

/* A net without input ports, and one without output ports. */
static void refuses_edges_where_nobody_has_ports(void **state)
{
    (void)state;
    check_bad(NET(PARAMETER("0", "x"), EDGE("0", "0", "0", "0")), IRRUN_DATA, 6, 1,
              "to port 0 of Parameter \"x\"", "lists no input ports");
    check_bad(NET(RESULT("2", "y"), EDGE("2", "0", "2", "0")), IRRUN_DATA, 6, 1,
              "from port 0 of Result \"y\"", "lists no output ports");
}

static void refuses_a_mean_to_subtract(void **state)
{
    (void)state;
    check_bad(HEAD
              "<pre-process>\n<channel id=\"0\">\n<mean value=\"104\"/></channel></pre-process>\n"
              "<layers>" PARAMETER("0", "x") "</layers></net>",
              IRRUN_UNSUPPORTED, 4, 1, "<pre-process> subtracts a mean", "without mean values");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_not_well_formed),
        cmocka_unit_test(refuses_a_doctype_and_so_every_entity),
        cmocka_unit_test(refuses_other_roots_and_versions),
        cmocka_unit_test(refuses_files_of_other_kinds),
        cmocka_unit_test(refuses_a_file_that_cannot_be_read),
        cmocka_unit_test(refuses_bad_layers),
        cmocka_unit_test(refuses_bad_ports),
        cmocka_unit_test(refuses_bad_dims),
        cmocka_unit_test(refuses_bad_edges),
        cmocka_unit_test(refuses_edges_where_nobody_has_ports),
        cmocka_unit_test(refuses_a_mean_to_subtract),
    };
    return cmocka_run_group_tests_name("ir_bad", tests, NULL, NULL);
}
