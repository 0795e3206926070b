/* ir: old and unusual files that a reader must accept, and their graphs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text.h"
#include "graph_dump.h"
#include "ir_text.h"
#include "ops/op_state.h"

#define SUM_LAYERS PARAMETER("0", "a") PARAMETER("1", "b") ADD("2", "sum") RESULT("3", "y")
#define SUM_EDGES EDGE("0", "0", "2", "0") EDGE("1", "0", "2", "1") EDGE("2", "2", "3", "0")

static void check_dump(const struct graph *graph, const char *part)
{
    struct text text = {0};
    graph_dump(graph, &text);
    assert_false(text.is_failed);
    if (!strstr(text.data, part))
        fail_test("no \"%s\" in\n%s\n", part, text.data);
    text_free(&text);
}

static void check_sum(const struct graph *graph)
{
    assert_int_equal(graph->n_ops, 4);
    assert_int_equal(graph->n_parameters, 2);
    assert_int_equal(graph->n_results, 1);
    const struct op *sum = &graph->ops[2];
    assert_string_equal(value_producer(graph, op_input(graph, sum, 0))->name, "a");
    assert_string_equal(value_producer(graph, op_input(graph, sum, 1))->name, "b");
    const struct op *result = &graph->ops[graph->results[0]];
    assert_ptr_equal(value_producer(graph, op_input(graph, result, 0)), sum);
}

static void check_same_as_sum(const char *xml)
{
    struct ir_model model;
    check_sum(load_good(xml, &model));
    ir_free(&model);
}

static void reads_layers_and_edges(void **state)
{
    (void)state;
    struct ir_model model;
    struct graph *graph = load_good(NET(SUM_LAYERS, SUM_EDGES), &model);
    check_sum(graph);
    assert_string_equal(graph->name, "n");
    assert_string_equal(graph->path, "");
    assert_int_equal(graph->ir_version, 11);
    assert_int_equal(graph->ops[2].line, 5);
    assert_int_equal(graph->ops[2].column, 1);
    assert_int_equal(graph->n_order, 0);
    check_dump(graph, "2 at 5:1 Add-1 \"sum\"");
    ir_free(&model);
}

static void takes_edges_before_layers_and_in_any_order(void **state)
{
    (void)state;
    check_same_as_sum("<net version=\"10\"><edges>" EDGE("2", "2", "3", "0") EDGE(
        "1", "0", "2", "1") "</edges><layers>" SUM_LAYERS
                            "</layers><edges>" EDGE("0", "0", "2", "0") "</edges></"
                                                                        "net>");
}

static void takes_the_root_in_capitals(void **state)
{
    (void)state;
    check_same_as_sum("<!-- c --><NET version=\" 11 \"><layers>" SUM_LAYERS
                      "</layers><edges>" SUM_EDGES "</edges></NET><!-- d -->\n");
}

static void takes_byte_order_marks_and_utf_16(void **state)
{
    (void)state;
    check_same_as_sum("\xef\xbb\xbf<?xml version=\"1.0\"?>" NET(SUM_LAYERS, SUM_EDGES));
    static const char xml[] = NET(SUM_LAYERS, SUM_EDGES);
    char wide[2 * sizeof xml] = "\xff\xfe";
    for (size_t i = 0; i + 1 < sizeof xml; i++)
        wide[2 + 2 * i] = xml[i];
    struct ir_model model;
    struct irrun_error err;
    assert_true(load_bytes(wide, 2 * sizeof xml, 0, &model, &err));
    check_sum(model.graph);
    ir_free(&model);
}

static void takes_latin_1_and_crlf(void **state)
{
    (void)state;
    struct ir_model model;
    struct graph *graph =
        load_good("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\r\n<net "
                  "version=\"11\">\r\n<layers>\r\n" PARAMETER("0", "gr\xfc\xdf") "</layers></net>",
                  &model);
    assert_string_equal(graph->ops[0].name, "gr\xc3\xbc\xc3\x9f");
    assert_int_equal(graph->ops[0].line, 4);
    ir_free(&model);
}

/* Inside rt_info and similar elements, any element is allowed, layers too. */
static void skips_what_is_not_the_graph(void **state)
{
    (void)state;
    check_same_as_sum(
        "<net version=\"11\"><rt_info><layers><layer id=\"9\"/></layers><net/></rt_info>"
        "<statistics><layer><name>x</name><min>1</min></layer></statistics>"
        "<meta_data><MO_version value=\"x\"/><edges><edge/></edges></meta_data>"
        "<quantization_parameters/><pre-process mean-precision=\"FP32\"><channel id=\"0\"/>"
        "</pre-process><layers><rt_info><layer/></rt_info>" PARAMETER("0", "a") LAYER(
            "1", "b", "Parameter", "opset1",
            "<data shape=\"2\" element_type=\"f32\"/><rt_info><attribute name=\"x\"/><data/>"
            "<input><port/></input></rt_info><unknown><data/></unknown>"
            "<output><port id=\"0\"><dim>2</dim><rt_info><dim>x</dim></rt_info></port></output>")
            ADD("2", "sum") RESULT("3", "y") "</layers><edges>" SUM_EDGES "</edges></net>");
}

static void takes_stray_attributes_and_layers_without_a_version(void **state)
{
    (void)state;
    check_same_as_sum("<net version=\"10\"><layers>" PARAMETER("0", "a") PARAMETER(
        "1", "b") "<layer id=\"2\" name=\"sum\" type=\"ADD\" precision=\"FP32\">"
                  "<data element_type=\"f32\" axis=\"1\"/>" INPUT(PORT("0") PORT("1"))
                          OUTPUT(PORT("2")) "</layer>" RESULT("3", "y") "</layers><edges>" SUM_EDGES
                                                                        "</edges></net>");
}

static void takes_sparse_ids_and_ports_with_gaps(void **state)
{
    (void)state;
    check_same_as_sum(
        NET(LAYER("4000000000", "a", "Parameter", "opset1",
                  "<data shape=\"2\" element_type=\"f32\"/>" OUTPUT(PORT("1"))) PARAMETER("77", "b")
                LAYER("3", "sum", "Add", "opset1", INPUT(PORT("9") PORT("4")) OUTPUT(PORT("12")))
                    RESULT("0", "y"),
            EDGE("77", "0", "3", "4") EDGE("3", "12", "0", "0") EDGE("4000000000", "1", "3", "9")));
}

static void reads_dims_in_every_notation(void **state)
{
    (void)state;
    struct ir_model model;
    load_good(NET(LAYER("0", "x", "Parameter", "opset1",
                        "<data shape=\"2\" element_type=\"f32\"/>"
                        "<output><port id=\"0\"><dim> 2\n</dim><dim><![CDATA[-1]]></dim>"
                        "<dim>1<!-- c -->2</dim><dim>0</dim><dim>&#49;</dim></port></output>"),
                  ""),
              &model);
    ir_free(&model);
}

static void splits_names_at_commas_that_are_not_escaped(void **state)
{
    (void)state;
    struct ir_model model;
    struct graph *graph =
        load_good(NET("<layer id=\"0\" name=\"p\" type=\"Parameter\" version=\"opset1\"><data "
                      "shape=\"\" element_type=\"f32\"/><output><port id=\"0\" "
                      "names=\"a:0,b\\,c,,d\\e, &lt;f&gt;\"/></output></layer>"
                      "<layer id=\"1\" name=\"r\" type=\"Result\" version=\"opset1\" "
                      "output_names=\"out,Result_1\">" INPUT(PORT("0")) "</layer>",
                      EDGE("0", "0", "1", "0")),
                  &model);
    static const char *const names[] = {"a:0", "b,c", "d\\e", " <f>"};
    assert_int_equal(graph->values[0].n_names, 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(graph->values[0].names[i], names[i]);
    assert_int_equal(graph->ops[1].n_output_names, 2);
    assert_string_equal(graph->ops[1].output_names[1], "Result_1");
    ir_free(&model);
}

static void keeps_names_of_any_length(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    char *xml = malloc(2 * LENGTH + 1000), *name = malloc(LENGTH + 1);
    assert_true(xml && name);
    memset(name, 'n', LENGTH);
    name[LENGTH] = '\0';
    sprintf(xml,
            "<net version=\"11\"><layers><layer id=\"0\" name=\"%s\" type=\"Parameter\" "
            "version=\"opset1\"><data shape=\"\" element_type=\"f32\"/><output><port id=\"0\" "
            "names=\"a,%s\"/></output></layer></layers></net>",
            name, name);
    struct ir_model model;
    struct graph *graph = load_good(xml, &model);
    assert_string_equal(graph->ops[0].name, name);
    assert_string_equal(graph->values[0].names[1], name);
    ir_free(&model);
    free(name);
    free(xml);
}

static void keeps_layers_of_unknown_type_and_with_bad_attributes(void **state)
{
    (void)state;
    struct ir_model model;
    struct graph *graph =
        load_good(NET(LAYER("0", "q", "Quux", "opset1", OUTPUT(PORT("0") PORT("1")))
                          LAYER("1", "p", "Parameter", "opset1", "<data shape=\"x\"/>")
                              LAYER("2", "r", "Relu", "opset99", ""),
                      ""),
                  &model);
    const struct op *ops = graph->ops;
    assert_true(!ops[0].def && ops[0].fault && ops[0].fault->code == IRRUN_UNSUPPORTED);
    assert_string_equal(ops[0].fault->type, "Quux");
    assert_int_equal(ops[0].n_outputs, 2);
    assert_true(ops[1].def && !ops[1].attrs && ops[1].fault->code == IRRUN_DATA);
    assert_non_null(strstr(ops[1].fault->message, "element_type is missing"));
    assert_non_null(strstr(ops[2].fault->message, "unsupported opset"));
    ir_free(&model);
}

/* Until 2020.2 a Const had the offset of its bytes, and its port the type and shape. */
static void takes_type_and_shape_of_an_old_const_from_its_port(void **state)
{
    (void)state;
    struct ir_model model;
    struct graph *graph = load_good(
        NET(LAYER("0", "c", "Const", "opset1",
                  "<data offset=\"8\" size=\"24\"/><output><port id=\"1\" precision=\"FP16\">"
                  "<dim>3</dim><dim>4</dim></port></output>")
                LAYER("1", "d", "Const", "opset1",
                      "<data offset=\"8\" size=\"24\"/>" OUTPUT(PORT("1")))
                    LAYER("2", "e", "Const", "opset1",
                          "<data offset=\"0\" size=\"4\" element_type=\"f32\"/><output><port "
                          "id=\"1\" precision=\"FP32\"><dim>-1</dim></port></output>"),
            ""),
        &model);
    const struct const_attrs *attrs = graph->ops[0].attrs;
    assert_int_equal(attrs->element_type, IRRUN_F16);
    assert_int_equal(attrs->shape.rank, 2);
    assert_int_equal(attrs->shape.dims[1], 4);
    assert_int_equal(attrs->offset, 8);
    assert_non_null(strstr(graph->ops[1].fault->message, "element_type is missing"));
    assert_non_null(strstr(graph->ops[2].fault->message, "shape is missing"));
    ir_free(&model);
}

static void gives_an_op_all_its_outputs(void **state)
{
    (void)state;
    struct ir_model model;
    struct graph *graph =
        load_good(NET(PARAMETER("0", "x") LAYER("1", "w", "Assign", "opset6",
                                                "<data variable_id=\"v\"/>" INPUT(PORT("0")))
                          LAYER("2", "u", "Assign", "opset3",
                                "<data variable_id=\"v\"/>" INPUT(PORT("0")) OUTPUT(PORT("1")))
                              RESULT("3", "y"),
                      EDGE("0", "0", "1", "0") EDGE("0", "0", "2", "0") EDGE("2", "1", "3", "0")),
                  &model);
    assert_int_equal(graph->ops[1].n_outputs, 1);
    assert_int_equal(graph->ops[2].n_outputs, 1);
    assert_int_equal(graph->ops[3].n_outputs, 0);
    assert_int_equal(graph->values[graph->ops[1].first_output].op_id, 1);
    assert_int_equal(op_input(graph, &graph->ops[3], 0), graph->ops[2].first_output);
    ir_free(&model);
}

static void guesses_the_path_of_the_weights(void **state)
{
    (void)state;
    struct ir_model model;
    struct irrun_error err;
    char path[TEXT_PATH_BYTES], expected[TEXT_PATH_BYTES + 8], xml_path[TEXT_PATH_BYTES + 8];
    write_temporary(NET(SUM_LAYERS, SUM_EDGES), strlen(NET(SUM_LAYERS, SUM_EDGES)), path);
    error_clear(&err);
    snprintf(expected, sizeof expected, "%s.bin", path);
    assert_true(ir_load(path, NULL, true, 0, &model, &err));
    assert_string_equal(model.weights_path, expected);
    assert_false(model.has_weights_path);
    ir_free(&model);
    assert_true(ir_load(path, "w.bin", true, 0, &model, &err));
    assert_string_equal(model.weights_path, "w.bin");
    assert_true(model.has_weights_path);
    ir_free(&model);
    snprintf(xml_path, sizeof xml_path, "%s.XML", path);
    assert_int_equal(rename(path, xml_path), 0);
    assert_true(ir_load(xml_path, NULL, true, 0, &model, &err));
    assert_string_equal(model.weights_path, expected);
    ir_free(&model);
    unlink(xml_path);
}

static void reads_standard_input(void **state)
{
    (void)state;
    struct ir_model model;
    struct irrun_error err;
    char path[TEXT_PATH_BYTES];
    write_temporary(NET(SUM_LAYERS, SUM_EDGES), strlen(NET(SUM_LAYERS, SUM_EDGES)), path);
    error_clear(&err);
    int kept = dup(STDIN_FILENO);
    assert_non_null(freopen(path, "r", stdin));
    bool is_read = ir_load("-", NULL, true, 0, &model, &err);
    dup2(kept, STDIN_FILENO);
    close(kept);
    unlink(path);
    assert_true(is_read);
    check_sum(model.graph);
    assert_string_equal(model.graph->file, "standard input");
    assert_null(model.weights_path);
    ir_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_layers_and_edges),
        cmocka_unit_test(takes_edges_before_layers_and_in_any_order),
        cmocka_unit_test(takes_the_root_in_capitals),
        cmocka_unit_test(takes_byte_order_marks_and_utf_16),
        cmocka_unit_test(takes_latin_1_and_crlf),
        cmocka_unit_test(skips_what_is_not_the_graph),
        cmocka_unit_test(takes_stray_attributes_and_layers_without_a_version),
        cmocka_unit_test(takes_sparse_ids_and_ports_with_gaps),
        cmocka_unit_test(reads_dims_in_every_notation),
        cmocka_unit_test(splits_names_at_commas_that_are_not_escaped),
        cmocka_unit_test(keeps_names_of_any_length),
        cmocka_unit_test(keeps_layers_of_unknown_type_and_with_bad_attributes),
        cmocka_unit_test(takes_type_and_shape_of_an_old_const_from_its_port),
        cmocka_unit_test(gives_an_op_all_its_outputs),
        cmocka_unit_test(guesses_the_path_of_the_weights),
        cmocka_unit_test(reads_standard_input),
    };
    return cmocka_run_group_tests_name("ir_good", tests, NULL, NULL);
}
