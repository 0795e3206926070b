/* formats: sound files that libsndfile refuses.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

#include "format_files.h"
#include "unit.h"

/* Another thread may open a file between the failure and a second close of the descriptor. */
static void a_refused_file_closes_no_other_descriptor(void **state)
{
    (void)state;
    struct array_header header;
    bool is_end;
    struct reader *reader = open_bytes("wav", "junk, not sound", 15);
    assert_false(reader_next(reader, &header, &is_end, &err));
    int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(other >= 0);
    reader_close(reader);
    assert_int_equal(close(other), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_refused_file_closes_no_other_descriptor, clear_error),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
