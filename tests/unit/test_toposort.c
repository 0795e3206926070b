/* plan/toposort: live ops, their order, and cycles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text.h"
#include "ir_text.h"
#include "plan/passes.h"

#define READ(id, name, variable)                                                                   \
    LAYER(id, name, "ReadValue", "opset6", "<data variable_id=\"" variable "\"/>" OUTPUT(PORT("0")))
#define READ_FROM(id, name, variable)                                                              \
    LAYER(id, name, "ReadValue", "opset6",                                                         \
          "<data variable_id=\"" variable "\"/>" INPUT(PORT("0")) OUTPUT(PORT("1")))
#define ASSIGN(id, name, variable)                                                                 \
    LAYER(id, name, "Assign", "opset6", "<data variable_id=\"" variable "\"/>" INPUT(PORT("0")))
#define TANH(id, name) LAYER(id, name, "Tanh", "opset1", INPUT(PORT("0")) OUTPUT(PORT("1")))

static void check_order(const char *xml, const char *expected)
{
    struct ir_model model;
    struct irrun_error err;
    struct graph *graph = load_good(xml, &model);
    error_clear(&err);
    if (!toposort(graph, &model.arena, &err))
        fail_test("%u: %s\n", err.line, err.message);
    struct text text = {0};
    for (uint32_t i = 0; i < graph->n_order; i++)
        text_add(&text, i == 0 ? "%s" : " %s", graph->ops[graph->order[i]].name);
    assert_string_equal(text.data, expected);
    text_free(&text);
    ir_free(&model);
}

static void check_cycle(const char *xml, uint32_t line, const char *message, const char *hint)
{
    struct ir_model model;
    struct irrun_error err;
    struct graph *graph = load_good(xml, &model);
    error_clear(&err);
    assert_false(toposort(graph, &model.arena, &err));
    assert_int_equal(err.code, IRRUN_DATA);
    assert_int_equal(err.line, line);
    assert_string_equal(err.message, message);
    assert_non_null(strstr(err.hint, hint));
    ir_free(&model);
}

static void puts_parameters_first_then_what_the_roots_need(void **state)
{
    (void)state;
    check_order(NET(RESULT("9", "y") ADD("5", "late") TANH("4", "left") TANH("3", "right")
                        PARAMETER("2", "unused") PARAMETER("1", "x"),
                    EDGE("5", "2", "9", "0") EDGE("3", "1", "5", "1") EDGE("4", "1", "5", "0")
                        EDGE("1", "0", "3", "0") EDGE("1", "0", "4", "0")),
                "unused x left right late y");
}

static void drops_what_nothing_needs(void **state)
{
    (void)state;
    check_order(NET(PARAMETER("0", "x") TANH("1", "dead")
                        LAYER("2", "worse", "Quux", "opset1", INPUT(PORT("0")) OUTPUT(PORT("1")))
                            RESULT("3", "y"),
                    EDGE("0", "0", "1", "0") EDGE("1", "1", "2", "0") EDGE("0", "0", "3", "0")),
                "x y");
}

static void keeps_what_an_assign_needs(void **state)
{
    (void)state;
    check_order(NET(PARAMETER("0", "x") TANH("1", "next") ASSIGN("2", "w", "v") READ("3", "r", "v"),
                    EDGE("0", "0", "1", "0") EDGE("1", "1", "2", "0")),
                "x next r w");
}

static void takes_an_assign_of_unknown_version_for_a_root(void **state)
{
    (void)state;
    check_order(NET(PARAMETER("0", "x") LAYER("2", "w", "Assign", "opset1",
                                              "<data variable_id=\"v\"/>" INPUT(PORT("0"))),
                    EDGE("0", "0", "2", "0")),
                "x w");
}

static void orders_a_swap(void **state)
{
    (void)state;
    check_order(NET(READ("0", "a", "a") READ("1", "b", "b") ASSIGN("2", "wa", "a")
                        ASSIGN("3", "wb", "b"),
                    EDGE("1", "0", "2", "0") EDGE("0", "0", "3", "0")),
                "b a wa wb");
}

static void names_two_layers_of_a_cycle(void **state)
{
    (void)state;
    check_cycle(NET(PARAMETER("0", "x") ADD("1", "sum") TANH("2", "back") RESULT("3", "y"),
                    EDGE("0", "0", "1", "0") EDGE("2", "1", "1", "1") EDGE("1", "2", "2", "0")
                        EDGE("2", "1", "3", "0")),
                4,
                "cycle: Add \"sum\" needs Tanh \"back\" (line 5, column 1), which needs it in turn",
                "ReadValue and Assign");
    check_cycle(
        NET(TANH("1", "t") RESULT("2", "y"), EDGE("1", "1", "1", "0") EDGE("1", "1", "2", "0")), 3,
        "cycle: Tanh \"t\" needs its own output", "ReadValue");
}

/* A ReadValue cannot depend on an Assign of the same iteration. */
static void finds_a_cycle_through_a_variable(void **state)
{
    (void)state;
    check_cycle(
        NET(PARAMETER("0", "x")
                LAYER("1", "w", "Assign", "opset6",
                      "<data variable_id=\"v\"/>" INPUT(PORT("0")) OUTPUT(PORT("1")))
                    READ_FROM("2", "r", "v") RESULT("3", "y"),
            EDGE("0", "0", "1", "0") EDGE("1", "1", "2", "0") EDGE("2", "1", "3", "0")),
        5, "cycle: ReadValue \"r\" needs Assign \"w\" (line 4, column 1), which needs it in turn",
        "ReadValue and Assign");
}

static void ignores_a_dead_cycle(void **state)
{
    (void)state;
    check_order(NET(PARAMETER("0", "x") TANH("1", "a") RESULT("2", "y"),
                    EDGE("1", "1", "1", "0") EDGE("0", "0", "2", "0")),
                "x y");
}

/* A recursive function would overflow the stack. */
static void sorts_a_chain_of_any_length(void **state)
{
    (void)state;
    enum { N = 200000 };
    struct text text = {0};
    text_add(&text, "<net version=\"11\"><edges>");
    for (int i = 1; i <= N; i++)
        text_add(&text, "<edge from-layer=\"%d\" from-port=\"1\" to-layer=\"%d\" to-port=\"0\"/>",
                 i - 1, i);
    text_add(&text, "</edges><layers><layer id=\"%d\" type=\"Result\">" INPUT(PORT("0")) "</layer>",
             N);
    for (int i = N - 1; i > 0; i--)
        text_add(&text,
                 "<layer id=\"%d\" type=\"Tanh\">" INPUT(PORT("0")) OUTPUT(PORT("1")) "</layer>",
                 i);
    text_add(&text,
             "<layer id=\"0\" type=\"Parameter\"><data shape=\"\" element_type=\"f32\"/>" OUTPUT(
                 PORT("1")) "</layer></layers></net>");
    assert_false(text.is_failed);
    struct ir_model model;
    struct irrun_error err;
    struct graph *graph = load_good(text.data, &model);
    error_clear(&err);
    assert_true(toposort(graph, &model.arena, &err));
    assert_int_equal(graph->n_order, N + 1);
    assert_int_equal(graph->order[0], N);
    assert_int_equal(graph->order[N], 0);
    ir_free(&model);
    text_free(&text);
}

static void sorts_bodies_of_live_ops(void **state)
{
    (void)state;
    struct ir_model model;
    struct irrun_error err;
    struct graph *graph =
        load_good(NET(LAYER("1", "t", "TensorIterator", "opset1",
                            OUTPUT(PORT("0")) "<body><layers>" TANH("2", "dead") PARAMETER("0", "a")
                                RESULT("1", "b") "</layers><edges>" EDGE("0", "0", "1", "0")
                                    EDGE("0", "0", "2", "0") "</edges></body>") RESULT("2", "y"),
                      EDGE("1", "0", "2", "0")),
                  &model);
    error_clear(&err);
    assert_true(toposort(graph, &model.arena, &err));
    assert_int_equal(graph->ops[0].bodies[0].graph->n_order, 2);
    ir_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_parameters_first_then_what_the_roots_need),
        cmocka_unit_test(drops_what_nothing_needs),
        cmocka_unit_test(keeps_what_an_assign_needs),
        cmocka_unit_test(takes_an_assign_of_unknown_version_for_a_root),
        cmocka_unit_test(orders_a_swap),
        cmocka_unit_test(names_two_layers_of_a_cycle),
        cmocka_unit_test(finds_a_cycle_through_a_variable),
        cmocka_unit_test(ignores_a_dead_cycle),
        cmocka_unit_test(sorts_a_chain_of_any_length),
        cmocka_unit_test(sorts_bodies_of_live_ops),
    };
    return cmocka_run_group_tests_name("toposort", tests, NULL, NULL);
}
