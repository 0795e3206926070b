#!/usr/bin/env bash
# Checks the manual pages and the documents with examples: mandoc reports nothing, and every example prints what the page
# shows. Ends with one line of counts.
#
#   scripts/check-man.sh [PAGE...]      without PAGE: man/, the cookbook and docs/from-*.md; IRRUN is the program
#
# Every literal display, or block of sh in Markdown, is an example. "$ " begins a command, "> " continues it, other lines are
# its standard output and error, where "..." matches any lines; it must exit with 0. The examples of a page run one after the
# other in one directory, which has small models under short names. Examples that need NumPy are skipped without it:
# neither irrun nor its tests need Python.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
irrun=$(realpath "${IRRUN:-build/irrun}")
unset IRRUN_GEMM IRRUN_PRECISION IRRUN_SIMD POSIXLY_CORRECT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

fault() { # where, what
    printf '%s: %s\n' "$1" "$2"
    failed=$((failed + 1))
}

# ---- The environment of the examples --------------------------------------------------------------

# A script, not a link: Python looks for its modules beside its executable.
make_command() { # name, program
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$2" >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# A Python that has NumPy; prints nothing if there is none.
find_numpy() {
    local python
    for python in python3 /usr/bin/python3; do
        if python=$(command -v "$python") && "$python" -c 'import numpy' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
}

make_directory() {
    rm -rf "$work/directory"
    scripts/example-files.sh "$work/directory"
}

# ---- Pages to examples ------------------------------------------------------------------------------

# Prints "LINE N" and then the N lines for each literal display of a page, as a reader sees them.
displays() {
    case $1 in
    *.md) document_displays "$1" ;;
    *) page_displays "$1" ;;
    esac
}

document_displays() {
    awk '
        /^```sh$/ { inside = 1; n = 0; first = NR + 1; next }
        inside && /^```$/ {
            inside = 0
            print first, n
            for (i = 0; i < n; i++) print shown[i]
            next
        }
        inside { shown[n++] = $0 }
        END { if (inside) print first, 0 }
    ' "$1"
}

page_displays() {
    awk '
        function plain(line) {
            gsub(/\\&/, "", line)
            gsub(/\\e/, "\\", line)
            return line
        }
        /^\.Bd .*-literal/ { inside = 1; n = 0; first = NR + 1; next }
        inside && /^\.Ed/ {
            inside = 0
            print first, n
            for (i = 0; i < n; i++) print shown[i]
            next
        }
        inside { shown[n++] = plain($0) }
        END { if (inside) print first, 0 }
    ' "$1"
}

# Turns the lines of an example into a pattern.
as_pattern() {
    sed -e 's/[][\\*?]/\\&/g' -e 's/^\.\.\.$/*/' <<<"$1"
}

run_command() { # where, command, what it should print
    local output status=0 pattern
    if [ -z "$numpy" ] && [[ $2 == *python3* ]]; then
        printf 'skip: %s # no NumPy for this example\n' "$1"
        skipped=$((skipped + 1))
        return
    fi
    output=$(cd "$work/directory" && PATH=$work/bin:$PATH timeout 60 bash -o pipefail -c "$2" 2>&1 </dev/null) ||
        status=$?
    pattern=$(as_pattern "$3")
    # shellcheck disable=SC2053 # a pattern
    if [ "$status" -eq 0 ] && [[ $output == $pattern ]]; then
        passed=$((passed + 1))
        return
    fi
    fault "$1" "exit status $status: $2"
    diff <(echo "$3") <(echo "$output") | sed 's/^/    /' || :
}

run_display() { # page, the line of its first line; the display on standard input
    local line where number=$2 command='' shown=()
    while IFS= read -r line; do
        if [[ $line == '$ '* ]]; then
            [ -z "$command" ] || run_command "$where" "$command" "$(printf '%s\n' "${shown[@]}")"
            where=$1:$number command=${line#'$ '} shown=()
        elif [ -z "$command" ]; then
            fault "$1:$number" "this display does not begin with '$ ', as an example does"
            return
        elif [[ $line == '> '* ]] && [ "${#shown[@]}" -eq 0 ]; then
            command+=$'\n'${line#'> '}
        else
            shown+=("$line")
        fi
        number=$((number + 1))
    done
    run_command "$where" "$command" "$(printf '%s\n' "${shown[@]}")"
}

check_page() {
    local page=$1 said line n
    if [[ $page == *.md ]]; then
        : # no lint for Markdown
    elif said=$(mandoc -T lint -W warning "$page" 2>&1) && [ -z "$said" ]; then
        passed=$((passed + 1))
    else
        fault "$page" "mandoc reports errors"
        printf '%s\n' "$said"
    fi
    make_directory
    while read -r line n; do
        mapfile -t -n "$n" display
        if [ "$n" -eq 0 ]; then
            fault "$page:$line" "an empty display, or one without end"
        else
            run_display "$page" "$line" < <(printf '%s\n' "${display[@]}")
        fi
    done < <(displays "$page")
}

mkdir "$work/bin"
make_command irrun "$irrun"
numpy=$(find_numpy)
make_command python3 "${numpy:-python3}"
[ $# -gt 0 ] || set -- "$root"/man/*.[0-9] "$root"/docs/cookbook.md "$root"/docs/from-*.md
for page; do
    check_page "$page"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
