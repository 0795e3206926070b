/* ir: errors that count only in live layers: unknown ops, invalid attributes, Consts and their
 * bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "ir/ir_check.h"
#include "ir/weights.h"
#include "ir_text.h"
#include "plan/passes.h"

static bool load_sorted(const char *xml, struct ir_model *model, struct irrun_error *err)
{
    load_good(xml, model);
    error_clear(err);
    return toposort(model->graph, &model->arena, err);
}

static void check_ops_fail(const char *xml, enum irrun_error_code code, uint32_t line,
                           const char *message)
{
    struct ir_model model;
    struct irrun_error err;
    assert_true(load_sorted(xml, &model, &err));
    assert_false(ir_check_ops(model.graph, &err));
    ir_free(&model);
    if (err.code != code || err.line != line || err.column != 1 ||
        strcmp(err.message, message) != 0)
        fail_test("%d at %u:%u: %s\n", (int)err.code, err.line, err.column, err.message);
    assert_true(err.hint[0] != '\0');
}

#define QUUX(id, name) LAYER(id, name, "Quux", "opset3", INPUT(PORT("0")) OUTPUT(PORT("1")))

static void lists_all_lacking_ops_at_once(void **state)
{
    (void)state;
    check_ops_fail(
        NET(PARAMETER("0", "x") QUUX("1", "a")
                LAYER("2", "b", "Tanh", "opset99", INPUT(PORT("0")) OUTPUT(PORT("1")))
                    QUUX("3", "c") QUUX("4", "dead")
                        LAYER("5", "s", "ReadValue", "opset1", INPUT(PORT("0")) OUTPUT(PORT("1")))
                            RESULT("6", "y"),
            EDGE("0", "0", "1", "0") EDGE("1", "1", "2", "0") EDGE("2", "1", "3", "0")
                EDGE("0", "0", "4", "0") EDGE("3", "1", "5", "0") EDGE("5", "1", "6", "0")),
        IRRUN_UNSUPPORTED, 4,
        "irrun does not support 3 ops of this model (4 layers):\n"
        "  2 x Quux opset3, line 4: irrun has no such op\n"
        "  1 x Tanh opset99, line 5: unsupported opset; irrun knows opset1 to opset17\n"
        "  1 x ReadValue opset1, line 8: irrun has ReadValue of opset3 to opset5 and opset6 to "
        "opset17 only");
}

static void lists_lacking_ops_of_bodies(void **state)
{
    (void)state;
    struct ir_model model;
    struct irrun_error err;
    assert_true(load_sorted(
        NET(LAYER("1", "t", "TensorIterator", "opset1",
                  OUTPUT(PORT("0")) "<body><layers>\n" QUUX("2", "q") PARAMETER("0", "a")
                      RESULT("1", "b") "</layers><edges>" EDGE("2", "1", "1", "0")
                          EDGE("0", "0", "2", "0") "</edges></body>") RESULT("2", "y"),
            EDGE("1", "0", "2", "0")),
        &model, &err));
    assert_false(ir_check_ops(model.graph, &err));
    assert_non_null(strstr(err.message, "irrun does not support 1 op of this model (1 layer)"));
    assert_non_null(strstr(err.message, "1 x Quux opset3, line 4"));
    ir_free(&model);
}

/* 300 unknown types: the message remains readable. */
static void cuts_a_list_that_is_too_long(void **state)
{
    (void)state;
    char *xml = malloc(100000);
    assert_non_null(xml);
    size_t length = (size_t)sprintf(xml, "<net version=\"11\"><layers>");
    for (int i = 0; i < 300; i++)
        length += (size_t)sprintf(
            xml + length,
            "<layer id=\"%d\" type=\"Quux%d\" version=\"opset1\">" OUTPUT(
                PORT("1")) "</layer><layer id=\"%d\" type=\"Result\">" INPUT(PORT("0")) "</layer>",
            i, i, i + 1000);
    length += (size_t)sprintf(xml + length, "</layers><edges>");
    for (int i = 0; i < 300; i++)
        length += (size_t)sprintf(xml + length,
                                  "<edge from-layer=\"%d\" from-port=\"1\" "
                                  "to-layer=\"%d\" to-port=\"0\"/>",
                                  i, i + 1000);
    sprintf(xml + length, "</edges></net>");
    struct ir_model model;
    struct irrun_error err;
    assert_true(load_sorted(xml, &model, &err));
    assert_false(ir_check_ops(model.graph, &err));
    assert_non_null(
        strstr(err.message, "irrun does not support 300 ops of this model (300 layers)"));
    assert_non_null(strstr(err.message, "and 280 more"));
    ir_free(&model);
    free(xml);
}

static void refuses_bad_attributes_of_live_layers_only(void **state)
{
    (void)state;
#define BAD                                                                                        \
    LAYER("1", "c", "Const", "opset1",                                                             \
          "<data element_type=\"f32\" shape=\"x\" offset=\"0\" size=\"4\"/>" OUTPUT(PORT("0")))
    struct ir_model model;
    struct irrun_error err;
    assert_true(load_sorted(NET(PARAMETER("0", "x") BAD RESULT("2", "y"), EDGE("0", "0", "2", "0")),
                            &model, &err));
    assert_true(ir_check_ops(model.graph, &err));
    assert_true(weights_open(&model, &err));
    ir_free(&model);
    check_ops_fail(NET(BAD RESULT("2", "y"), EDGE("1", "0", "2", "0")), IRRUN_DATA, 3,
                   "Const \"c\": attribute shape is \"x\": a dimension is a whole number, "
                   "-1, ?, or a range like 2..8, 3.. or ..5");
    check_ops_fail(
        NET(LAYER("1", "c", "Parameter", "opset1", "<data element_type=\"string\" shape=\"1\"/>"),
            ""),
        IRRUN_UNSUPPORTED, 3,
        "Parameter \"c\" has element type string, which irrun does not support");
}

/* ---- Consts ------------------------------------------------------------------------------- */

#define DATA(type, shape, offset, size)                                                            \
    "<data element_type=\"" type "\" shape=\"" shape "\" offset=\"" offset "\" size=\"" size "\"/" \
    ">"
#define CONST_NET(data)                                                                            \
    NET(LAYER("0", "c", "Const", "opset1", data OUTPUT(PORT("0"))) RESULT("1", "y"),               \
        EDGE("0", "0", "1", "0"))

/* Opens the weights of a model whose .bin has n bytes; n = SIZE_MAX: there is none. */
static bool open_with(const char *xml, const char *bytes, size_t n, struct irrun_error *err)
{
    char path[TEXT_PATH_BYTES], bin_path[TEXT_PATH_BYTES];
    struct ir_model model;
    write_temporary(xml, strlen(xml), path);
    if (n != SIZE_MAX)
        write_temporary(bytes, n, bin_path);
    error_clear(err);
    bool is_open = ir_load(path, n == SIZE_MAX ? NULL : bin_path, true, 0, &model, err);
    if (is_open) {
        is_open = toposort(model.graph, &model.arena, err) && weights_open(&model, err);
        ir_free(&model);
    }
    unlink(path);
    if (n != SIZE_MAX)
        unlink(bin_path);
    return is_open;
}

static const char bytes16[16];

static void takes_consts_that_fit(void **state)
{
    (void)state;
    struct irrun_error err;
    assert_true(open_with(CONST_NET(DATA("f32", "2,2", "0", "16")), bytes16, 16, &err));
    assert_true(open_with(CONST_NET(DATA("f32", "1", "9", "4")), bytes16, 16, &err));
    assert_true(open_with(CONST_NET(DATA("f32", "2", "0", "16")), bytes16, 16, &err));
    assert_true(open_with(CONST_NET(DATA("i4", "3", "14", "2")), bytes16, 16, &err));
    assert_true(open_with(CONST_NET(DATA("u1", "9", "14", "2")), bytes16, 16, &err));
    assert_true(open_with(CONST_NET(DATA("f32", "", "12", "4")), bytes16, 16, &err));
    assert_true(open_with(CONST_NET(DATA("f32", "0", "16", "0")), bytes16, 16, &err));
    assert_true(open_with(CONST_NET(DATA("f32", "3,0", "99", "0")), NULL, SIZE_MAX, &err));
}

static void refuses_consts_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *xml, *message;
        enum irrun_error_code code;
    } cases[] = {
        {CONST_NET(DATA("f32", "2,2", "4", "16")), "Const \"c\" needs bytes 4 to 19 of ",
         IRRUN_DATA},
        {CONST_NET(DATA("f32", "1", "17", "4")), "needs bytes 17 to 20", IRRUN_DATA},
        {CONST_NET(DATA("f32", "1", "9223372036854775807", "9223372036854775807")),
         "needs bytes 9223372036854775807 to 18446744073709551613", IRRUN_DATA},
        {CONST_NET(DATA("f32", "2", "0", "4")), "size is 4 bytes, but f32 [2] takes 8", IRRUN_DATA},
        {CONST_NET(DATA("i4", "3", "0", "1")), "size is 1 bytes, but i4 [3] takes 2", IRRUN_DATA},
        {CONST_NET(DATA("f32", "", "0", "0")), "size is 0 bytes, but f32 [] takes 4", IRRUN_DATA},
        {CONST_NET(DATA("f32", "1", "-1", "4")), "offset -1 and size 4 must not be negative",
         IRRUN_DATA},
        {CONST_NET(DATA("f32", "1", "0", "-4")), "must not be negative", IRRUN_DATA},
        {CONST_NET(DATA("f64", "4294967296,4294967296", "0", "4")), "has too many elements",
         IRRUN_DATA},
        {CONST_NET(DATA("f64", "4294967296,1073741824", "0", "4")), "has too many elements",
         IRRUN_DATA},
        {CONST_NET(DATA("string", "1", "0", "4")),
         "element type string, which irrun does not support", IRRUN_UNSUPPORTED},
        {CONST_NET(DATA("dynamic", "1", "0", "4")), "no definite element type", IRRUN_DATA},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct irrun_error err;
        assert_false(open_with(cases[i].xml, bytes16, 16, &err));
        if (err.code != cases[i].code || !strstr(err.message, cases[i].message))
            fail_test("case %zu: %d: %s\n", i, (int)err.code, err.message);
        assert_int_equal(err.line, 3);
        assert_int_equal(err.column, 1);
        assert_true(err.hint[0] != '\0');
    }
}

static void ignores_dead_consts_and_models_without_any(void **state)
{
    (void)state;
    struct irrun_error err;
    assert_true(open_with(NET(LAYER("0", "c", "Const", "opset1", DATA("f32", "2", "99", "8")), ""),
                          NULL, SIZE_MAX, &err));
}

static void needs_the_file_only_if_a_const_does(void **state)
{
    (void)state;
    struct irrun_error err;
    assert_false(open_with(CONST_NET(DATA("f32", "1", "0", "4")), NULL, SIZE_MAX, &err));
    assert_int_equal(err.code, IRRUN_NO_INPUT);
    assert_non_null(strstr(err.file, ".bin"));
    assert_non_null(strstr(err.hint, "Const \"c\""));

    struct ir_model model;
    assert_true(load_sorted(CONST_NET(DATA("f32", "1", "0", "4")), &model, &err));
    model.weights_path = NULL;
    assert_false(weights_open(&model, &err));
    assert_non_null(strstr(err.message, "standard input"));
    error_clear(&err);
    model.needs_weights = false;
    assert_true(weights_open(&model, &err));
    ir_free(&model);
}

static void tells_other_files_from_weights(void **state)
{
    (void)state;
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\n";
    struct irrun_error err;
    assert_false(open_with(CONST_NET(DATA("f32", "1", "0", "4")), pointer, sizeof pointer, &err));
    assert_int_equal(err.code, IRRUN_DATA);
    assert_non_null(strstr(err.message, "git-LFS pointer"));
    assert_non_null(strstr(err.hint, "git lfs pull"));
    static const char xml[] = "<?xml version=\"1.0\"?><net/>";
    assert_false(open_with(CONST_NET(DATA("f32", "1", "0", "4")), xml, sizeof xml, &err));
    assert_non_null(strstr(err.message, "is XML"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_all_lacking_ops_at_once),
        cmocka_unit_test(lists_lacking_ops_of_bodies),
        cmocka_unit_test(cuts_a_list_that_is_too_long),
        cmocka_unit_test(refuses_bad_attributes_of_live_layers_only),
        cmocka_unit_test(takes_consts_that_fit),
        cmocka_unit_test(refuses_consts_that_do_not_fit),
        cmocka_unit_test(ignores_dead_consts_and_models_without_any),
        cmocka_unit_test(needs_the_file_only_if_a_const_does),
        cmocka_unit_test(tells_other_files_from_weights),
    };
    return cmocka_run_group_tests_name("ir_check", tests, NULL, NULL);
}
