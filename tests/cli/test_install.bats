#!/usr/bin/env bats
# What make install puts in place, and whether others can use it.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    directory=${BUILD:-build} # as make test names it: another name of it would be rebuilt
    stage=$BATS_TEST_TMPDIR/stage
    place=$stage/opt/irrun
    cd "$root" || return
}

# With the compiler and the flags of what is built, so that nothing is rebuilt: make test hands them down.
make_target() {
    local flags settings=()
    flags=$(<"$directory/flags")
    [[ $flags != *' -Werror '* ]] || settings+=(WERROR=1)
    local sanitizers=${flags##* -fsanitize=}
    [ "$sanitizers" = "$flags" ] || settings+=(SANITIZE="${sanitizers%% *}")
    make -s CC="${flags%% -Isrc*}" "${settings[@]}" BUILD="$directory" DESTDIR="$stage" PREFIX=/opt/irrun "$@"
}

@test "make install: program, library, header, manual, completion, irrun.pc; make uninstall takes them away" {
    make_target install >"$BATS_TEST_TMPDIR/said"
    [ "$(grep -c '^  CC' "$BATS_TEST_TMPDIR/said")" -eq 0 ]
    cd "$place"
    find . -type f | sort | diff - <(printf '%s\n' ./bin/irrun ./include/irrun.h ./lib/libirrun.a \
        ./lib/pkgconfig/irrun.pc ./share/bash-completion/completions/irrun \
        ./share/irrun/examples/segments.awk \
        ./share/irrun/models/speech_watch/{minute.ogg,model.bin,model.xml} \
        ./share/man/man1/irrun.1 ./share/man/man5/irrun-formats.5)
    [ "$(seq 3 | bin/irrun "$data/sum.xml" -i csv:- -o csv:- | tail -n 1)" = 6 ]
    cd "$root"
    make_target uninstall
    [ -z "$(find "$stage" -type f)" ]
}

@test "a program is compiled with what pkg-config says, and runs" {
    make_target install
    export PKG_CONFIG_PATH=$place/lib/pkgconfig
    pkg-config --validate irrun
    [ "$(pkg-config --modversion irrun)" = "$("$place/bin/irrun" -V | sed -n '1s/irrun //p')" ]
    [ "$(pkg-config --variable=prefix irrun)" = /opt/irrun ]
    read -ra flags < <(pkg-config --define-variable=prefix="$place" --cflags --libs irrun)
    mapfile -t instruments < <(grep -o -e '-fsanitize=[^ ]*' "$directory/flags")
    cp tests/api/running_sum.c "$BATS_TEST_TMPDIR/program.c"
    (cd "$BATS_TEST_TMPDIR" && cc "${instruments[@]}" program.c -o program "${flags[@]}")
    "$BATS_TEST_TMPDIR/program" tests/api/running_sum.xml
}
