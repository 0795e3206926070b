#!/bin/sh
# Checks every shell script of the project with shellcheck; silent if there are no errors.
# SPDX-License-Identifier: Apache-2.0
# A test of bats is a subshell: older versions of shellcheck warn of variables that are set there.
set -eu
cd "$(dirname "$0")/.."

find scripts tests .ci completions -path tests/cases -prune -o -type f -print 2>/dev/null |
    while IFS= read -r file; do
        case $file in
        *.zsh | *.fish) ;; # other languages
        *.sh | *.bash | *.bats | .ci/* | completions/*) echo "$file" ;;
        esac
    done | xargs shellcheck --exclude=SC2030,SC2031
