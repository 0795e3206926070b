#!/usr/bin/env bash
# Checks how the files look: the layout of the C sources (with clang-format, if there is one), tabs,
# blanks at the end of a line, the newline at the end of a file, the licence line. Names functions
# and files that have grown long, without failing for that.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0

complain() {
    printf '%s\n' "$1" >&2
    bad=1
}

mapfile -t c_files < <(find include src tests -path tests/cases -prune -o -name '*.[ch]' -print | sort)
mapfile -t files < <(
    printf '%s\n' "${c_files[@]}"
    find src scripts tests man .ci completions -path tests/cases -prune -o \
        -type f \( -name '*.def' -o -name '*.sh' -o -name '*.awk' -o -name '*.py' -o -name '*.bats' \
        -o -name '*.[0-9]' -o -path '.ci/*' -o -path 'completions/*' \) -print 2>/dev/null | sort
)

for file in "${files[@]}"; do
    found=$(grep -nE $'\t|[ \t\r]$' "$file" || :)
    [ -z "$found" ] || complain "$file: tab or trailing blank:"$'\n'"$found"
    [ -z "$(tail -c 1 "$file")" ] || complain "$file: no newline at the end"
    head -n 12 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
        complain "$file: no SPDX line at the top"
done

awk '
    FNR == 1 { if (lines > 400) print last ": " lines " lines"; last = FILENAME }
    { lines = FNR }
    /^\{$/ { start = FNR }
    /^\}/ { if (start && FNR - start - 1 > 60) print FILENAME ":" start ": a function of " FNR - start - 1 " lines"; start = 0 }
    END { if (lines > 400) print last ": " lines " lines" }
' "${c_files[@]}" | sed 's/^/long: /'

if command -v clang-format >/dev/null 2>&1; then
    clang-format --dry-run -Werror "${c_files[@]}" || bad=1
else
    echo "no clang-format here: the layout of the C sources was not checked"
fi
exit "$bad"
