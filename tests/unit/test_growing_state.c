/* A variable that only grows is extended in place: the bytes that an iteration copies do not depend
 * on its length. A variable that keeps its value is not copied.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=memcpy,--wrap=memmove */
#include "unit.h"

#include "ir_text.h"
#include "tensor/tensor.h"

#define HEADS 2
#define SIZE 16
#define N_NEW (HEADS * SIZE)

static size_t n_moved; /* bytes */

void *__real_memcpy(void *restrict to, const void *restrict from, size_t n);
void *__wrap_memcpy(void *restrict to, const void *restrict from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n);

void *__wrap_memcpy(void *restrict to, const void *restrict from, size_t n)
{
    n_moved += n;
    return __real_memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n)
{
    n_moved += n;
    return __real_memmove(to, from, n);
}

/* Appends x to the cache. y = attention of x over the cache; quotient = y / d on integers. */
static const char cache[] = NET(
    LAYER("0", "x", "Parameter", "opset1",
          "<data shape=\"1,2,1,16\" element_type=\"f32\"/>" OUTPUT(PORT("0"))) /**/
    LAYER("1", "d", "Parameter", "opset1",
          "<data shape=\"1\" element_type=\"i32\"/>" OUTPUT(PORT("0"))) /**/
    LAYER("2", "read", "ReadValue", "opset6",
          "<data variable_id=\"v\" variable_type=\"f32\" variable_shape=\"1,2,?,16\"/>" OUTPUT(
              PORT("0"))) /**/
    LAYER("3", "grow", "Concat", "opset1",
          "<data axis=\"2\"/>" INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2")))             /**/
    LAYER("4", "keep", "Assign", "opset6", "<data variable_id=\"v\"/>" INPUT(PORT("0"))) /**/
    LAYER("5", "attend", "ScaledDotProductAttention", "opset13",
          "<data causal=\"false\"/>" INPUT(PORT("0") PORT("1") PORT("2")) OUTPUT(PORT("3"))) /**/
    LAYER("6", "whole", "Convert", "opset1",
          "<data destination_type=\"i32\"/>" INPUT(PORT("0")) OUTPUT(PORT("1"))) /**/
    LAYER("7", "divide", "Divide", "opset1",
          "<data m_pythondiv=\"true\"/>" INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2"))) /**/
    RESULT("8", "y") RESULT("9", "quotient"),
    EDGE("2", "0", "3", "0") EDGE("0", "0", "3", "1") EDGE("3", "2", "4", "0")
        EDGE("0", "0", "5", "0") EDGE("3", "2", "5", "1") EDGE("3", "2", "5", "2")
            EDGE("5", "3", "8", "0") EDGE("5", "3", "6", "0") EDGE("6", "1", "7", "0")
                EDGE("1", "0", "7", "1") EDGE("7", "2", "9", "0"));

#define N_KEPT 4096

/* y = -v. The variable v is assigned its own value. */
static const char kept[] = NET(
    LAYER("0", "first", "Parameter", "opset1",
          "<data shape=\"4096\" element_type=\"f32\"/>" OUTPUT(PORT("0"))) /**/
    LAYER("1", "read", "ReadValue", "opset6",
          "<data variable_id=\"v\" variable_type=\"f32\" variable_shape=\"4096\"/>" INPUT(PORT("0"))
              OUTPUT(PORT("1")))                                                         /**/
    LAYER("2", "keep", "Assign", "opset6", "<data variable_id=\"v\"/>" INPUT(PORT("0"))) /**/
    LAYER("3", "negative", "Negative", "opset1", INPUT(PORT("0")) OUTPUT(PORT("1")))     /**/
    RESULT("4", "y"),
    EDGE("0", "0", "1", "0") EDGE("1", "1", "2", "0") EDGE("1", "1", "3", "0")
        EDGE("3", "1", "4", "0"));

struct opened {
    struct irrun_model *model;
    struct irrun_session *session;
    float x[N_NEW];
    int32_t d;
};

static void open_text(struct opened *opened, const char *text)
{
    char path[TEXT_PATH_BYTES];
    struct irrun_error err;
    write_temporary(text, strlen(text), path);
    bool is_loaded = irrun_model_load(path, NULL, &opened->model, &err);
    unlink(path);
    if (!is_loaded)
        fail_test("%u:%u: %s\n", err.line, err.column, err.message);
    assert_true(irrun_session_new(opened->model, &opened->session, &err));
}

static void open_cache(struct opened *opened)
{
    struct irrun_error err;
    open_text(opened, cache);
    struct irrun_tensor x = {IRRUN_F32, {4, {1, HEADS, 1, SIZE}}, opened->x};
    struct irrun_tensor d = {IRRUN_I32, {1, {1}}, &opened->d};
    assert_true(irrun_session_set_input(opened->session, 0, &x, &err));
    assert_true(irrun_session_set_input(opened->session, 1, &d, &err));
    opened->d = 1;
}

static void close_cache(struct opened *opened)
{
    irrun_session_free(opened->session);
    irrun_model_free(opened->model);
}

static float item(size_t row, size_t i)
{
    return (float)((row * 37 + i * 11) % 101) / 64 - 0.75f;
}

static bool run_row(struct opened *opened, size_t row)
{
    struct irrun_error err;
    for (size_t i = 0; i < N_NEW; i++)
        opened->x[i] = item(row, i);
    return irrun_session_run(opened->session, &err);
}

/* Checks that the variable has the first `length` rows of every head. */
static void check_variable(const struct opened *opened, size_t length)
{
    const struct irrun_tensor *value = irrun_session_variable(opened->session, 0);
    assert_non_null(value);
    assert_int_equal(value->shape.dims[2], length);
    const float *at = value->data;
    for (size_t head = 0; head < HEADS; head++)
        for (size_t row = 0; row < length; row++)
            for (size_t i = 0; i < SIZE; i++)
                if (*at++ != item(row, head * SIZE + i))
                    fail_test("head %zu, row %zu of %zu, item %zu differs\n", head, row, length, i);
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Returns the median of the bytes that iterations begin ... end - 1 copy. */
static size_t moved_per_row(struct opened *opened, size_t begin, size_t end)
{
    size_t moved[200], n = 0;
    for (size_t row = begin; row < end; row++) {
        n_moved = 0;
        assert_true(run_row(opened, row));
        moved[n++] = n_moved;
    }
    qsort(moved, n, sizeof *moved, by_size);
    return moved[n / 2];
}

static void the_bytes_moved_do_not_depend_on_the_length(void **state)
{
    (void)state;
    struct opened opened;
    open_cache(&opened);
    moved_per_row(&opened, 0, 100);
    size_t soon = moved_per_row(&opened, 100, 200);
    for (size_t row = 200; row < 1500; row++)
        assert_true(run_row(&opened, row));
    size_t late = moved_per_row(&opened, 1500, 1600);
    print_message("# %zu bytes from row 100 on, %zu from row 1500 on\n", soon, late);
    assert_true(soon >= N_NEW * sizeof(float));
    assert_int_equal(soon, late);
    check_variable(&opened, 1600);
    close_cache(&opened);
}

static void looking_at_it_changes_nothing(void **state)
{
    (void)state;
    struct opened looked, unseen;
    open_cache(&looked);
    open_cache(&unseen);
    for (size_t row = 0; row < 150; row++) {
        assert_true(run_row(&looked, row) && run_row(&unseen, row));
        if (row % 3 == 0)
            check_variable(&looked, row + 1);
        const struct irrun_tensor *a = irrun_session_output(looked.session, 0);
        const struct irrun_tensor *b = irrun_session_output(unseen.session, 0);
        assert_memory_equal(a->data, b->data, tensor_n_bytes(a));
    }
    check_variable(&unseen, 150);
    close_cache(&looked);
    close_cache(&unseen);
}

static void a_failure_leaves_it_as_it_was(void **state)
{
    (void)state;
    struct opened opened;
    open_cache(&opened);
    opened.d = 0;
    assert_false(run_row(&opened, 0));
    assert_null(irrun_session_variable(opened.session, 0));
    for (size_t row = 0; row < 80; row++) {
        opened.d = 0;
        assert_false(run_row(&opened, row + 7));
        if (row > 0 && row % 5 == 0)
            check_variable(&opened, row);
        opened.d = 1;
        assert_true(run_row(&opened, row));
    }
    check_variable(&opened, 80);
    close_cache(&opened);
}

static void it_can_be_set_and_reset(void **state)
{
    (void)state;
    struct opened opened;
    struct irrun_error err;
    float given[HEADS * 3 * SIZE];
    open_cache(&opened);
    for (size_t row = 0; row < 70; row++)
        assert_true(run_row(&opened, row));
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        given[i] = item(i / SIZE % 3, i / SIZE / 3 * SIZE + i % SIZE);
    struct irrun_tensor tensor = {IRRUN_F32, {4, {1, HEADS, 3, SIZE}}, given};
    assert_true(irrun_session_set_variable(opened.session, 0, &tensor, &err));
    check_variable(&opened, 3);
    for (size_t row = 3; row < 9; row++)
        assert_true(run_row(&opened, row));
    check_variable(&opened, 9);
    irrun_session_reset(opened.session);
    assert_null(irrun_session_variable(opened.session, 0));
    assert_true(run_row(&opened, 0));
    check_variable(&opened, 1);
    close_cache(&opened);
}

/* Runs once, and checks y and the variable, whose value is `first`. */
static void run_kept(struct opened *opened, const float *first)
{
    struct irrun_error err;
    assert_true(irrun_session_run(opened->session, &err));
    const float *y = irrun_session_output(opened->session, 0)->data;
    const float *value = irrun_session_variable(opened->session, 0)->data;
    for (size_t i = 0; i < N_KEPT; i++)
        if (y[i] != -first[i] || value[i] != first[i])
            fail_test("item %zu differs\n", i);
}

static void a_variable_that_keeps_its_value_is_not_copied(void **state)
{
    (void)state;
    struct opened opened;
    struct irrun_error err;
    static float first[N_KEPT], other[N_KEPT];
    for (size_t i = 0; i < N_KEPT; i++) {
        first[i] = item(1, i);
        other[i] = item(2, i);
    }
    open_text(&opened, kept);
    struct irrun_tensor given = {IRRUN_F32, {1, {N_KEPT}}, first};
    assert_true(irrun_session_set_input(opened.session, 0, &given, &err));
    run_kept(&opened, first);
    given.data = other;
    assert_true(irrun_session_set_input(opened.session, 0, &given, &err));
    n_moved = 0;
    run_kept(&opened, first);
    assert_true(n_moved < N_KEPT);
    assert_true(irrun_session_set_variable(opened.session, 0, &given, &err));
    run_kept(&opened, other);
    irrun_session_reset(opened.session);
    given.data = first;
    assert_true(irrun_session_set_input(opened.session, 0, &given, &err));
    run_kept(&opened, first);
    close_cache(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_moved_do_not_depend_on_the_length),
        cmocka_unit_test(looking_at_it_changes_nothing),
        cmocka_unit_test(a_failure_leaves_it_as_it_was),
        cmocka_unit_test(it_can_be_set_and_reset),
        cmocka_unit_test(a_variable_that_keeps_its_value_is_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
