/* Select ops that are large enough for several threads give the same bytes for every number of
 * threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "ir_text.h"

/* A Select, each of whose operands may be broadcast along other dimensions. */
struct form {
    const char *type;
    size_t width;
    size_t dims[4][3]; /* of the output, cond, then, else */
};

static const struct form forms[] = {
    {"f32", 4, {{1, 1, 200003}, {1, 1, 200003}, {1, 1, 200003}, {1, 1, 200003}}},
    {"i64", 8, {{1, 1, 70001}, {1, 1, 70001}, {1, 1, 1}, {1, 1, 70001}}},
    {"u8", 1, {{1, 1, 600001}, {1, 1, 600001}, {1, 1, 600001}, {1, 1, 1}}},
    {"f16", 2, {{1, 301, 1001}, {1, 301, 1}, {1, 301, 1001}, {1, 301, 1001}}},
    {"f32", 4, {{1, 301, 1001}, {1, 301, 1001}, {1, 1, 1001}, {1, 301, 1}}},
    {"f32", 4, {{37, 50, 70}, {37, 1, 70}, {37, 50, 1}, {1, 50, 70}}},
    {"f32", 4, {{1, 2, 2000001}, {1, 2, 2000001}, {1, 2, 2000001}, {1, 1, 2000001}}},
};
#define N_FORMS (sizeof forms / sizeof forms[0])

static size_t count(const size_t dims[3])
{
    return dims[0] * dims[1] * dims[2];
}

static size_t place(const size_t dims[3], const size_t index[3])
{
    size_t at = 0;
    for (int i = 0; i < 3; i++)
        at = at * dims[i] + (dims[i] == 1 ? 0 : index[i]);
    return at;
}

static void *fill(size_t n_bytes, unsigned seed)
{
    unsigned char *bytes = malloc(n_bytes);
    uint32_t state = seed;
    assert_non_null(bytes);
    for (size_t i = 0; i < n_bytes; i++) {
        state = state * 1664525U + 1013904223U;
        bytes[i] = (unsigned char)(state >> 24);
    }
    return bytes;
}

static void *make_operand(const struct form *form, size_t operand)
{
    size_t n = count(form->dims[operand]);
    unsigned char *bytes = fill(operand == 1 ? n : n * form->width, (unsigned)operand);
    for (size_t i = 0; operand == 1 && i < n; i++)
        bytes[i] &= 1;
    return bytes;
}

static struct irrun_model *load(const struct form *form, unsigned n_threads, const char *simd)
{
    char xml[2048], path[TEXT_PATH_BYTES], shapes[3][64];
    for (size_t i = 0; i < 3; i++) {
        const size_t *dims = form->dims[i + 1];
        snprintf(shapes[i], sizeof shapes[i], "%zu,%zu,%zu", dims[0], dims[1], dims[2]);
    }
#define OPERAND(id)                                                                                \
    LAYER(id, "p" id, "Parameter", "opset1",                                                       \
          "<data shape=\"%s\" element_type=\"%s\"/>" OUTPUT(PORT("0")))
    snprintf(xml, sizeof xml,
             NET(OPERAND("0") OPERAND("1") OPERAND("2")
                     LAYER("3", "s", "Select", "opset1",
                           INPUT(PORT("0") PORT("1") PORT("2")) OUTPUT(PORT("3"))) RESULT("4", "r"),
                 EDGE("0", "0", "3", "0") EDGE("1", "0", "3", "1") EDGE("2", "0", "3", "2")
                     EDGE("3", "3", "4", "0")),
             shapes[0], "boolean", shapes[1], form->type, shapes[2], form->type);
    write_temporary(xml, strlen(xml), path);
    struct irrun_model *model;
    struct irrun_error err;
    struct irrun_options options = {.n_threads = n_threads, .simd = simd};
    bool is_loaded = irrun_model_load(path, &options, &model, &err);
    unlink(path);
    if (!is_loaded)
        fail_test("%s\n", err.message);
    return model;
}

static void run(const struct form *form, unsigned n_threads, const char *simd,
                void *const operands[4], void *out)
{
    struct irrun_model *model = load(form, n_threads, simd);
    struct irrun_session *session;
    struct irrun_error err;
    assert_true(irrun_session_new(model, &session, &err));
    for (size_t i = 0; i < 3; i++) {
        struct irrun_tensor tensor = {.dtype = irrun_model_input(model, i)->dtype,
                                      .shape = {.rank = 3},
                                      .data = operands[i + 1]};
        for (size_t k = 0; k < 3; k++)
            tensor.shape.dims[k] = (int64_t)form->dims[i + 1][k];
        assert_true(irrun_session_set_input(session, i, &tensor, &err));
    }
    for (int i = 0; i < 3; i++) {
        assert_true(irrun_session_run(session, &err));
        memcpy(out, irrun_session_output(session, 0)->data, count(form->dims[0]) * form->width);
    }
    irrun_session_free(session);
    irrun_model_free(model);
}

static void select_reference(const struct form *form, void *const operands[4], unsigned char *out)
{
    size_t index[3], n = 0;
    for (index[0] = 0; index[0] < form->dims[0][0]; index[0]++)
        for (index[1] = 0; index[1] < form->dims[0][1]; index[1]++)
            for (index[2] = 0; index[2] < form->dims[0][2]; index[2]++, n++) {
                const unsigned char *condition = operands[1];
                size_t side = condition[place(form->dims[1], index)] ? 2 : 3;
                memcpy(out + n * form->width,
                       (unsigned char *)operands[side] +
                           place(form->dims[side], index) * form->width,
                       form->width);
            }
}

static void select_gives_the_same_bytes(void **state)
{
    (void)state;
    static const unsigned n_threads[] = {1, 2, 3, 5};
    for (size_t f = 0; f < N_FORMS; f++) {
        const struct form *form = &forms[f];
        size_t n_bytes = count(form->dims[0]) * form->width;
        void *operands[4] = {malloc(n_bytes), make_operand(form, 1), make_operand(form, 2),
                             make_operand(form, 3)};
        void *expected = malloc(n_bytes);
        assert_non_null(operands[0]);
        assert_non_null(expected);
        select_reference(form, operands, expected);
        for (size_t i = 0; i < sizeof n_threads / sizeof n_threads[0]; i++) {
            memset(operands[0], 0xA5, n_bytes);
            run(form, n_threads[i], i == 1 ? "scalar" : NULL, operands, operands[0]);
            assert_memory_equal(operands[0], expected, n_bytes);
        }
        free(expected);
        for (size_t i = 0; i < 4; i++)
            free(operands[i]);
    }
}

static void says_how_many_threads_there_are(void **state)
{
    (void)state;
    static const unsigned asked[] = {0, 1, 4, IRRUN_THREADS_AUTO};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        struct irrun_model *model = load(&forms[0], asked[i], NULL);
        struct irrun_session *session;
        struct irrun_session_info info;
        struct irrun_error err;
        assert_true(irrun_session_new(model, &session, &err));
        irrun_session_describe(session, &info);
        if (asked[i] == IRRUN_THREADS_AUTO)
            assert_true(info.n_threads >= 1);
        else
            assert_int_equal(info.n_threads, asked[i] == 0 ? 1 : asked[i]);
        irrun_session_free(session);
        irrun_model_free(model);
    }
}

static void refuses_more_threads_than_anybody_needs(void **state)
{
    (void)state;
    struct irrun_model *model;
    struct irrun_error err;
    assert_false(
        irrun_model_load("/not/read", &(struct irrun_options){.n_threads = 100000}, &model, &err));
    assert_int_equal(err.code, IRRUN_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select_gives_the_same_bytes),
        cmocka_unit_test(says_how_many_threads_there_are),
        cmocka_unit_test(refuses_more_threads_than_anybody_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
