/* Records with new shapes get new plans, and the last plans are kept.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=posix_memalign */
#include "unit.h"

#include <math.h>

#include "ir_text.h"
#include "tensor/shape.h"

#define N_KEPT_PLANS 8
#define LONGEST 40

static size_t n_calls;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    n_calls++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    n_calls++;
    return __real_calloc(n, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    n_calls++;
    return __real_posix_memalign(memory, alignment, size);
}

/* y = x + x for x of any length. The variable `last` stores y. */
static const char doubling[] =
    NET(LAYER("0", "x", "Parameter", "opset1",
              "<data shape=\"?\" element_type=\"i32\"/>" OUTPUT(PORT("0"))) /**/
        ADD("1", "add")                                                     /**/
        LAYER("2", "read", "ReadValue", "opset6",
              "<data variable_id=\"last\" variable_type=\"i32\" variable_shape=\"?\"/>" OUTPUT(
                  PORT("0")))                                                                   /**/
        LAYER("3", "keep", "Assign", "opset6", "<data variable_id=\"last\"/>" INPUT(PORT("0"))) /**/
        RESULT("4", "y") RESULT("5", "before"),
        EDGE("0", "0", "1", "0") EDGE("0", "0", "1", "1") EDGE("1", "2", "3", "0")
            EDGE("1", "2", "4", "0") EDGE("2", "0", "5", "0"));

struct opened {
    struct irrun_model *model;
    struct irrun_session *session;
    int32_t x[LONGEST];
};

static void open_doubling(struct opened *opened)
{
    char path[TEXT_PATH_BYTES];
    struct irrun_error err;
    write_temporary(doubling, sizeof doubling - 1, path);
    bool is_loaded = irrun_model_load(path, NULL, &opened->model, &err);
    unlink(path);
    if (!is_loaded)
        fail_test("%u:%u: %s\n", err.line, err.column, err.message);
    assert_true(irrun_session_new(opened->model, &opened->session, &err));
    for (int32_t i = 0; i < LONGEST; i++)
        opened->x[i] = 3 * i - 7;
}

static void run_length(struct opened *opened, int64_t length)
{
    struct irrun_error err;
    struct irrun_tensor in = {IRRUN_I32, {1, {length}}, opened->x};
    assert_true(irrun_session_set_input(opened->session, 0, &in, &err));
    if (!irrun_session_run(opened->session, &err))
        fail_test("length %lld: %s\n", (long long)length, err.message);
    const struct irrun_tensor *y = irrun_session_output(opened->session, 0);
    assert_int_equal(y->shape.rank, 1);
    assert_int_equal(y->shape.dims[0], length);
    for (int64_t i = 0; i < length; i++)
        assert_int_equal(((const int32_t *)y->data)[i], 2 * opened->x[i]);
}

static void every_length_gets_its_own_result(void **state)
{
    (void)state;
    struct opened opened;
    open_doubling(&opened);
    int64_t before = 0;
    for (int round = 0; round < 3; round++) {
        for (int64_t length = LONGEST; length >= 0; length -= 5) {
            run_length(&opened, length);
            const struct irrun_tensor *last = irrun_session_output(opened.session, 1);
            assert_int_equal(last->shape.dims[0], before);
            before = length;
        }
    }
    irrun_session_free(opened.session);
    irrun_model_free(opened.model);
}

static void a_plan_that_is_kept_is_not_made_again(void **state)
{
    (void)state;
    struct opened opened;
    open_doubling(&opened);
    for (int round = 0; round < 2; round++)
        for (int64_t length = 1; length <= N_KEPT_PLANS / 2; length++)
            run_length(&opened, length);
    size_t before = n_calls;
    for (int64_t length = 1; length <= N_KEPT_PLANS / 2; length++)
        run_length(&opened, length);
    assert_int_equal(n_calls, before);
    run_length(&opened, LONGEST);
    assert_true(n_calls > before);
    irrun_session_free(opened.session);
    irrun_model_free(opened.model);
}

#define CHANNELS 16
#define FILTERS 32
#define CONVOLVE(id, type, pads)                                                                   \
    LAYER(id, type "_" id, type, "opset1",                                                         \
          "<data strides=\"1,1\" dilations=\"1,1\" pads_begin=\"" pads "\" pads_end=\"" pads       \
          "\" auto_pad=\"explicit\"/>" INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2")))

/* A convolution of stride 2 with padding at the end, which only inputs of even length use. */
static const char line[] =
    NET(LAYER("0", "x", "Parameter", "opset1",
              "<data shape=\"1,16,?\" element_type=\"f32\"/>" OUTPUT(PORT("0"))) /**/
        LAYER("1", "filters", "Const", "opset1",
              "<data element_type=\"f32\" shape=\"32,16,3\" offset=\"0\" size=\"6144\"/>" OUTPUT(
                  PORT("0"))) /**/
        LAYER("2", "convolve", "Convolution", "opset1",
              "<data strides=\"2\" dilations=\"1\" pads_begin=\"0\" pads_end=\"1\" "
              "auto_pad=\"explicit\"/>" INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2"))) /**/
        RESULT("3", "y"),
        EDGE("0", "0", "2", "0") EDGE("1", "0", "2", "1") EDGE("2", "2", "3", "0"));

/* Three convolutions of images of any size, with the channels last between them. The second one, of
 * 3 x 1, has the same terms in another order if the image has one column. */
static const char columns[] =
    NET(LAYER("0", "x", "Parameter", "opset1",
              "<data shape=\"1,3,?,?\" element_type=\"f32\"/>" OUTPUT(PORT("0"))) /**/
        LAYER("1", "wide", "Const", "opset1",
              "<data element_type=\"f32\" shape=\"128,3,1,1\" offset=\"0\" size=\"1536\"/>" OUTPUT(
                  PORT("0"))) /**/
        LAYER("2", "filters", "Const", "opset1",
              "<data element_type=\"f32\" shape=\"4,128,3,1\" offset=\"0\" size=\"6144\"/>" OUTPUT(
                  PORT("0"))) /**/
        LAYER("3", "deep", "Const", "opset1",
              "<data element_type=\"f32\" shape=\"4,1,1,3,1\" offset=\"0\" size=\"48\"/>" OUTPUT(
                  PORT("0")))                                                   /**/
        CONVOLVE("4", "Convolution", "0,0") CONVOLVE("5", "Convolution", "1,0") /**/
        CONVOLVE("6", "GroupConvolution", "1,0") RESULT("7", "y"),
        EDGE("0", "0", "4", "0") EDGE("1", "0", "4", "1") EDGE("4", "2", "5", "0") /**/
        EDGE("2", "0", "5", "1") EDGE("5", "2", "6", "0") EDGE("3", "0", "6", "1") /**/
        EDGE("6", "2", "7", "0"));

/* Runs the shapes in turn, with weights packed for the first one. Sets y to the result of the last
 * one, and returns its size. The last element of x is `last`. */
static size_t convolve(const char *net, const struct irrun_shape *shapes, size_t n, float last,
                       float *y)
{
    char path[TEXT_PATH_BYTES], weights_path[TEXT_PATH_BYTES];
    static float filters[FILTERS * CHANNELS * 3], x[CHANNELS * LONGEST];
    struct irrun_model *model;
    struct irrun_session *session;
    struct irrun_error err;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        filters[i] = (float)(i * 37 % 101) / 64 - 0.75F;
    write_temporary(net, strlen(net), path);
    write_temporary(filters, sizeof filters, weights_path);
    struct irrun_options options = {.weights_path = weights_path};
    if (!irrun_model_load(path, &options, &model, &err))
        fail_test("%u:%u: %s\n", err.line, err.column, err.message);
    unlink(path);
    unlink(weights_path);
    assert_true(irrun_session_new(model, &session, &err));
    for (size_t i = 0; i < n; i++) {
        struct irrun_tensor in = {IRRUN_F32, shapes[i], x};
        size_t n_in = (size_t)shape_n_elements(&shapes[i]);
        for (size_t k = 0; k < n_in; k++)
            x[k] = (float)(k * 29 % 97) / 64 - 0.75F;
        x[n_in - 1] = last;
        assert_true(irrun_session_set_input(session, 0, &in, &err));
        assert_true(irrun_session_run(session, &err));
    }
    const struct irrun_tensor *out = irrun_session_output(session, 0);
    size_t n_out = (size_t)shape_n_elements(&out->shape);
    memcpy(y, out->data, n_out * sizeof *y);
    irrun_session_free(session);
    irrun_model_free(model);
    return n_out;
}

/* Compares the result of the second shape with and without the first one before it. */
static void compare(const char *net, const struct irrun_shape shapes[2], float last)
{
    static float alone[FILTERS * LONGEST], after[FILTERS * LONGEST];
    size_t n = convolve(net, shapes + 1, 1, last, alone);
    assert_int_equal(convolve(net, shapes, 2, last, after), n);
    for (size_t i = 0; i < n; i++)
        if (isfinite(alone[i]))
            assert_float_equal(after[i], alone[i], 1e-4F);
        else
            assert_int_equal(isfinite(after[i]), 0);
}

static void packed_weights_suit_every_length(void **state)
{
    (void)state;
    for (int64_t length = LONGEST - 1; length <= LONGEST; length++)
        compare(line,
                (const struct irrun_shape[]){{3, {1, CHANNELS, 2 * LONGEST - 1 - length}},
                                             {3, {1, CHANNELS, length}}},
                0);
}

/* After an infinity, Winograd's algorithm recomputes rows directly, from other weights. */
static void packed_weights_suit_every_width(void **state)
{
    (void)state;
    for (int64_t width = 1; width <= 3; width += 2)
        compare(columns,
                (const struct irrun_shape[]){{4, {1, 3, 12, 4 - width}}, {4, {1, 3, 12, width}}},
                INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_gets_its_own_result),
        cmocka_unit_test(a_plan_that_is_kept_is_not_made_again),
        cmocka_unit_test(packed_weights_suit_every_length),
        cmocka_unit_test(packed_weights_suit_every_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
