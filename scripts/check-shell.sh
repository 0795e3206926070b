#!/bin/sh
# Checks every shell script of the project with shellcheck; silent when all is well.
# SPDX-License-Identifier: Apache-2.0
# A test of bats is a subshell, which older versions remark upon where tests set one variable.
set -eu
cd "$(dirname "$0")/.."

find scripts tests .ci completions -path tests/cases -prune -o -type f -print 2>/dev/null |
    while IFS= read -r file; do
        case $file in
        *.zsh | *.fish) ;; # other languages
        *.sh | *.bash | *.bats | .ci/* | completions/*) echo "$file" ;;
        esac
    done | xargs shellcheck --exclude=SC2030,SC2031
