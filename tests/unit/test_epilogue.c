/* An epilogue gives the same numbers as its ops as separate steps, at every level. Each model is a
 * random product followed by random element-wise ops, whose operands are broadcast in every way.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>

#include "ir_text.h"
#include "irrun.h"
#include "kernels/cpu.h"
#include "kernels/epilogue.h"
#include "kernels/kernels.h"
#include "ops/op.h"
#include "tensor/tensor.h"

enum { MAX_OPS = 12, N_OPERANDS = 5, TEXT_BYTES = 32 << 10, MAX_ELEMENTS = 160000, N_INPUTS = 7 };

/* The text of a model. Inputs 0 and 1 are multiplied; the others have the shape of the product,
 * some with dimensions of 1. */
struct tail {
    char text[TEXT_BYTES], edges[TEXT_BYTES / 2];
    size_t n_text, n_edges;
    int n_layers;
    int values[MAX_OPS + 2]; /* layers that the next op may read, the newest last */
    int n_values;
    struct irrun_shape shapes[N_INPUTS], out;
    bool is_constant; /* the second operand */
    uint32_t random;
};

static uint32_t below(struct tail *tail, uint32_t limit)
{
    tail->random = tail->random * 1664525U + 1013904223U;
    return (tail->random >> 8) % limit;
}

PRINTF_LIKE(2, 3) static void add_text(struct tail *tail, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tail->n_text +=
        (size_t)vsnprintf(tail->text + tail->n_text, TEXT_BYTES - tail->n_text, format, args);
    va_end(args);
    assert_true(tail->n_text < TEXT_BYTES);
}

static void add_edge(struct tail *tail, int from, int port)
{
    tail->n_edges += (size_t)snprintf(
        tail->edges + tail->n_edges, sizeof tail->edges - tail->n_edges,
        "<edge from-layer=\"%d\" from-port=\"9\" to-layer=\"%d\" to-port=\"%d\"/>\n", from,
        tail->n_layers, port);
    assert_true(tail->n_edges < sizeof tail->edges);
}

static int add_op(struct tail *tail, const char *type, const char *attributes, int a, int b)
{
    add_text(
        tail,
        "<layer id=\"%d\" name=\"l%d\" type=\"%s\" version=\"opset1\">%s<input><port id=\"0\"/>",
        tail->n_layers, tail->n_layers, type, attributes);
    add_edge(tail, a, 0);
    if (b >= 0) {
        add_text(tail, "<port id=\"1\"/>");
        add_edge(tail, b, 1);
    }
    add_text(tail, "</input>%s</layer>\n",
             strcmp(type, "Result") == 0 ? "" : "<output><port id=\"9\"/></output>");
    return tail->n_layers++;
}

/* Writes an input, or the Const of the weights. */
static void add_source(struct tail *tail, const struct irrun_shape *shape, bool is_constant)
{
    tail->shapes[tail->n_layers] = *shape;
    add_text(tail, "<layer id=\"%d\" name=\"in%d\" type=\"%s\" version=\"opset1\"><data shape=\"",
             tail->n_layers, tail->n_layers, is_constant ? "Const" : "Parameter");
    for (uint32_t i = 0; i < shape->rank; i++)
        add_text(tail, "%s%lld", i ? "," : "", (long long)shape->dims[i]);
    add_text(tail, "\" element_type=\"f32\"");
    if (is_constant)
        add_text(tail, " offset=\"0\" size=\"%lld\"", 4 * (long long)shape_n_elements(shape));
    add_text(tail, "/><output><port id=\"9\"/></output></layer>\n");
    tail->n_layers++;
}

#define PICK(tail, ...)                                                                            \
    ((const int64_t[]){                                                                            \
        __VA_ARGS__})[below(tail, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))]

/* Writes the operands. Returns the type of the product, with its attributes. */
static const char *add_factors(struct tail *tail, const char **attributes)
{
    int64_t k = PICK(tail, 1, 3, 17, 40, 300), n = PICK(tail, 1, 5, 16, 40, 64, 100, 130);
    tail->is_constant = below(tail, 2);
    int64_t batches = PICK(tail, 1, 2), m = PICK(tail, 1, 2, 16, 100);
    if (below(tail, 2)) {
        add_source(tail, &(struct irrun_shape){3, {batches, m, k}}, false);
        if (tail->is_constant || below(tail, 2))
            add_source(tail, &(struct irrun_shape){2, {k, n}}, tail->is_constant);
        else
            add_source(tail, &(struct irrun_shape){3, {batches, k, n}}, false);
        tail->out = (struct irrun_shape){3, {batches, m, n}};
        *attributes = "";
        return "MatMul";
    }
    int64_t channels = PICK(tail, 1, 4, 40), length = PICK(tail, 4, 9, 70, 300);
    int64_t kernel = PICK(tail, 1, 3, 4), kind = below(tail, 4);
    add_source(tail, &(struct irrun_shape){3, {batches, channels, length}}, false);
    if (kind == 0) { /* upsamples */
        add_source(tail, &(struct irrun_shape){3, {channels, n, kernel}}, tail->is_constant);
        tail->out = (struct irrun_shape){3, {batches, n, (length - 1) * 2 + kernel}};
        *attributes = "<data strides=\"2\" dilations=\"1\" pads_begin=\"0\" pads_end=\"0\" "
                      "auto_pad=\"explicit\" output_padding=\"0\"/>";
        return "ConvolutionBackpropData";
    }
    *attributes = "<data strides=\"1\" dilations=\"1\" pads_begin=\"0\" pads_end=\"0\" "
                  "auto_pad=\"explicit\"/>";
    if (kind == 1 && channels > 1) {
        add_source(tail, &(struct irrun_shape){4, {2, n, channels / 2, kernel}}, tail->is_constant);
        tail->out = (struct irrun_shape){3, {batches, 2 * n, length - kernel + 1}};
        return "GroupConvolution";
    }
    add_source(tail, &(struct irrun_shape){3, {n, channels, kernel}}, tail->is_constant);
    tail->out = (struct irrun_shape){3, {batches, n, length - kernel + 1}};
    return "Convolution";
}

static void add_operands(struct tail *tail)
{
    static const unsigned char kept[N_OPERANDS] = {1, 2, 4, 7, 3}; /* sets of dimensions */
    for (int i = 0; i < N_OPERANDS; i++) {
        struct irrun_shape shape = tail->out;
        for (uint32_t d = 0; d < shape.rank; d++)
            if (!(kept[i] >> d & 1) || below(tail, 8) == 0)
                shape.dims[d] = 1;
        add_source(tail, &shape, false);
    }
}

static const char *const kinds[] = {"Add",    "Add",     "Multiply", "Subtract", "Maximum",
                                    "Divide", "PReLU",   "ReLU",     "Sigmoid",  "Tanh",
                                    "Clamp",  "Minimum", "Abs",      "Greater"};

static void add_random_op(struct tail *tail)
{
    const char *kind = kinds[below(tail, sizeof kinds / sizeof *kinds)];
    int back = below(tail, 3) ? 1 : 1 + (int)below(tail, (uint32_t)tail->n_values);
    int a = tail->values[tail->n_values - back];
    int b = below(tail, 3) ? 2 + (int)below(tail, N_OPERANDS)
                           : tail->values[below(tail, (uint32_t)tail->n_values)];
    bool is_unary = strcmp(kind, "ReLU") == 0 || strcmp(kind, "Sigmoid") == 0 ||
                    strcmp(kind, "Tanh") == 0 || strcmp(kind, "Clamp") == 0 ||
                    strcmp(kind, "Abs") == 0;
    bool is_reverse = strcmp(kind, "PReLU") != 0 && below(tail, 4) == 0;
    const char *attributes = strcmp(kind, "Clamp") == 0 ? "<data min=\"-1.5\" max=\"2.25\"/>" : "";
    int made = add_op(tail, kind, attributes, is_reverse && !is_unary ? b : a,
                      is_unary     ? -1
                      : is_reverse ? a
                                   : b);
    if (strcmp(kind, "Greater") == 0)
        add_op(tail, "Result", "", made, -1);
    else
        tail->values[tail->n_values++] = made;
}

static void write_tail(struct tail *tail, char path[TEXT_PATH_BYTES])
{
    const char *attributes, *type = add_factors(tail, &attributes);
    add_operands(tail);
    tail->values[tail->n_values++] = add_op(tail, type, attributes, 0, 1);
    if (below(tail, 2)) /* a bias: of the columns, or of the channels */
        tail->values[tail->n_values++] =
            add_op(tail, "Add", "", tail->values[0], 3 + (int)below(tail, 2));
    uint32_t n_ops = below(tail, below(tail, 2) ? 3 : MAX_OPS);
    for (uint32_t i = 0; i < n_ops; i++)
        add_random_op(tail);
    for (int i = 0; i < tail->n_values; i++)
        if (i == tail->n_values - 1 || below(tail, 6) == 0)
            add_op(tail, "Result", "", tail->values[i], -1);
    static char text[2 * TEXT_BYTES];
    int n = snprintf(text, sizeof text,
                     "<net name=\"n\" version=\"11\">\n<layers>\n%s</layers>\n<edges>\n%s</edges>"
                     "\n</net>\n",
                     tail->text, tail->edges);
    write_temporary(text, (size_t)n, path);
}

struct run_result {
    struct irrun_model *model;
    struct irrun_session *session;
    struct irrun_session_info info;
};

/* inputs[i] is for layer i. */
static struct run_result run_tail(const struct tail *tail, const char *const paths[2],
                                  const struct irrun_options *options, struct irrun_tensor *inputs)
{
    struct run_result result;
    struct irrun_error err;
    struct irrun_options all = *options;
    all.weights_path = paths[1];
    if (!irrun_model_load(paths[0], &all, &result.model, &err) ||
        !irrun_session_new(result.model, &result.session, &err))
        fail_test("%s\n", err.message);
    for (size_t i = 0, input = 0; i < N_INPUTS; i++)
        if ((i != 1 || !tail->is_constant) &&
            !irrun_session_set_input(result.session, input++, &inputs[i], &err))
            fail_test("%s\n", err.message);
    for (int i = 0; i < 2; i++)
        if (!irrun_session_run(result.session, &err))
            fail_test("%s\n", err.message);
    irrun_session_describe(result.session, &result.info);
    return result;
}

static void free_result(struct run_result *result)
{
    irrun_session_free(result->session);
    irrun_model_free(result->model);
}

static bool is_same(const struct irrun_tensor *a, const struct irrun_tensor *b)
{
    size_t n = (size_t)shape_n_elements(&a->shape);
    if (a->dtype != IRRUN_F32)
        return memcmp(a->data, b->data, n) == 0;
    for (size_t i = 0; i < n; i++) {
        float x = ((const float *)a->data)[i], y = ((const float *)b->data)[i];
        if (isnan(x) ? !isnan(y) : x != y)
            return false;
    }
    return true;
}

/* Returns the number of ops in the epilogue of the product. */
static size_t compare_tail(uint32_t seed, enum simd simd)
{
    static struct tail tail;
    static float data[N_INPUTS][MAX_ELEMENTS];
    char path[TEXT_PATH_BYTES], weights_path[TEXT_PATH_BYTES];
    tail = (struct tail){.random = seed * 7919};
    write_tail(&tail, path);
    struct irrun_tensor inputs[N_INPUTS];
    for (int i = 0; i < N_INPUTS; i++) {
        int64_t n = shape_n_elements(&tail.shapes[i]);
        assert_true(n <= MAX_ELEMENTS);
        for (int64_t k = 0; k < n; k++)
            data[i][k] = ((float)below(&tail, 4001) - 2000) / 500;
        inputs[i] = (struct irrun_tensor){IRRUN_F32, tail.shapes[i], data[i]};
    }
    write_temporary(data[1], (size_t)shape_n_elements(&tail.shapes[1]) * sizeof(float),
                    weights_path);
    const char *paths[] = {path, weights_path};
    struct irrun_options options = {.simd = simd_name(simd), .n_threads = 1 + seed % 2};
    struct run_result joined = run_tail(&tail, paths, &options, inputs);
    options.keep_ops = true;
    struct run_result plain = run_tail(&tail, paths, &options, inputs);
    assert_true(plain.info.n_epilogue_ops == 0);
    for (size_t i = 0; i < irrun_model_n_outputs(joined.model); i++)
        if (!is_same(irrun_session_output(joined.session, i),
                     irrun_session_output(plain.session, i)))
            fail_test("output %zu differs: seed %u, %s\n", i, (unsigned)seed, simd_name(simd));
    free_result(&joined);
    free_result(&plain);
    unlink(path);
    unlink(weights_path);
    return joined.info.n_epilogue_ops;
}

static void joined_ops_give_the_same_numbers(void **state)
{
    (void)state;
    for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++) {
        size_t n_joined = 0;
        for (uint32_t seed = 0; seed < 500 && simd_is_supported(simd); seed++)
            n_joined += compare_tail(seed, simd);
        assert_true(n_joined > 800 || !simd_is_supported(simd));
    }
}

/* Runs an epilogue on ranges that begin and end at any element. */
static void pieces_meet_their_operands(void **state)
{
    (void)state;
    struct tail tail = {.random = 5};
    for (int round = 0; round < 300; round++) {
        float out[600], added[600], factor[600], want[600];
        size_t n = 600, first = below(&tail, 600),
               end = first + below(&tail, 601 - (uint32_t)first);
        struct repetition a = {1 + below(&tail, 40), 1 + below(&tail, 30)};
        struct repetition b = {1, 1 + below(&tail, 600)};
        struct fused_instruction program[] = {
            {out, UINT32_MAX, FUSED_LOAD},
            {added, a.inner == 1 ? UINT32_MAX : 0, FUSED_ADD + (a.inner > 1 ? FUSED_SCALAR : 0)},
            {factor, UINT32_MAX, FUSED_MULTIPLY},
            {out, UINT32_MAX, FUSED_STORE},
            {.code = FUSED_END},
        };
        const struct epilogue_operand operands[] = {
            {0, 4, 1, n}, {1, 4, a.inner, a.count}, {2, 4, 1, b.count}, {3, 4, 1, n}};
        const struct epilogue epilogue = {.fused = fused_f32_scalar,
                                          .program = program,
                                          .operands = operands,
                                          .n_program = 5,
                                          .n_operands = 4};
        for (size_t i = 0; i < n; i++) {
            out[i] = (float)i;
            added[i] = (float)(7 * i);
            factor[i] = 1 + (float)i;
            want[i] = (float)i;
        }
        for (size_t i = first; i < end; i++)
            want[i] = (want[i] + added[i / a.inner % a.count]) * factor[i % b.count];
        epilogue_run(&epilogue, first, end - first);
        assert_memory_equal(out, want, sizeof out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_meet_their_operands),
        cmocka_unit_test(joined_ops_give_the_same_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
