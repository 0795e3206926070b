/* An iteration that fails does not change variables, even if their Assign has run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "ir_text.h"

/* total += x; quotient = 100 / x on integers, which fails for x = 0 after total was assigned. */
static const char division[] = NET(
    LAYER("0", "x", "Parameter", "opset1",
          "<data shape=\"1\" element_type=\"i32\"/>" OUTPUT(PORT("0"))) /**/
    LAYER("1", "read", "ReadValue", "opset6",
          "<data variable_id=\"total\" variable_type=\"i32\" variable_shape=\"1\"/>" OUTPUT(
              PORT("0")))                                                                    /**/
    ADD("2", "add")                                                                          /**/
    LAYER("3", "keep", "Assign", "opset6", "<data variable_id=\"total\"/>" INPUT(PORT("0"))) /**/
    LAYER("4", "divide", "Divide", "opset1",
          "<data m_pythondiv=\"true\"/>" INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2"))) /**/
    RESULT("5", "out"),
    EDGE("0", "0", "2", "0") EDGE("1", "0", "2", "1") EDGE("2", "2", "3", "0")
        EDGE("2", "2", "4", "0") EDGE("0", "0", "4", "1") EDGE("4", "2", "5", "0"));

struct opened {
    struct irrun_model *model;
    struct irrun_session *session;
    int32_t x;
};

static void open_division(struct opened *opened)
{
    char path[TEXT_PATH_BYTES];
    struct irrun_error err;
    write_temporary(division, sizeof division - 1, path);
    bool is_loaded = irrun_model_load(path, NULL, &opened->model, &err);
    unlink(path);
    if (!is_loaded)
        fail_test("%u:%u: %s\n", err.line, err.column, err.message);
    assert_true(irrun_session_new(opened->model, &opened->session, &err));
    struct irrun_tensor in = {IRRUN_I32, {1, {1}}, &opened->x};
    assert_true(irrun_session_set_input(opened->session, 0, &in, &err));
}

static void close_division(struct opened *opened)
{
    irrun_session_free(opened->session);
    irrun_model_free(opened->model);
}

static int32_t total_of(const struct opened *opened)
{
    return *(const int32_t *)irrun_session_variable(opened->session, 0)->data;
}

static void leaves_a_set_variable_as_it_was(void **state)
{
    (void)state;
    struct opened opened;
    struct irrun_error err;
    open_division(&opened);
    opened.x = 7;
    assert_true(irrun_session_run(opened.session, &err));
    assert_int_equal(total_of(&opened), 7);
    opened.x = 0;
    assert_false(irrun_session_run(opened.session, &err));
    assert_int_equal(err.code, IRRUN_DATA);
    assert_non_null(strstr(err.message, "divide"));
    assert_int_equal(total_of(&opened), 7);
    opened.x = 5;
    assert_true(irrun_session_run(opened.session, &err));
    assert_int_equal(total_of(&opened), 12);
    close_division(&opened);
}

static void leaves_an_unset_variable_unset(void **state)
{
    (void)state;
    struct opened opened;
    struct irrun_error err;
    open_division(&opened);
    opened.x = 0;
    assert_false(irrun_session_run(opened.session, &err));
    assert_null(irrun_session_variable(opened.session, 0));
    close_division(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_a_set_variable_as_it_was),
        cmocka_unit_test(leaves_an_unset_variable_unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
