/* Included by every unit test: cmocka and the headers that it needs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_UNIT_H
#define IRRUN_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka's macro `fail`, which fail_msg uses, would replace the function of base/error.h. */
#undef fail
#undef fail_msg
#define fail_test(...)                                                                             \
    do {                                                                                           \
        print_error(__VA_ARGS__);                                                                  \
        _fail(__FILE__, __LINE__);                                                                 \
    } while (0)

/* Skips a test; the reason must be listed in tests/allowed-skips.txt. */
#define skip_because(reason)                                                                       \
    do {                                                                                           \
        print_message("skip: %s\n", reason);                                                       \
        skip();                                                                                    \
    } while (0)

#endif
