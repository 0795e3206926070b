/* kernels/select: every width and operand form, at every alignment, bit for bit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/kernels.h"

enum { MAX_N = 70, MAX_BYTES = (MAX_N + 2) * 8, POISON = 0xA5 };

static const struct {
    select_fn *select;
    size_t width;
} kernels[] = {
    {select_x8_scalar, 1},
    {select_x16_scalar, 2},
    {select_x32_scalar, 4},
    {select_x64_scalar, 8},
};

static uint32_t random_state = 1;

static unsigned char next_byte(void)
{
    random_state = random_state * 1664525U + 1013904223U;
    return (unsigned char)(random_state >> 24);
}

static void fill(unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = next_byte();
}

/* Half of the conditions are false, and the true ones are any byte but zero. */
static void fill_conditions(unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(next_byte() < 128 ? 0 : next_byte() | 1 << i % 8);
}

/* Compares a run, whose operands are `shift` bytes from an aligned address, with one byte at a
 * time. */
static void check_run(size_t kernel, size_t n, size_t shift, unsigned form)
{
    unsigned char condition[MAX_BYTES], a[MAX_BYTES], b[MAX_BYTES], out[MAX_BYTES];
    size_t width = kernels[kernel].width;
    struct select_run run = {
        .n = n,
        .n_rows = 1,
        .condition = condition + shift,
        .then_values = a + shift,
        .else_values = b + (shift + 1) % 8,
        .out = out + (shift + 3) % 8,
        .condition_stride = form & 1,
        .then_stride = form >> 1 & 1,
        .else_stride = form >> 2 & 1,
    };
    fill_conditions(condition, sizeof condition);
    fill(a, sizeof a);
    fill(b, sizeof b);
    memset(out, POISON, sizeof out);

    kernels[kernel].select(&run);

    for (size_t i = 0; i < sizeof out; i++) {
        size_t begin = (shift + 3) % 8;
        unsigned char expected = POISON;
        if (i >= begin && i < begin + n * width) {
            size_t element = (i - begin) / width, byte = (i - begin) % width;
            bool is_then = run.condition[element * run.condition_stride] != 0;
            size_t at = element * (is_then ? run.then_stride : run.else_stride) * width + byte;
            expected = is_then ? a[shift + at] : b[(shift + 1) % 8 + at];
        }
        assert_int_equal(out[i], expected);
    }
}

static void chooses_bit_for_bit_in_every_form(void **state)
{
    (void)state;
    for (size_t kernel = 0; kernel < sizeof kernels / sizeof kernels[0]; kernel++)
        for (size_t n = 0; n < 67; n++)
            for (unsigned form = 0; form < 8; form++)
                check_run(kernel, n, n % 8, form);
}

static void takes_pointers_of_any_alignment(void **state)
{
    (void)state;
    for (size_t kernel = 0; kernel < sizeof kernels / sizeof kernels[0]; kernel++)
        for (size_t shift = 0; shift < 8; shift++)
            for (unsigned form = 0; form < 8; form++)
                check_run(kernel, 33, shift, form);
}

static void choose_five(select_fn *select, const unsigned char *conditions, const void *a,
                        const void *b, void *out)
{
    select(&(struct select_run){.n = 5,
                                .n_rows = 1,
                                .condition = conditions,
                                .then_values = a,
                                .else_values = b,
                                .out = out,
                                .condition_stride = 1,
                                .then_stride = 1,
                                .else_stride = 1});
}

static void keeps_nan_payloads_and_signed_zeros(void **state)
{
    (void)state;
    static const uint32_t bits32[] = {0x7FC00001, 0x7F800001, 0xFFA12345, 0x80000000, 0xFF800000};
    static const uint16_t bits16[] = {0x7C01, 0xFE55, 0x8000, 0xFC00, 0x7E00};
    static const uint64_t bits64[] = {0x7FF0000000000001, 0xFFF8000000012345, 0x8000000000000000,
                                      0x7FF8000000000000, 0xFFF0000000000000};
    static const unsigned char conditions[] = {1, 2, 0x80, 0xFF, 0x10};
    static const unsigned char zeros[40];
    unsigned char out[40];

    choose_five(select_x32_scalar, conditions, bits32, zeros, out);
    assert_memory_equal(out, bits32, sizeof bits32);
    choose_five(select_x16_scalar, conditions, bits16, zeros, out);
    assert_memory_equal(out, bits16, sizeof bits16);
    choose_five(select_x64_scalar, conditions, bits64, zeros, out);
    assert_memory_equal(out, bits64, sizeof bits64);
    choose_five(select_x32_scalar, zeros, zeros, bits32, out);
    assert_memory_equal(out, bits32, sizeof bits32);
}

/* The output may be in the memory of an operand. */
static void writes_over_an_operand(void **state)
{
    (void)state;
    for (size_t kernel = 0; kernel < sizeof kernels / sizeof kernels[0]; kernel++) {
        for (unsigned which = 0; which < 3; which++) {
            unsigned char operands[3][MAX_BYTES], expected[MAX_BYTES];
            size_t width = kernels[kernel].width, n = MAX_N;
            if (which == 0 && width != 1)
                continue;
            fill_conditions(operands[0], MAX_BYTES);
            fill(operands[1], MAX_BYTES);
            fill(operands[2], MAX_BYTES);
            struct select_run run = {.n = n,
                                     .n_rows = 1,
                                     .condition = operands[0],
                                     .then_values = operands[1],
                                     .else_values = operands[2],
                                     .out = expected,
                                     .condition_stride = 1,
                                     .then_stride = 1,
                                     .else_stride = 1};
            kernels[kernel].select(&run);
            run.out = operands[which];
            kernels[kernel].select(&run);
            assert_memory_equal(operands[which], expected, n * width);
            run.condition_stride = 0;
            if (which == 1) {
                kernels[kernel].select(&run);
                const unsigned char *side = operands[0][0] != 0 ? expected : operands[2];
                assert_memory_equal(operands[1], side, n * width);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_bit_for_bit_in_every_form),
        cmocka_unit_test(takes_pointers_of_any_alignment),
        cmocka_unit_test(keeps_nan_payloads_and_signed_zeros),
        cmocka_unit_test(writes_over_an_operand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
