/* Random chains of element-wise ops give the same bits fused and op by op, at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>

#include "ir_text.h"
#include "irrun.h"
#include "kernels/cpu.h"
#include "tensor/tensor.h"

enum { MAX_OPS = 40, MAX_VALUES = MAX_OPS + 8, N_INPUTS = 3, TEXT_BYTES = 64 << 10 };

/* The text of a model. Values are floats or booleans, of n elements or one. */
struct chain {
    char layers[TEXT_BYTES], edges[TEXT_BYTES];
    size_t n_layers_text, n_edges_text;
    struct {
        int layer;
        bool is_boolean, is_single;
    } values[MAX_VALUES];
    int n_values, n_layers, n;
    uint32_t random;
};

static uint32_t below(struct chain *chain, uint32_t limit)
{
    chain->random = chain->random * 1664525U + 1013904223U;
    return (chain->random >> 8) % limit;
}

PRINTF_LIKE(2, 3) static void add_layer(struct chain *chain, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    chain->n_layers_text += (size_t)vsnprintf(chain->layers + chain->n_layers_text,
                                              TEXT_BYTES - chain->n_layers_text, format, args);
    va_end(args);
    assert_true(chain->n_layers_text < TEXT_BYTES);
}

static void add_edge(struct chain *chain, int from, int port)
{
    chain->n_edges_text += (size_t)snprintf(
        chain->edges + chain->n_edges_text, TEXT_BYTES - chain->n_edges_text,
        "<edge from-layer=\"%d\" from-port=\"9\" to-layer=\"%d\" to-port=\"%d\"/>\n", from,
        chain->n_layers, port);
    assert_true(chain->n_edges_text < TEXT_BYTES);
}

/* Picks a value of this type. Prefers the newest ones, to make long chains. */
static int pick(struct chain *chain, bool is_boolean)
{
    for (;;) {
        uint32_t back = below(chain, below(chain, 3) ? 3 : (uint32_t)chain->n_values);
        int i = chain->n_values - 1 - (int)back;
        if (i >= 0 && chain->values[i].is_boolean == is_boolean)
            return i;
        for (i = chain->n_values - 1; i >= 0 && chain->values[i].is_boolean != is_boolean;)
            i--;
        if (i >= 0 && below(chain, 2))
            return i;
    }
}

static void add_value(struct chain *chain, bool is_boolean, bool is_single)
{
    chain->values[chain->n_values].layer = chain->n_layers++;
    chain->values[chain->n_values].is_boolean = is_boolean;
    chain->values[chain->n_values++].is_single = is_single;
}

static void add_parameters(struct chain *chain)
{
    for (int i = 0; i < N_INPUTS; i++) {
        add_layer(chain,
                  "<layer id=\"%d\" name=\"in%d\" type=\"Parameter\" version=\"opset1\"><data "
                  "shape=\"%d\" element_type=\"f32\"/><output><port id=\"9\"/></output></layer>\n",
                  chain->n_layers, i, i == 2 ? 1 : chain->n);
        add_value(chain, false, i == 2);
    }
    add_layer(chain,
              "<layer id=\"%d\" name=\"t\" type=\"Less\" version=\"opset1\"><input><port "
              "id=\"0\"/><port id=\"1\"/></input><output><port id=\"9\"/></output></layer>\n",
              chain->n_layers);
    add_edge(chain, 0, 0);
    add_edge(chain, 1, 1);
    add_value(chain, true, false);
}

struct kind {
    const char *type, *attributes;
    uint8_t n_inputs;
    uint8_t booleans; /* a set: 1 << i: input i is boolean; 8: the output is */
};

static const struct kind kinds[] = {
    {"Add", "", 2, 0},         {"Subtract", "", 2, 0},
    {"Multiply", "", 2, 0},    {"Divide", "", 2, 0},
    {"Maximum", "", 2, 0},     {"Minimum", "", 2, 0},
    {"Less", "", 2, 8},        {"GreaterEqual", "", 2, 8},
    {"Greater", "", 2, 8},     {"LessEqual", "", 2, 8},
    {"Equal", "", 2, 8},       {"NotEqual", "", 2, 8},
    {"Select", "", 3, 1},      {"Select", "", 3, 1},
    {"LogicalAnd", "", 2, 11}, {"LogicalOr", "", 2, 11},
    {"LogicalXor", "", 2, 11}, {"LogicalNot", "", 1, 9},
    {"Abs", "", 1, 0},         {"Negative", "", 1, 0},
    {"ReLU", "", 1, 0},        {"Clamp", "<data min=\"-1.5\" max=\"2.25\"/>", 1, 0},
    {"Floor", "", 1, 0},       {"Ceiling", "", 1, 0},
    {"Sqrt", "", 1, 0},        {"Sigmoid", "", 1, 0},
    {"Tanh", "", 1, 0},        {"SquaredDifference", "", 2, 0},
    {"Exp", "", 1, 0},         {"Elu", "<data alpha=\"0.75\"/>", 1, 0},
    {"Sin", "", 1, 0}, /* Sin is not fused: it separates two programs */
};

static void add_op(struct chain *chain)
{
    const struct kind *kind = &kinds[below(chain, sizeof kinds / sizeof *kinds)];
    bool is_single = true;
    add_layer(chain, "<layer id=\"%d\" name=\"op%d\" type=\"%s\" version=\"opset1\">%s<input>",
              chain->n_layers, chain->n_layers, kind->type, kind->attributes);
    for (int i = 0; i < kind->n_inputs; i++) {
        int value = pick(chain, kind->booleans >> i & 1);
        is_single &= chain->values[value].is_single;
        add_layer(chain, "<port id=\"%d\"/>", i);
        add_edge(chain, chain->values[value].layer, i);
    }
    add_layer(chain, "</input><output><port id=\"9\"/></output></layer>\n");
    add_value(chain, kind->booleans & 8, is_single);
}

/* Writes Results of the last value and of some others. */
static void add_results(struct chain *chain)
{
    for (int i = N_INPUTS + 1; i < chain->n_values; i++) {
        if (i < chain->n_values - 1 && below(chain, 6) > 0)
            continue;
        add_layer(chain,
                  "<layer id=\"%d\" name=\"r%d\" type=\"Result\" version=\"opset1\"><input><port "
                  "id=\"0\"/></input></layer>\n",
                  chain->n_layers, i);
        add_edge(chain, chain->values[i].layer, 0);
        chain->n_layers++;
    }
}

static void write_chain(struct chain *chain, char path[TEXT_PATH_BYTES])
{
    static char text[2 * TEXT_BYTES + 256];
    add_parameters(chain);
    for (int i = 0; i < MAX_OPS; i++)
        add_op(chain);
    add_results(chain);
    int n = snprintf(text, sizeof text,
                     "<net name=\"n\" version=\"11\">\n<layers>\n%s</layers>\n<edges>\n%s</edges>"
                     "\n</net>\n",
                     chain->layers, chain->edges);
    write_temporary(text, (size_t)n, path);
}

struct run_result {
    struct irrun_model *model;
    struct irrun_session *session;
    struct irrun_session_info info;
};

static struct run_result run_chain(const char *path, bool keeps_ops, enum simd simd,
                                   struct irrun_tensor *inputs)
{
    struct run_result result;
    struct irrun_error err;
    struct irrun_options options = {.keep_ops = keeps_ops, .simd = simd_name(simd)};
    if (!irrun_model_load(path, &options, &result.model, &err) ||
        !irrun_session_new(result.model, &result.session, &err))
        fail_test("%s\n", err.message);
    for (size_t i = 0; i < N_INPUTS; i++)
        if (!irrun_session_set_input(result.session, i, &inputs[i], &err))
            fail_test("%s\n", err.message);
    for (int i = 0; i < 2; i++)
        if (!irrun_session_run(result.session, &err))
            fail_test("%s\n", err.message);
    irrun_session_describe(result.session, &result.info);
    return result;
}

static bool is_same(const struct irrun_tensor *a, const struct irrun_tensor *b)
{
    size_t n = (size_t)shape_n_elements(&a->shape);
    if (a->dtype != IRRUN_F32)
        return memcmp(a->data, b->data, n) == 0;
    for (size_t i = 0; i < n; i++) {
        float x = ((const float *)a->data)[i], y = ((const float *)b->data)[i];
        if (isnan(x) ? !isnan(y) : memcmp(&x, &y, sizeof x) != 0)
            return false;
    }
    return true;
}

static void compare_chain(uint32_t seed, int n, enum simd simd)
{
    static struct chain chain;
    static float data[N_INPUTS][512];
    char path[TEXT_PATH_BYTES];
    chain = (struct chain){.random = seed, .n = n};
    write_chain(&chain, path);
    struct irrun_tensor inputs[N_INPUTS];
    for (int i = 0; i < N_INPUTS; i++) {
        for (int k = 0; k < n; k++)
            data[i][k] = below(&chain, 30) ? ((float)below(&chain, 4001) - 2000) / 500 : NAN;
        inputs[i] =
            (struct irrun_tensor){IRRUN_F32, {.rank = 1, .dims = {i == 2 ? 1 : n}}, data[i]};
    }
    struct run_result fused = run_chain(path, false, simd, inputs);
    struct run_result plain = run_chain(path, true, simd, inputs);
    assert_true(plain.info.n_fused_ops == 0);
    assert_true(fused.info.n_fused_ops > 0 && fused.info.n_steps < plain.info.n_steps);
    for (size_t i = 0; i < irrun_model_n_outputs(fused.model); i++)
        if (!is_same(irrun_session_output(fused.session, i),
                     irrun_session_output(plain.session, i)))
            fail_test("output %zu differs: seed %u, n=%d, %s\n", i, (unsigned)seed, n,
                      simd_name(simd));
    irrun_session_free(fused.session);
    irrun_session_free(plain.session);
    irrun_model_free(fused.model);
    irrun_model_free(plain.model);
    unlink(path);
}

static void joined_ops_give_the_same_bits(void **state)
{
    static const int sizes[] = {1, 2, 7, 8, 15, 16, 31, 33, 64, 100, 129, 300};
    (void)state;
    for (enum simd simd = SIMD_scalar; simd < N_SIMD; simd++)
        for (uint32_t seed = 0; seed < 60 && simd_is_supported(simd); seed++)
            compare_chain(seed, sizes[seed % (sizeof sizes / sizeof *sizes)], simd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_ops_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
