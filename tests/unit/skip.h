/* Skipping a cmocka test with a reason; the reason must be listed in tests/allowed-skips.txt.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_SKIP_H
#define IRRUN_TESTS_SKIP_H

#define skip_because(reason)                                                                       \
    do {                                                                                           \
        print_message("skip: %s\n", reason);                                                       \
        skip();                                                                                    \
    } while (0)

#endif
