/* cli/slowest: the counts of the slowest iteration, and the text that describes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "cli/slowest.h"

static struct irrun_model *model;
static struct irrun_session *session;

static int load(void **state)
{
    struct irrun_error err = {.code = IRRUN_OK};
    (void)state;
    return irrun_model_load("tests/cli/data/twice.xml", NULL, &model, &err) &&
                   irrun_session_new(model, &session, &err)
               ? 0
               : -1;
}

static int unload(void **state)
{
    (void)state;
    irrun_session_free(session);
    irrun_model_free(model);
    return 0;
}

/* Simulates an iteration. */
static void sleep_ms(long n)
{
    const struct timespec time = {.tv_nsec = n * 1000000};
    nanosleep(&time, NULL);
}

static void expect_words(const struct slowest *slowest, const char *words, bool are_there)
{
    struct text text = {0};
    slowest_describe(slowest, &text);
    if ((strstr(text.data, words) != NULL) != are_there)
        fail_test("\"%s\" in \"%s\"\n", words, text.data);
    text_free(&text);
}

static void the_slowest_is_kept(void **state)
{
    struct slowest slowest = {0};
    (void)state;
    slowest_begin(&slowest, session);
    slowest_end(&slowest, session, 1000, 0, 0);
    expect_words(&slowest, "plan", false);
    slowest_begin(&slowest, session);
    sleep_ms(2);
    slowest_end(&slowest, session, 2000, 3, 7);
    slowest_begin(&slowest, session);
    slowest_end(&slowest, session, 1500, 3, 8);
    assert_int_equal(slowest.iteration, 7);
    assert_int_equal(slowest.sequence, 3);
    assert_true(slowest.during.events[WAITS] >= 1);
    expect_words(&slowest, "voluntary context switch", true);
    expect_words(&slowest, "% of the time", true);
    expect_words(&slowest, "denormals", false);

    struct slowest other = {.duration_ns = 1999}, slower = {.duration_ns = 2001, .iteration = 5};
    slowest_merge(&slowest, &other);
    assert_int_equal(slowest.iteration, 7);
    slowest_merge(&slowest, &slower);
    assert_int_equal(slowest.iteration, 5);
}

static void page_faults_are_counted(void **state)
{
    struct slowest slowest = {0};
    size_t n_pages = 64, page_bytes = 4096;
    (void)state;
    char *pages = mmap(NULL, n_pages * page_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    madvise(pages, n_pages * page_bytes, MADV_NOHUGEPAGE);
    slowest_begin(&slowest, session);
    for (size_t i = 0; i < n_pages; i++)
        ((volatile char *)pages)[i * page_bytes] = 1;
    slowest_end(&slowest, session, 1, 0, 0);
    munmap(pages, n_pages * page_bytes);
    assert_true(slowest.during.events[PAGE_FAULTS] >= 1);
    expect_words(&slowest, "page fault", true);
}

static void denormals_are_told(void **state)
{
#if defined(__SSE__) || defined(__aarch64__)
    struct slowest slowest = {0};
    volatile float small = 1.1e-30f;
    slowest_begin(&slowest, session);
    small = small * 1.3e-10f;
    slowest_end(&slowest, session, 1, 0, 0);
    expect_words(&slowest, "denormals", true);
    small = 1.1e-30f;
    slowest_begin(&slowest, session);
    small = small * 1.3f;
    slowest_end(&slowest, session, 2, 0, 1);
    expect_words(&slowest, "denormals", false);
#endif
    (void)state;
}

/* Sets counts that a test cannot cause. */
static void each_cause_has_its_words(void **state)
{
    struct slowest slowest = {.during = {.cpu_ns = 100, .wall_ns = 100}};
    (void)state;
    expect_words(&slowest, "no known cause", true);
    slowest.during.cpu_ns = 30;
    expect_words(&slowest, "steal; on a CPU for 30 % of the time", true);
    slowest.during.events[PREEMPTIONS] = 2;
    expect_words(&slowest, "2 involuntary context switches; on a CPU for 30 % of the time", true);
    slowest.during.events[DISK_READS] = slowest.during.events[NEW_PLANS] = 1;
    expect_words(&slowest, "1 page read from disk, 2 involuntary context switches, 1 new plan;",
                 true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slowest_is_kept),
        cmocka_unit_test(page_faults_are_counted),
        cmocka_unit_test(denormals_are_told),
        cmocka_unit_test(each_cause_has_its_words),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
