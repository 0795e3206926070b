/* Products that threads share give the same bytes for every number of threads: batches of products,
 * rows and panels of one product, attention, with and without epilogues.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "ir_text.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

#define OPERAND(id)                                                                                \
    LAYER(id, "p" id, "Parameter", "opset1",                                                       \
          "<data shape=\"%s\" element_type=\"%s\"/>" OUTPUT(PORT("0")))
#define MATMUL(ta, tb) "MatMul", "opset1", "<data transpose_a=\"" ta "\" transpose_b=\"" tb "\"/>"
#define EINSUM "Einsum", "opset7", "<data equation=\"bij,bjk->bik\"/>"
#define ATTENTION "ScaledDotProductAttention", "opset13", "<data causal=\"true\"/>"

/* In an attention, the third operand is the value; otherwise it is added to the product. */
static const struct form {
    const char *type, *opset, *attrs;
    const char *element_type, *shapes[3];
    enum irrun_gemm gemm;
} forms[] = {
    {MATMUL("false", "false"), "f32", {"260,256", "256,200", "260,200"}, IRRUN_GEMM_PACKED},
    {MATMUL("true", "true"), "f32", {"256,260", "200,256", "200"}, IRRUN_GEMM_PACKED},
    {MATMUL("true", "false"), "f32", {"300,1111", "300,40", "1111,1"}, IRRUN_GEMM_PACKED},
    {MATMUL("false", "true"), "f32", {"1111,300", "40,300", "40"}, IRRUN_GEMM_PACKED},
    {MATMUL("true", "false"), "f32", {"5,1,90,130", "5,90,70", "70"}, IRRUN_GEMM_PACKED},
    {MATMUL("false", "true"), "f32", {"3,1,200,90", "2,130,90", "130"}, IRRUN_GEMM_PACKED},
    {MATMUL("false", "true"), "f32", {"16,1,64", "16,300,64", "300"}, IRRUN_GEMM_PACKED},
    {MATMUL("false", "false"), "f32", {"93,90", "90,70", "70"}, IRRUN_GEMM_PLAIN},
    {MATMUL("true", "true"), "f32", {"90,93", "70,90", "70"}, IRRUN_GEMM_PLAIN},
    {MATMUL("false", "true"), "f64", {"93,90", "70,90", "70"}, IRRUN_GEMM_PLAIN},
    {MATMUL("false", "true"), "i16", {"93,90", "70,90", "70"}, IRRUN_GEMM_PLAIN},
    {MATMUL("true", "true"), "i32", {"90,93", "70,90", "70"}, IRRUN_GEMM_PLAIN},
    {MATMUL("false", "false"), "f32", {"7,93,90", "90,70", "70"}, IRRUN_GEMM_AUTO},
    {EINSUM, "f32", {"5,130,90", "5,90,70", "70"}, IRRUN_GEMM_PACKED},
    {EINSUM, "f32", {"1,260,256", "1,256,200", "200"}, IRRUN_GEMM_PACKED},
    {ATTENTION, "f32", {"2,5,70,64", "2,1,90,64", "2,5,90,48"}, IRRUN_GEMM_PACKED},
    {ATTENTION, "f64", {"7,30,20", "7,35,20", "1,35,48"}, IRRUN_GEMM_PLAIN},
};
#define N_RUNS 30 /* a thread misses many runs if other processes use its core */
#define N_FORMS (sizeof forms / sizeof forms[0])

static struct irrun_model *load(const struct form *form, unsigned n_threads)
{
    char xml[4096], path[TEXT_PATH_BYTES];
    bool is_attention = strncmp(form->type, "Scaled", 6) == 0;
    snprintf(xml, sizeof xml,
             "<net name=\"n\" version=\"11\"><layers>" OPERAND("0") OPERAND("1")
                 OPERAND("2") "<layer id=\"3\" name=\"s\" type=\"%s\" version=\"%s\">%s" INPUT(
                     PORT("0") PORT("1") "%s")
                     OUTPUT(PORT("3")) "</layer>" LAYER(
                         "4", "a", "Add", "opset1", INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2")))
                         RESULT("5", "r") "</layers><edges>" EDGE("0", "0", "3", "0")
                             EDGE("1", "0", "3", "1") "%s" EDGE("3", "3", "4", "0")
                                 EDGE("4", "2", "5", "0") "</edges></net>",
             form->shapes[0], form->element_type, form->shapes[1], form->element_type,
             form->shapes[2], form->element_type, form->type, form->opset, form->attrs,
             is_attention ? PORT("2") : "",
             is_attention ? EDGE("2", "0", "3", "2") EDGE("3", "3", "4", "1")
                          : EDGE("2", "0", "4", "1"));
    write_temporary(xml, strlen(xml), path);
    struct irrun_model *model;
    struct irrun_error err;
    struct irrun_options options = {.n_threads = n_threads, .gemm = form->gemm};
    bool is_loaded = irrun_model_load(path, &options, &model, &err);
    unlink(path);
    if (!is_loaded)
        fail_test("%s %s: %s\n", form->type, form->shapes[0], err.message);
    return model;
}

/* Numbers whose sums depend on the order of the additions. */
static void fill(struct irrun_tensor *tensor, size_t n, uint32_t state)
{
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525U + 1013904223U;
        double number = (double)(state >> 8) / (1 << 23) - 1;
        convert_elements(IRRUN_F64, &(double){dtype_is_float(tensor->dtype) ? number : number * 9},
                         tensor->dtype, (char *)tensor->data + i * dtype_size(tensor->dtype), 1);
    }
}

/* Sets an input. Returns its data, which the session borrows. */
static void *set_input(struct irrun_model *model, struct irrun_session *session, size_t i)
{
    struct irrun_error err;
    const struct irrun_port *port = irrun_model_input(model, i);
    struct irrun_tensor tensor = {.dtype = port->dtype, .shape = {.rank = port->shape.rank}};
    for (uint32_t k = 0; k < tensor.shape.rank; k++)
        tensor.shape.dims[k] = port->shape.min[k];
    size_t n = (size_t)shape_n_elements(&tensor.shape);
    tensor.data = malloc(n * dtype_size(tensor.dtype));
    assert_non_null(tensor.data);
    fill(&tensor, n, (uint32_t)i);
    assert_true(irrun_session_set_input(session, i, &tensor, &err));
    return tensor.data;
}

/* Returns the bytes of the output, malloc'ed, and their number in *n. */
static void *run(const struct form *form, unsigned n_threads, size_t *n)
{
    struct irrun_model *model = load(form, n_threads);
    struct irrun_session *session;
    struct irrun_error err;
    assert_true(irrun_session_new(model, &session, &err));
    void *operands[3];
    for (size_t i = 0; i < 3; i++)
        operands[i] = set_input(model, session, i);
    void *bytes = NULL;
    for (int i = 0; i < N_RUNS; i++) {
        if (!irrun_session_run(session, &err))
            fail_test("%s\n", err.message);
        const struct irrun_tensor *out = irrun_session_output(session, 0);
        *n = tensor_n_bytes(out);
        if (i == 0)
            assert_non_null(bytes = malloc(*n));
        else if (memcmp(bytes, out->data, *n) != 0)
            fail_test("%s %s: %u threads give other bytes in run %d\n", form->type, form->shapes[0],
                      n_threads, i);
        memcpy(bytes, out->data, *n);
    }
    irrun_session_free(session);
    irrun_model_free(model);
    for (size_t i = 0; i < 3; i++)
        free(operands[i]);
    return bytes;
}

static void every_thread_pool_gives_the_same_bytes(void **state)
{
    (void)state;
    for (size_t f = 0; f < N_FORMS; f++) {
        size_t n_expected, n;
        void *expected = run(&forms[f], 1, &n_expected);
        for (unsigned n_threads = 2; n_threads <= 5; n_threads++) {
            void *bytes = run(&forms[f], n_threads, &n);
            assert_int_equal(n, n_expected);
            if (memcmp(bytes, expected, n) != 0)
                fail_test("form %zu, %s: %u threads give other bytes\n", f, forms[f].type,
                          n_threads);
            free(bytes);
        }
        free(expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_pool_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
