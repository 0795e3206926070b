#!/usr/bin/env bash
# Checks the style of the files: the layout of the C sources (with clang-format, if installed), tabs,
# blanks at the end of a line, the newline at the end of a file, the licence line. Lists functions
# and files that are long, without failing because of them. With --fix it applies clang-format first.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0

complain() {
    printf '%s\n' "$1" >&2
    bad=1
}

mapfile -t c_files < <(find include src tests -name '*.[ch]' -print | sort)
mapfile -t files < <(
    printf '%s\n' "${c_files[@]}"
    find src -name '*.def' -print
    find scripts tests/*.* tests/cli man .ci completions -type f ! -name "*.bin" -print 2>/dev/null | sort
)

[ "${1-}" != --fix ] || clang-format -i "${c_files[@]}"

for file in "${files[@]}"; do
    found=$(grep -nE $'\t|[ \t\r]$' "$file" || :)
    [ -z "$found" ] || complain "$file: tab or trailing blank:"$'\n'"$found"
    case $file in
    *.[ch] | *.def)
        # The Makefile reads the rest of a "link:" comment, which must be on one line.
        found=$(LC_ALL=C.UTF-8 grep -nE '^.{101,}' "$file" | grep -v '/[*] link: ' || :)
        [ -z "$found" ] || complain "$file: longer than 100 columns:"$'\n'"$found"
        ;;
    esac
    [ -z "$(tail -c 1 "$file")" ] || complain "$file: no newline at the end"
    head -n 20 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
        complain "$file: no SPDX line at the top"
done

awk '
    function end_file() { if (lines > 400) print "long: " file ": " lines " lines" }
    FNR == 1 { end_file(); file = FILENAME }
    { lines = FNR }
    /^\{$/ { start = FNR }
    /^\}/ {
        if (start && FNR - start > 60)
            print "long: " file ":" start ": a function of " FNR - start " lines"
        start = 0
    }
    END { end_file() }
' "${c_files[@]}"

if command -v clang-format >/dev/null 2>&1; then
    clang-format --dry-run -Werror "${c_files[@]}" || bad=1
else
    echo "clang-format is not installed: the layout of the C sources was not checked"
fi
exit "$bad"
