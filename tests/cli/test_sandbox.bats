#!/usr/bin/env bats
# --sandbox: what a run can no longer do, which a preloaded library tries at its end, and that it
# loses nothing that it needs.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    unset IRRUN_SANDBOX
    mkdir -p mine/out others scratch
    export TMPDIR=$PWD/scratch
    printf '1,2\n3,4\n' >mine/a.csv
    echo secret >others/file
    ln -s ../../others mine/out/link
    cd mine || return
    irrun --sandbox=always --inspect "$data/twice.xml" >/dev/null 2>why ||
        skip "the kernel does not limit files, or not calls"
}

make_trespass() {
    [[ ${BUILD-} != *sanitize* ]] || skip "sanitizers come before any preloaded library"
    cat >trespass.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static void tell(const char *attempt, int result)
{
    if (result >= 0 || (errno != EACCES && errno != EPERM))
        fprintf(stderr, "%s: %s\n", attempt, result < 0 ? strerror(errno) : "done");
}
__attribute__((destructor)) static void trespass(void)
{
    const char *path = getenv("TRESPASS");
    char beside[4096];
    unsetenv("LD_PRELOAD");
    snprintf(beside, sizeof beside, "%s.new", path);
    tell("read", open(path, O_RDONLY));
    tell("write", open(path, O_WRONLY));
    tell("create", open(beside, O_WRONLY | O_CREAT, 0666));
    tell("socket", socket(AF_INET, SOCK_STREAM, 0));
    tell("remove", unlink(path));
    tell("run", execl("/bin/sh", "sh", "-c", "echo run: done >&2", (char *)NULL));
}
END
    ${CC:-cc} -shared -fPIC -o trespass.so -D_GNU_SOURCE trespass.c
}

# attempts FILE ARGUMENT...: what the library could do with FILE at the end of this run.
attempts() {
    make_trespass
    run_apart env TRESPASS="$1" LD_PRELOAD="$PWD/trespass.so" "$IRRUN" "$data/twice.xml" "${@:2}"
    echo "$stderr"
    [ "$status" -eq 0 ]
}

@test "files that the command line does not name, sockets and programs are out of reach" {
    attempts "$PWD/../others/file" -i a.csv -o none: --sandbox=always
    [ "$stderr" = "" ]
    attempts "$PWD/../others/file" -i a.csv -o out/y.npy --sandbox=auto
    [ "$stderr" = "" ]
    [ -s out/y.npy ]
}

@test "an input stays as it is; the directory of an output does not" {
    attempts "$PWD/a.csv" -i a.csv -o none: --sandbox=auto
    [ "$stderr" = "read: done" ]
    attempts "$PWD/out/y.npy" -i a.csv -o out/y.npy --sandbox=auto
    [ "$(lines <<<"$stderr")" = "read: done write: done create: done remove: done" ]
}

@test "a percent sign in the path of an input gives no access to what is beside it" {
    cp a.csv 50%.csv
    attempts "$PWD/a.csv" -i 50%.csv -o none: --sandbox=auto
    [ "$stderr" = "" ]
}

@test "with --manifest files are not limited, but sockets and programs are" {
    printf 'k\ta.csv\n' >list
    attempts "$PWD/../others/file" --manifest list -o none: --sandbox=auto
    [ "$(lines <<<"$stderr")" = "read: done write: done create: done remove: done" ]
    run irrun "$data/twice.xml" --manifest list -o none: --sandbox=always
    [ "$status" -eq 2 ]
    [[ $output == *"--manifest names files that are not known yet"* ]]
}

@test "nothing is limited by default, and by --sandbox=never" {
    attempts "$PWD/../others/file" -i a.csv -o none:
    [[ $(lines <<<"$stderr") == *"socket: done remove: done run: done" ]]
    export IRRUN_SANDBOX=always
    echo secret >../others/file
    attempts "$PWD/../others/file" -i a.csv -o none: --sandbox=never
    [[ $(lines <<<"$stderr") == *"socket: done remove: done run: done" ]]
    echo secret >../others/file
    attempts "$PWD/../others/file" -i a.csv -o none:
    [ "$stderr" = "" ]
    unset IRRUN_SANDBOX
}

@test "outputs of all kinds are written, through links too" {
    local model=$data/sum.xml
    irrun "$model" --random -v --sandbox=always -o none: 2>&1 | grep -q 'files are limited by Landlock'
    irrun "$model" --random --sandbox=always -o out/%n.npy --state-out s.npz --tap-all=taps.npz \
        --trace=trace.json -r report.json --fsync
    irrun "$model" --random --sandbox=always --state-in s.npz --diff=taps.npz --atol 1e9 -o raw:/dev/null
    irrun "$model" --random --sandbox=always -o out/link/new.csv
    [ -s ../others/new.csv ]
    ln -s ../../others/later.csv out/later.csv
    irrun "$model" --random --sandbox=always -o out/later.csv
    [ -s ../others/later.csv ]
    irrun "$model" --random -n 5 --sandbox=always --checkpoint=out/c --emit=all -o out/c.csv
    [ ! -e out/c ]
    irrun "$model" --random --sandbox=always -o 'out/a%%b.npy'
    [ -s out/a%b.npy ]
    irrun "$model" --random -n 40000 --sandbox=always --tap-records=/dev/null -o none:
    nothing_left
}

@test "outputs of more keys than fit in memory" {
    awk 'BEGIN { for (i = 0; i < 4300; i++) print "k" i "  [ 1 2 ]" }' >many.ark
    irrun "$data/twice.xml" -i ark:many.ark -o out/%k.npy --sandbox=always
    [ "$(find out -name 'k*.npy' | wc -l)" -eq 4300 ]
}

@test "pipes are read, an npz from a pipe too" {
    irrun "$data/twice.xml" -i a.csv -o a.npz --sandbox=always
    irrun "$data/twice.xml" -i csv:<(cat a.csv) -o csv:/dev/stdout --sandbox=always | cmp - <(printf '2,4\n6,8\n')
    irrun "$data/twice.xml" -i csv:- -o csv:- --sandbox=always <a.csv | cmp - <(printf '2,4\n6,8\n')
    TMPDIR=$PWD/out irrun "$data/twice.xml" -i x=npz:<(cat a.npz) --expect=npz:a.npz --atol=9 -o none: --sandbox=always
}
