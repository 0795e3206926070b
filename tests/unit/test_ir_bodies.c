/* ir: TensorIterator, Loop and If with their bodies, with their XML elements in every order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text.h"
#include "ir_text.h"
#include "ops/op.h"

#define PORT_MAP                                                                                   \
    "<port_map>\n<input axis=\"1\" external_port_id=\"0\" internal_layer_id=\"10\" start=\"-1\" "  \
    "end=\"0\" stride=\"-1\" part_size=\"1\"/>\n"                                                  \
    "<input external_port_id=\"1\" internal_layer_id=\"20\"/>\n"                                   \
    "<output axis=\"0\" external_port_id=\"2\" internal_layer_id=\"40\"/>\n"                       \
    "<output external_port_id=\"2\" internal_layer_id=\"41\"/>\n"                                  \
    "<output external_port_id=\"-1\" internal_layer_id=\"40\"/>\n"                                 \
    "<output external_port_id=\"-1\" internal_layer_id=\"41\" "                                    \
    "purpose=\"execution_condition\"/>\n</port_map>"
#define BACK_EDGES "<back_edges>\n<edge from-layer=\"41\" to-layer=\"20\"/>\n</back_edges>"
#define BODY_EDGES                                                                                 \
    "<edges>" EDGE("10", "0", "30", "0") EDGE("20", "0", "30", "1") EDGE("30", "2", "40", "0")     \
        EDGE("30", "2", "41", "0") "</edges>"
#define BODY                                                                                       \
    "<body>\n<layers>\n" PARAMETER("10", "x_t") PARAMETER("20", "h") ADD("30", "step")             \
        RESULT("40", "y_t") RESULT("41", "h_next") "</layers>\n" BODY_EDGES "<rt_info/></body>"
#define PORTS INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2"))
#define MODEL(parts)                                                                               \
    NET(PARAMETER("0", "x") PARAMETER("1", "h0")                                                   \
            LAYER("2", "ti", "TensorIterator", "opset1", parts) RESULT("3", "y"),                  \
        EDGE("0", "0", "2", "0") EDGE("1", "0", "2", "1") EDGE("2", "2", "3", "0"))

static void check_body(const struct graph *graph)
{
    const struct op *op = &graph->ops[2];
    assert_int_equal(op->n_bodies, 1);
    const struct body *body = op->bodies;
    assert_string_equal(body->graph->path, "ti/body/");
    assert_int_equal(body->graph->n_ops, 5);
    assert_int_equal(body->n_inputs, 2);
    assert_int_equal(body->inputs[0].external, 0);
    assert_int_equal(body->inputs[0].internal_id, 0);
    assert_true(body->inputs[0].has_axis);
    assert_int_equal(body->inputs[0].axis, 1);
    assert_int_equal(body->inputs[0].start, -1);
    assert_int_equal(body->inputs[0].end, 0);
    assert_int_equal(body->inputs[0].stride, -1);
    assert_false(body->inputs[1].has_axis);
    assert_int_equal(body->inputs[1].end, -1);
    assert_int_equal(body->inputs[1].part_size, 1);
    /* The second entry for an output is ignored. */
    assert_int_equal(body->n_outputs, 3);
    assert_int_equal(body->outputs[0].external, 0);
    assert_int_equal(body->outputs[0].internal_id, 3);
    assert_int_equal(body->outputs[1].external, -1);
    assert_int_equal(body->outputs[1].purpose, PURPOSE_NONE);
    assert_int_equal(body->outputs[2].external, -1);
    assert_int_equal(body->outputs[2].purpose, PURPOSE_EXECUTION_CONDITION);
    assert_int_equal(body->n_back_edges, 1);
    assert_int_equal(body->back_edges[0].from_id, 4);
    assert_int_equal(body->back_edges[0].to_id, 1);
}

static void takes_the_parts_of_a_loop_in_any_order(void **state)
{
    (void)state;
    static const char *const orders[] = {
        MODEL(PORT_MAP BACK_EDGES PORTS BODY),
        MODEL(BODY PORTS PORT_MAP BACK_EDGES),
        MODEL(PORTS BODY BACK_EDGES PORT_MAP),
        MODEL(PORT_MAP BODY PORTS BACK_EDGES),
    };
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct ir_model model;
        check_body(load_good(orders[i], &model));
        ir_free(&model);
    }
}

#define IF_BODY(element, type)                                                                     \
    "<" element "><edges>" EDGE("5", "0", "6", "0")                                                \
        EDGE("6", "1", "7", "0") "</edges><layers>" PARAMETER("5", "in")                           \
            LAYER("6", "f", type, "opset1", INPUT(PORT("0")) OUTPUT(PORT("1")))                    \
                RESULT("7", "out") "</layers></" element ">"
#define IF_MAP(element)                                                                            \
    "<" element "><input external_port_id=\"1\" internal_layer_id=\"5\"/><output "                 \
    "external_port_id=\"2\" internal_layer_id=\"7\"/></" element ">"

static void reads_both_bodies_of_an_if(void **state)
{
    (void)state;
    struct ir_model model;
    struct graph *graph =
        load_good(NET(PARAMETER("0", "cond") PARAMETER("1", "x")
                          LAYER("2", "if", "If", "opset8",
                                IF_MAP("else_port_map") IF_MAP("then_port_map")
                                    PORTS IF_BODY("else_body", "Tanh")
                                        IF_BODY("then_body", "Sigmoid")) RESULT("3", "y"),
                      EDGE("0", "0", "2", "0") EDGE("1", "0", "2", "1") EDGE("2", "2", "3", "0")),
                  &model);
    const struct op *op = &graph->ops[2];
    assert_int_equal(op->n_bodies, 2);
    assert_string_equal(op->bodies[0].graph->path, "if/then_body/");
    assert_string_equal(op->bodies[0].graph->ops[1].def->type, "Sigmoid");
    assert_string_equal(op->bodies[1].graph->ops[1].def->type, "Tanh");
    assert_int_equal(op->bodies[1].inputs[0].external, 1);
    assert_int_equal(op->bodies[1].outputs[0].external, 0);
    ir_free(&model);
}

/* One TensorIterator in another, `depth` times. */
static char *nest(int depth)
{
    static const char head[] = "<net version=\"11\"><layers>", tail[] = "</layers></net>";
    static const char open[] =
        "<layer id=\"0\" name=\"t\" type=\"TensorIterator\" version=\"opset1\"><body><layers>";
    static const char close[] = "</layers></body></layer>";
    struct text text = {0};
    text_add(&text, "%s", head);
    for (int i = 0; i < depth; i++)
        text_add(&text, "%s", open);
    text_add(&text, "<layer id=\"0\" type=\"Quux\"/>");
    for (int i = 0; i < depth; i++)
        text_add(&text, "%s", close);
    text_add(&text, "%s", tail);
    assert_false(text.is_failed);
    return text.data;
}

static void reads_bodies_within_bodies(void **state)
{
    (void)state;
    struct ir_model model;
    char *xml = nest(64);
    const struct graph *graph = load_good(xml, &model);
    int depth = 0;
    for (; graph->ops[0].n_bodies != 0; depth++)
        graph = graph->ops[0].bodies[0].graph;
    assert_int_equal(depth, 64);
    assert_int_equal(strlen(graph->path), 64 * strlen("t/body/"));
    ir_free(&model);
    free(xml);
    xml = nest(65);
    struct irrun_error err;
    assert_false(load_bytes(xml, strlen(xml), 0, &model, &err));
    assert_int_equal(err.code, IRRUN_UNSUPPORTED);
    assert_non_null(strstr(err.message, "more than 64 deep"));
    free(xml);
}

static void skips_bodies_of_other_layers(void **state)
{
    (void)state;
    struct ir_model model;
    struct graph *graph = load_good(
        NET(PARAMETER("0", "x") LAYER("1", "q", "Quux", "opset1", PORT_MAP BACK_EDGES BODY), ""),
        &model);
    assert_int_equal(graph->ops[1].n_bodies, 0);
    ir_free(&model);
}

static void refuses_bad_port_maps(void **state)
{
    (void)state;
    check_bad(MODEL(PORTS), IRRUN_DATA, 5, 1, "TensorIterator \"ti\" has no <body>", "<layers>");
    check_bad(MODEL(PORTS "<body>\n</body>"), IRRUN_DATA, 5, 138, "there are no layers",
              "<layers>");
    check_bad(MODEL(PORTS BODY "\n<body>"), IRRUN_DATA, 18, 1, "has a second <body>", "remove");
#define MAP(entry) MODEL(PORTS BODY "<port_map>\n" entry "</port_map>")
    check_bad(MAP("<input internal_layer_id=\"10\"/>"), IRRUN_DATA, 18, 1, "no external_port_id",
              "-1");
    check_bad(MAP("<input external_port_id=\"-2\" internal_layer_id=\"10\"/>"), IRRUN_DATA, 18, 1,
              "external_port_id is \"-2\"", "-1");
    check_bad(MAP("<input external_port_id=\"0\"/>"), IRRUN_DATA, 18, 1, "no internal_layer_id",
              "internal_layer_id=");
    check_bad(MAP("<input external_port_id=\"2\" internal_layer_id=\"10\"/>"), IRRUN_DATA, 18, 1,
              "external_port_id 2 is not an input port of TensorIterator \"ti\" (line 5)",
              "<port>");
    check_bad(MAP("<input external_port_id=\"0\" internal_layer_id=\"11\"/>"), IRRUN_DATA, 18, 1,
              "the body has no layer 11, expected a Parameter", "Parameters");
    check_bad(MAP("<output external_port_id=\"2\" internal_layer_id=\"30\"/>"), IRRUN_DATA, 18, 1,
              "layer 30 of the body is Add \"step\" (line 9), expected a Result", "Results");
    check_bad(MAP("<input external_port_id=\"0\" internal_layer_id=\"10\" axis=\"x\"/>"),
              IRRUN_DATA, 18, 1, "axis is \"x\"", "from the end");
    check_bad(MAP("<input external_port_id=\"0\" internal_layer_id=\"10\" purpose=\"x\"/>"),
              IRRUN_DATA, 18, 1, "purpose is \"x\"", "leave it out");
    check_bad(NET(LAYER("1", "ti", "TensorIterator", "opset1",
                        BODY "<port_map>\n<input external_port_id=\"0\" "
                             "internal_layer_id=\"10\"/></port_map>"),
                  ""),
              IRRUN_DATA, 16, 1, "external_port_id 0 is not an input port", "<port>");
    check_bad(
        MODEL(PORTS BODY "<back_edges>\n<edge from-layer=\"41\" to-layer=\"30\"/></back_edges>"),
        IRRUN_DATA, 18, 1, "layer 30 of the body is Add", "Parameters");
    check_bad(MODEL(PORTS BODY "<back_edges>\n<edge to-layer=\"30\"/></back_edges>"), IRRUN_DATA,
              18, 1, "<edge> has no from-layer", "from-layer=");
}

static void finds_bad_edges_in_a_body(void **state)
{
    (void)state;
    check_bad(
        MODEL(PORTS "<body><layers>\n" PARAMETER("0", "a") PARAMETER("0", "b") "</layers></body>"),
        IRRUN_DATA, 7, 1,
        "layer id 0 of Parameter \"b\" is already used by Parameter \"a\" at line 6, column 1",
        "id of its own");
    check_bad(MODEL(PORTS "<body><layers>\n" PARAMETER("0", "a") "</layers><edges>\n" EDGE(
                  "0", "0", "3", "0") "</edges></body>"),
              IRRUN_DATA, 8, 1, "the edge goes to layer 3", "between 0 and 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_parts_of_a_loop_in_any_order),
        cmocka_unit_test(reads_both_bodies_of_an_if),
        cmocka_unit_test(reads_bodies_within_bodies),
        cmocka_unit_test(skips_bodies_of_other_layers),
        cmocka_unit_test(refuses_bad_port_maps),
        cmocka_unit_test(finds_bad_edges_in_a_body),
    };
    return cmocka_run_group_tests_name("ir_bodies", tests, NULL, NULL);
}
