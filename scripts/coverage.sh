#!/usr/bin/env bash
# Counts the lines of src/ that the tests reach, in the build of `make coverage`:
#
#   scripts/coverage.sh run [PART...]   resets the counts and runs all tests or these parts
#   scripts/coverage.sh report          prints a table by directory, and writes unreached.txt: every
#                                       line that no test reaches, with the reason if there is one
#
# A line that is compiled several times is reached if any of its objects reaches it. The reasons are
# in tests/unreached.txt. Environment: BUILD, the build directory (build/coverage); GCOV (gcov).
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
export BUILD=${BUILD:-build/coverage}

# Counting slows programs down and writes files, so tests of time, files and faults may fail here.
# They must pass in `make test`.
run() {
    find "$BUILD" -name '*.gcda' -delete
    nice tests/run.sh "$@" >"$BUILD/tests.log" 2>&1 || :
    echo "$BUILD/tests.log: $(tail -n 1 "$BUILD/tests.log")"
}

# FILE:LINE:IS_REACHED:TEXT of each line that can run, for each object.
list_lines() {
    find "$BUILD/src/" -name '*.gcno' -print0 | xargs -0 -n 50 "${GCOV:-gcov}" -t 2>/dev/null | awk '
        match($0, /^ *-: *0:Source:/) { file = substr($0, RLENGTH + 1) }
        file ~ /^src\// && match($0, /^ *[0-9#=]+[*]?: *[1-9][0-9]*:/) {
            split($0, field, ":")
            gsub(/ /, "", field[2])
            print file ":" field[2] ":" (field[1] !~ /[#=]/) ":" substr($0, RLENGTH + 1)
        }'
}

case ${1-} in
run) run "${@:2}" ;;
report)
    list_lines | sort | uniq | awk -v unreached="$BUILD/unreached.txt" -f scripts/coverage.awk tests/unreached.txt -
    echo "the lines: $BUILD/unreached.txt"
    ;;
*)
    echo "usage: scripts/coverage.sh run [PART...] | report" >&2
    exit 2
    ;;
esac
