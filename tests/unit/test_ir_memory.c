/* ir, toposort: allocation k fails, for k = 1, 2, … until loading a model succeeds. Every failure
 * is reported as lack of memory, and nothing leaks.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "unit.h"

#include "ir/ir_check.h"
#include "ir/weights.h"
#include "ir_text.h"
#include "plan/passes.h"

static size_t n_left; /* allocations that still succeed */
static bool is_counting;

void *__real_malloc(size_t size_bytes);
void *__real_calloc(size_t n, size_t size_bytes);
void *__real_realloc(void *memory, size_t size_bytes);
void *__wrap_malloc(size_t size_bytes);
void *__wrap_calloc(size_t n, size_t size_bytes);
void *__wrap_realloc(void *memory, size_t size_bytes);

static bool may_allocate(void)
{
    if (!is_counting)
        return true;
    if (n_left == 0)
        return false;
    n_left--;
    return true;
}

void *__wrap_malloc(size_t size_bytes)
{
    return may_allocate() ? __real_malloc(size_bytes) : NULL;
}

void *__wrap_calloc(size_t n, size_t size_bytes)
{
    return may_allocate() ? __real_calloc(n, size_bytes) : NULL;
}

void *__wrap_realloc(void *memory, size_t size_bytes)
{
    return may_allocate() ? __real_realloc(memory, size_bytes) : NULL;
}

/* Returns false only if there is no memory. One of the models has an unsupported op, so that the
 * list of such ops is allocated too. */
static bool check_ops(const struct graph *graph, struct irrun_error *err)
{
    if (ir_check_ops(graph, err))
        return true;
    if (err->code != IRRUN_UNSUPPORTED)
        return false;
    error_clear(err);
    return true;
}

static bool load_all(const char *path, struct irrun_error *err)
{
    struct ir_model model;
    if (!ir_load(path, NULL, true, 0, &model, err))
        return false;
    bool is_good = toposort(model.graph, &model.arena, err) && check_ops(model.graph, err) &&
                   weights_open(&model, err);
    ir_free(&model);
    return is_good;
}

static void try_with_little_memory(const char *xml)
{
    char path[TEXT_PATH_BYTES];
    write_temporary(xml, strlen(xml), path);
    bool is_good = false;
    size_t k;
    for (k = 0; !is_good && k < 10000; k++) {
        struct irrun_error err;
        error_clear(&err);
        n_left = k;
        is_counting = true;
        is_good = load_all(path, &err);
        is_counting = false;
        if (!is_good && err.code != IRRUN_SYSTEM)
            fail_test("allocation %zu: %s\n", k, err.message);
    }
    unlink(path);
    assert_true(is_good);
    assert_true(k > 20);
}

#define MODEL                                                                                      \
    NET(PARAMETER("7", "x\\,y") LAYER("2", "r", "ReadValue", "opset6",                             \
                                      "<data variable_id=\"v\" variable_shape=\"?\"/>" OUTPUT(     \
                                          "<port id=\"0\" "                                        \
                                          "names=\"a,b\"/>")) ADD("3", "sum")                      \
            LAYER("4", "w", "Assign", "opset6", "<data variable_id=\"v\"/>" INPUT(PORT("0")))      \
                LAYER("5", "q", "Quux", "opset1", INPUT(PORT("0")) OUTPUT(PORT("1")))              \
                    LAYER("6", "dead", "Parameter", "opset1", "<data shape=\"x\"/>")               \
                        RESULT("8", "y"),                                                          \
        EDGE("7", "0", "3", "0") EDGE("2", "0", "3", "1") EDGE("3", "2", "4", "0")                 \
            EDGE("3", "2", "5", "0") EDGE("5", "1", "8", "0"))

#define LOOP                                                                                       \
    NET(PARAMETER("0", "x")                                                                        \
            LAYER("1", "t", "TensorIterator", "opset1",                                            \
                  INPUT(PORT("0"))                                                                 \
                      OUTPUT(PORT("1")) "<port_map><input external_port_id=\"0\" "                 \
                                        "internal_layer_id=\"0\"/><output external_port_id=\"1\" " \
                                        "internal_layer_id=\"1\"/></port_map><back_edges><edge "   \
                                        "from-layer=\"1\" to-layer=\"0\"/></back_edges><body>"     \
                                        "<layers>" PARAMETER("0", "a")                             \
                                            RESULT("1", "b") "</layers><edges>" EDGE(              \
                                                "0", "0", "1", "0") "</edges>"                     \
                                                                    "</body>") RESULT("2", "y"),   \
        EDGE("0", "0", "1", "0") EDGE("1", "1", "2", "0"))

static void survives_every_allocation_that_fails(void **state)
{
    (void)state;
    try_with_little_memory(MODEL);
}

static void survives_in_bodies_too(void **state)
{
    (void)state;
    try_with_little_memory(LOOP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_every_allocation_that_fails),
        cmocka_unit_test(survives_in_bodies_too),
    };
    return cmocka_run_group_tests_name("ir_memory", tests, NULL, NULL);
}
