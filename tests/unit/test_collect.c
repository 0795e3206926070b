/* cli/collect: a worker keeps outputs until its sequence is next. If an allocation fails, only
 * whole records are written.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=realloc */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/collect.h"
#include "cli/warning.h"

#define N_RECORDS 5

static size_t n_left; /* reallocations until one fails; 0 = none will */

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
    bool is_to_fail = n_left == 1;
    n_left -= n_left > 0;
    return is_to_fail ? NULL : __real_realloc(old, size);
}

static struct irrun_model *model;
static struct options options;
static struct warnings warnings;
static int ends[2]; /* of the pipe to which outputs are written */
static float value;
static const struct irrun_tensor tensor = {IRRUN_F32, {1, {1}}, &value};
static const struct irrun_tensor *const values[] = {&tensor};

/* Passes records until one fails; returns the number that succeeded. */
static size_t pass_records(struct collector *collector, struct backlog *backlog,
                           const struct sequence *sequence, struct irrun_error *err)
{
    size_t n = 0;
    if (!collector_begin(collector, backlog, sequence, values, true, err))
        return 0;
    for (; n < N_RECORDS; n++) {
        value = (float)(100 * sequence->index + n);
        if (!collector_add(collector, backlog, sequence, values, n, false, err))
            break;
    }
    return n;
}

/* Checks the bytes in the pipe: the first sequence, and n records of the second. */
static void assert_written(size_t n)
{
    char got[4096], want[4096] = "0\n1\n2\n3\n4\n";
    for (size_t i = 0; i < n; i++)
        snprintf(want + strlen(want), 16, "%zu\n", 100 + i);
    ssize_t length = read(ends[0], got, sizeof got - 1);
    assert_true(length >= 0);
    got[length] = '\0';
    assert_string_equal(got, want);
}

/* The second sequence arrives first, and is kept. Returns false if no allocation failed. */
static bool keeps_what_it_can(size_t k)
{
    struct collector *collector;
    struct backlog first = {0}, second = {0};
    const struct sequence a = {.key = "a", .index = 0}, b = {.key = "b", .index = 1};
    struct irrun_error err, of_b;
    error_clear(&err);
    error_clear(&of_b);
    assert_true(collector_new(model, &options, &collector, &err));
    n_left = k;
    size_t n_taken = pass_records(collector, &second, &b, &of_b);
    bool has_failed = n_left == 0;
    n_left = 0;
    assert_int_equal(of_b.code, has_failed ? IRRUN_SYSTEM : IRRUN_OK);
    assert_int_equal(pass_records(collector, &first, &a, &err), N_RECORDS);
    assert_true(collector_end(collector, &first, &a, &err));
    collector_fail_sequence(collector, &second, &b);
    collector_free(collector);
    assert_written(n_taken);
    free(first.bytes);
    free(second.bytes);
    return has_failed;
}

static void records_are_kept_whole_or_not_at_all(void **state)
{
    (void)state;
    size_t k = 1;
    while (keeps_what_it_can(k))
        k++;
    assert_true(k > 3);
}

static int open_all(void **state)
{
    (void)state;
    static char program[] = "irrun", path[] = "tests/cli/data/sum.xml", jobs[] = "--jobs=2",
                manifest[] = "--manifest=list", output[64];
    char *words[] = {program, path, jobs, manifest, output, NULL};
    struct irrun_error err;
    error_clear(&err);
    warnings_init(&warnings);
    if (pipe(ends) != 0)
        return -1;
    snprintf(output, sizeof output, "--output=csv:/proc/self/fd/%d", ends[1]);
    bool is_open = options_parse(5, words, &options, &err) &&
                   irrun_model_load(options.model_path, NULL, &model, &err);
    options.warnings = &warnings;
    return is_open ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    irrun_model_free(model);
    options_free(&options);
    warnings_free(&warnings);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_kept_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
