#!/usr/bin/env bash
# Static analysis of src/ with gcc -fanalyzer, clang-tidy and cppcheck, if they are installed, or with
# the given ones:
#
#   scripts/analyze.sh [gcc|clang-tidy|cppcheck]...
#
# .clang-tidy selects its checks; tests/findings.txt lists the findings that are not bugs, with the
# reasons. Ends with 1 if there is another one. build/analyze has the output of each tool.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/analyze
mkdir -p "$build"

mapfile -t flags < <(
    printf '%s\n' -std=c11 -D_GNU_SOURCE -Isrc -Iinclude
    for module in expat zlib cblas blas; do
        pkg-config --cflags "$module" 2>/dev/null | xargs -n 1
    done
)

run_tool() {
    case $1 in
    gcc)
        # Not the kernels: they are only loops.
        find src -name '*.c' ! -path 'src/kernels/*' -print0 | LC_ALL=C sort -z |
            nice xargs -0 -P "$(nproc)" -n 1 gcc "${flags[@]}" -O1 -fanalyzer -c -o /dev/null
        ;;
    clang-tidy)
        # It is slow, so only the modules that read files are analyzed.
        find src/base src/tensor src/formats src/ir src/runtime -name '*.c' -print0 | LC_ALL=C sort -z |
            nice xargs -0 -P "$(nproc)" -n 8 sh -c 'clang-tidy --quiet "$@" -- '"${flags[*]}" sh
        ;;
    cppcheck)
        nice cppcheck --quiet --std=c11 --enable=warning,portability,performance --inline-suppr \
            --template='{file}:{line}:{column}: warning: {message} [{id}]' --suppress='*:/usr/*' \
            --library=posix -Isrc -Iinclude -D_GNU_SOURCE -D__x86_64__ -j "$(nproc)" src
        ;;
    *)
        echo "analyze: unknown: $1" >&2
        exit 2
        ;;
    esac
}

# Prints the findings of a tool that tests/findings.txt does not list.
unexplained() {
    sed -nE "s,^$PWD/,,; /^(src|include)\/[^:]*:[0-9]+:([0-9]+:)? *(warning|error):/p" "$1" | sort -u |
        awk '
            FILENAME != "-" {
                if (!/^#/ && split($0, field, / \| /) == 3) {
                    path[++n] = "^(" field[1] ")$"
                    words[n] = field[2]
                }
                next
            }
            {
                split($0, place, ":")
                for (i = 1; i <= n; i++)
                    if (place[1] ~ path[i] && $0 ~ words[i])
                        next
                print
            }' tests/findings.txt -
}

[ $# -gt 0 ] || set -- gcc clang-tidy cppcheck
bad=0
for tool; do
    if ! command -v "$tool" >/dev/null; then
        echo "$tool: skipped: it is not installed"
        continue
    fi
    run_tool "$tool" >"$build/$tool.log" 2>&1 || :
    found=$(unexplained "$build/$tool.log")
    echo "$tool: $(grep -c . <<<"$found" || :) findings"
    if [ -n "$found" ]; then
        printf '%s\n' "$found"
        bad=1
    fi
done
exit "$bad"
