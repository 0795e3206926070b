#!/usr/bin/env bash
# Checks the order of the modules: a file includes only headers of its own module and of modules to
# its left.
# Also: expat and CBLAS are each included by one file, intrinsics are only in vector_<level>.h, the
# public header includes only standard headers, and file names are unique.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

modules='base tensor formats kernels graph ops ir plan runtime irrun.c irrun_build.c cli main.c'
# Modules that may include less than all to their left.
kernels_see='base kernels tensor/half.h tensor/sub_byte.h'
cli_sees='base tensor formats cli'
bad=0

complain() {
    printf '%s\n' "$1" >&2
    bad=1
}

# "FILE:LINE:HEADER" for every include of a header of the project below src.
includes=$(grep -rnE '^[ \t]*#[ \t]*include[ \t]*"' src --include='*.[ch]' --include='*.def' |
    sed -E 's/^([^:]+):([0-9]+):[^"]*"([^"]+)".*/\1:\2:\3/')
wrong=$(awk -F: -v modules="$modules" -v kernels="$kernels_see" -v cli="$cli_sees" '
    BEGIN {
        n = split(modules, names, " ")
        for (i = 1; i <= n; i++) {
            place[names[i]] = i
            for (j = 1; j <= i; j++)
                sees[names[i], names[j]] = 1
        }
        narrow("kernels", kernels)
        narrow("cli", cli)
    }
    function narrow(module, list,    i, k, parts) {
        for (i = 1; i <= n; i++)
            delete sees[module, names[i]]
        k = split(list, parts, " ")
        for (i = 1; i <= k; i++)
            sees[module, parts[i]] = 1
    }
    {
        split($1, from, "/")
        split($3, to, "/")
        if ($3 == "irrun.h" || ((from[2], to[1]) in sees) || ((from[2], $3) in sees))
            next
        print $1 ":" $2 ": " from[2] " may not include \"" $3 "\""
    }' <<<"$includes")
[ -z "$wrong" ] || complain "$wrong"

for header in expat.h cblas.h; do
    users=$(grep -rlE "^[ \t]*#[ \t]*include[ \t]*<$header>" src include || :)
    [ "$(printf '%s' "$users" | grep -c .)" -eq 1 ] ||
        complain "<$header> is included by exactly one file, not by: ${users:-none}"
done

users=$(grep -rlE '^[ \t]*#[ \t]*include[ \t]*<(.*mmintrin|x86intrin|arm_neon)\.h>' \
    src include tests --include='*.[ch]' | grep -v '/vector_[a-z0-9]*\.h$' || :)
[ -z "$users" ] || complain "intrinsics elsewhere than in a vector_<level>.h: $users"

# The public header stands alone, and so do the programs that show its use.
wrong=$(grep -nE '^[ \t]*#[ \t]*include' include/*.h |
    grep -vE '<(stdbool|stddef|stdint)\.h>' || :)
[ -z "$wrong" ] || complain "the public header includes more than it needs: $wrong"
wrong=$(grep -nE '^[ \t]*#[ \t]*include[ \t]*"' tests/api/*.c | grep -v '"irrun.h"' || :)
[ -z "$wrong" ] || complain "a program of tests/api includes more than irrun.h: $wrong"

twice=$(find src include scripts man tests \( -path tests/cases -o -name __pycache__ \) -prune -o \
    -type f -name '*.*' ! -name README.md ! -name '__init__.*' -print |
    sed 's|.*/||' | sort | uniq -d)
[ -z "$twice" ] || complain "file names that are not unique: $twice"

exit "$bad"
