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
    local settings=()
    flags=$(<"$directory/flags")
    [[ $flags != *' -Werror '* ]] || settings+=(WERROR=1)
    local sanitizers=${flags##* -fsanitize=}
    [[ $flags != *' --coverage '* ]] || settings+=(COVERAGE=1)
    [ "$sanitizers" = "$flags" ] || settings+=(SANITIZE="${sanitizers%% *}")
    make -s CC="${flags%% -Isrc*}" "${settings[@]}" BUILD="$directory" DESTDIR="$stage" PREFIX=/opt/irrun "$@"
}

@test "make install: program, libraries, header, manual, completions, irrun.pc; make uninstall takes them away" {
    make_target install >"$BATS_TEST_TMPDIR/said"
    [ "$(grep -c '^  CC' "$BATS_TEST_TMPDIR/said")" -eq 0 ]
    cd "$place"
    local shared=()
    [[ $flags == *' -static '* ]] || shared=(./lib/libirrun.so ./lib/libirrun.so.0 ./lib/libirrun.so.0.1.0)
    find . ! -type d | sort | diff - <(printf '%s\n' ./bin/irrun ./include/irrun.h ./lib/libirrun.a "${shared[@]}" \
        ./lib/pkgconfig/irrun.pc ./share/bash-completion/completions/irrun \
        ./share/fish/vendor_completions.d/irrun.fish \
        ./share/irrun/examples/{Containerfile,SparkPipe.java,kubernetes-job.yaml,segments.awk,slurm-array.sh,spark_arrow.py,spark_pipe.py} \
        ./share/irrun/models/speech_watch/{minute.ogg,model.bin,model.xml} \
        ./share/irrun/python/irrun.py \
        ./share/man/man1/irrun.1 ./share/man/man5/irrun-formats.5 \
        ./share/zsh/site-functions/_irrun)
    [ "$(seq 3 | bin/irrun "$data/sum.xml" -i csv:- -o csv:- | tail -n 1)" = 6 ]
    cd "$root"
    make_target uninstall
    [ -z "$(find "$stage" ! -type d)" ]
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
    [ "$(LD_LIBRARY_PATH=$place/lib "$BATS_TEST_TMPDIR/program" tests/api/running_sum.xml | paste -sd ' ')" = "1 3 6 4 9" ]
    read -ra flags < <(pkg-config --static --define-variable=prefix="$place" --cflags --libs irrun)
    (cd "$BATS_TEST_TMPDIR" && cc "${instruments[@]}" program.c -o static "${flags[@]/#-lirrun/-l:libirrun.a}")
    "$BATS_TEST_TMPDIR/static" tests/api/running_sum.xml
}

@test "the shared library exports what irrun.h declares, each with a version, and nothing else" {
    [[ $(<"$directory/flags") != *' -static '* ]] || skip "a static program loads no library"
    nm -D --defined-only "$directory/libirrun.so.0" | awk '$2 == "T" { print $3 }' | sort >"$BATS_TEST_TMPDIR/exported"
    grep -v '^typedef' include/irrun.h | grep -oE '\birrun_[a-z_]+\(' | tr -d '(' | sort -u | sed 's/$/@@IRRUN_0.1/' |
        diff - <(grep -v -e '__[at]san' -e '__ubsan' "$BATS_TEST_TMPDIR/exported")
    sed -n 's/^        \(irrun_[a-z_]*\);$/\1@@IRRUN_0.1/p' irrun.map | diff - "$BATS_TEST_TMPDIR/exported"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/exported")" -ge 40 ]
}

@test "make deb: the same bytes twice; the package is whole and what is in it runs" {
    command -v dpkg-deb >/dev/null || skip "dpkg-deb is not there"
    [[ $(<"$directory/flags") != *' -static '* ]] || skip "a static program loads no library"
    [[ $(<"$directory/flags") != *' -fsanitize='* ]] || skip "sanitizers come before any preloaded library"
    local package unpacked=$BATS_TEST_TMPDIR/unpacked
    export DPKG_DEB_COMPRESSOR_LEVEL=1 # of 9, which take 10 seconds each time
    make_target deb >"$BATS_TEST_TMPDIR/said"
    package=$(sed -n 's/^  DEB  //p' "$BATS_TEST_TMPDIR/said")
    cp "$package" "$BATS_TEST_TMPDIR/first.deb"
    sleep 1.1 # the clock must not matter
    make_target deb
    cmp "$package" "$BATS_TEST_TMPDIR/first.deb"
    dpkg-deb -x "$package" "$unpacked"
    [ "$(seq 3 | "$unpacked/usr/bin/irrun" "$data/sum.xml" -i csv:- -o csv:- | tail -n 1)" = 6 ]
    [ -e "$(echo "$unpacked"/usr/lib/*/libirrun.so)" ]
    dpkg-deb -e "$package" "$BATS_TEST_TMPDIR/control"
    (cd "$unpacked" && md5sum --quiet -c "$BATS_TEST_TMPDIR/control/md5sums")
    rm "$package"
}

@test "make static: a program for a root directory in which nothing else is" {
    [[ $(<"$directory/flags") != *' -fsanitize='* ]] || skip "a program with sanitizers is not static"
    local empty=$BATS_TEST_TMPDIR/empty as_root=() tagger=$root/models/lstm_tagger
    [ "$(id -u)" -eq 0 ] || as_root=(unshare -r)
    "${as_root[@]}" chroot / true || skip "the root directory cannot be changed here"
    make_target static 2>"$BATS_TEST_TMPDIR/said" ||
        { grep '^static: ' "$BATS_TEST_TMPDIR/said" && skip "static libraries are not there"; }
    mkdir "$empty"
    cp "$directory/irrun-static" "$tagger"/model.{xml,bin} "$tagger/in.npz" "$empty"
    printf 'RIFF\44\0\0\0WAVE' >"$empty/a.wav"
    cd "$BATS_TEST_TMPDIR" # run_apart writes stderr here
    alone() {
        run_apart "${as_root[@]}" chroot "$empty" /irrun-static "$@"
    }
    alone model.xml -i in.npz -o text:- --gemm=packed
    [ "$status" -eq 0 ]
    irrun "$tagger/model.xml" -i "$tagger/in.npz" -o text:- --gemm=packed | cmp - <(echo "$output")
    alone model.xml --random -o none: --threads=2 --gemm=auto
    [ "$status$stderr" = 0 ]
    local why="this program is static, and loads no library"
    alone model.xml --random --gemm=cblas
    [ "$status" -eq 71 ]
    [[ $stderr == *"cannot load CBLAS: $why"* ]]
    alone model.xml -i a.wav
    [ "$status" -eq 71 ]
    [[ $stderr == *"cannot load libsndfile, which reads a.wav: $why"* ]]
}

@test "make dist: the same bytes twice, and every file of the commit" {
    git rev-parse HEAD >/dev/null 2>&1 || skip "git is not there"
    make_target dist
    cp "$directory"/irrun-*.tar.gz "$BATS_TEST_TMPDIR/first.tar.gz"
    sleep 1.1
    make_target dist
    cmp "$directory"/irrun-*.tar.gz "$BATS_TEST_TMPDIR/first.tar.gz"
    [ "$(tar tzf "$BATS_TEST_TMPDIR/first.tar.gz" | grep -vc '/$')" -eq "$(git ls-tree -r --name-only HEAD | wc -l)" ]
    rm "$directory"/irrun-*.tar.gz
}
