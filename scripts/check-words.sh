#!/usr/bin/env bash
# Finds phrases in messages, comments and texts that are not used in manuals. Prints each place with
# what to write instead; silent if there are none.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

# An extended regular expression of whole words, and what to write instead.
words='
mend|mends|mended|mending = fix
is no [a-z]+|are no [a-z]+ = is not a ...; "there is no" is fine
to be had|not to be had = available, cannot allocate
anew = again
goes on|go on|going on|went on = continue, resume
exclude each other = cannot be used together
does not say (when|which|what|how) = name what is missing
nothing says|nobody says = is not known
beyond counting|beyond all measure = too large, too long
all the same = nevertheless
one needs = you need
stands? behind = follows
'
bad=0
while IFS= read -r row; do
    [ -n "$row" ] || continue
    found=$(grep -rnwIE --exclude-dir=__pycache__ --exclude=check-words.sh -e "${row%% = *}" \
        Makefile README.md bench completions docs include man models scripts src tests |
        grep -vE "[Tt]here (is|are|were) no|(is|are) no (longer|more)" || :)
    if [ -n "$found" ]; then
        printf '%s\n    write: %s\n' "$found" "${row#* = }" >&2
        bad=1
    fi
done <<<"$words"
exit "$bad"
