#!/usr/bin/env bats
# What is written: every element type, stacks and single records, shapes that change, streams that are closed or full.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '2,' 1 2 >one.npy
    npy '<f4' '3, 2' 1 2 3 4 5 6 >three.npy
}

# A model that passes its only input on, [?,2] of a type.
pass_on() { # type
    sed "s/f32/$1/; s/<add/<x/" "$data/twice_open.xml" | perl -0pe '
        s/<layer id="1".*?<\/layer>//s; s/<edge from-layer="0".*?\/>\s*<edge from-layer="0".*?\/>\s*<edge from-layer="1" from-port="2"/<edge from-layer="0" from-port="0"/s;
        s/<port id="0">/<port id="0" names="y">/' >pass.xml
}

# npy with 2, 2 elements given as hexadecimal bytes.
npy_of() { # descr, bytes
    npy "$1" '2, 2' | cat - <(perl -e 'print pack("H*", shift)' "$2")
}

@test "every type of NumPy: npy, npz, raw, csv and text, in and out, to the last bit" {
    local type descr bytes text
    while read -r type descr bytes text; do
        echo "$type"
        pass_on "$type"
        npy_of "$descr" "$bytes" >x.npy
        irrun pass.xml -i x.npy --cast=none -o y.npy -o y.npz -o y.raw -o y.csv -o y.txt
        cmp x.npy y.npy
        [ "$(lines <y.csv)" = "$text" ]
        irrun pass.xml -i x=y.npz --cast=none -o z.npy
        cmp x.npy z.npy
        for file in raw:y.raw csv:y.csv csv:y.txt; do
            irrun pass.xml -i "$file" --raw-check=never --shape=x=2,2 --concat=0 -o z.npy
            cmp x.npy z.npy
        done
        [ "$(head -n 1 y.txt)" = "# y $type [2,2] seq=x rec=0" ]
    done <<'TYPES'
f16 <f2 003c00c4ff7b0100 1,-4 65504,6e-08
f32 <f4 0000803fcdcccc3dffff7f7f01000000 1,0.1 3.4028235e+38,1e-45
f64 <f8 000000000000f03f9a9999999999b93fffffffffffffef7f0100000000000000 1,0.1 1.7976931348623157e+308,5e-324
i8 |i1 7f80ff01 127,-128 -1,1
u8 |u1 7f80ff01 127,128 255,1
i16 <i2 ff7f0080ffff0100 32767,-32768 -1,1
u16 <u2 ff7f0080ffff0100 32767,32768 65535,1
i32 <i4 ffffff7f00000080ffffffff01000000 2147483647,-2147483648 -1,1
u32 <u4 ffffff7f00000080ffffffff01000000 2147483647,2147483648 4294967295,1
i64 <i8 ffffffffffffff7f0000000000000080ffffffffffffffff0100000000000000 9223372036854775807,-9223372036854775808 -1,1
u64 <u8 ffffffffffffff7f0000000000000080ffffffffffffffff0100000000000000 9223372036854775807,9223372036854775808 18446744073709551615,1
boolean |b1 00010100 0,1 1,0
TYPES
}

@test "types that NumPy lacks are written as one that holds them, and read back under --cast" {
    local type numbers descr
    while read -r type numbers descr; do
        echo "$type"
        pass_on "$type"
        printf '%s\n' "$numbers" >x.csv
        irrun pass.xml -i x.csv --shape=x=1,2 --concat=0 -o y.npy -o y.csv
        LC_ALL=C grep -qa "'descr': '$descr'" y.npy
        [ "$(cat y.csv)" = "$numbers" ]
        run_apart irrun pass.xml -i y.npy --cast=none -o z.csv
        [ "$status" -eq 65 ]
        irrun pass.xml -i y.npy --cast=any -q -o z.csv
        [ "$(cat z.csv)" = "$numbers" ]
    done <<'TYPES'
bf16 1.5,-0.25 <f4
i4 -8,7 |i1
u4 15,0 |u1
u1 1,0 |b1
TYPES
}

@test "a run over a stack, over a stream, or of several iterations writes a stack; over one record, a record" {
    check() { # shape, arguments
        local want=$1
        shift
        irrun "$data/twice.xml" "$@" -o y.npy -o y.npz
        [ "$(shape y.npy)" = "$want" ]
        [ "$(unzip -p y.npz y.npy | shape /dev/stdin)" = "$want" ]
    }
    printf '1 2\n' >one.csv
    raw 1 2 >one.raw
    printf 'u [\n 1 2 ]\n' >one.ark
    npy '<f4' '1, 2' 1 2 >stack.npy
    check '2,' -i one.npy
    check '2,' --random
    check '1, 2' -i stack.npy
    check '1, 2' -i one.csv
    check '1, 2' -i one.raw
    check '1, 2' -i one.npy --axis=0
    irrun "$data/twice.xml" -i one.ark -o y.npy
    [ "$(shape y.npy)" = "1, 2" ]
    check '2, 2' -i one.npy -n 2 --emit=all
    check '2,' -i one.npy -n 2
    check '2,' -i three.npy --emit=last
    cat one.npy one.npy >many.npy
    check '2, 2' -i many.npy
}

@test "records of two shapes: 65 that names both in npy, npz and ark files; a pipe takes them" {
    npy '<f4' '1, 2' 1 2 >a.npy
    npy '<f4' '2, 2' 3 4 5 6 >b.npy
    cat a.npy b.npy >many.npy
    local file
    for file in y.npy y.npz; do
        run_apart irrun "$data/twice_open.xml" -i many.npy -o "$file"
        [ "$status" -eq 65 ]
        [[ $stderr == *"[2,2]"*"[1,2]"* || $stderr == *"[1,2]"*"[2,2]"* ]]
        [ ! -e "$file" ]
    done
    sed 's/shape="?,2"/shape="?"/; s/<dim>2<\/dim>//g' "$data/twice_open.xml" >line.xml
    npy '<f4' '1,' 1 >a1.npy
    npy '<f4' '3,' 3 4 5 >b1.npy
    cat a1.npy b1.npy >lines.npy
    run_apart irrun line.xml -i lines.npy -o y.ark
    [ "$status" -eq 65 ]
    [[ $stderr == *'"y"'*"[1,3]"*"[1,1]"* ]]
    irrun "$data/twice_open.xml" -i many.npy -o npy:- | cat >piped.npy
    [ "$(irrun "$data/twice_open.xml" -i piped.npy | grep '^#' | cut -d ' ' -f 4 | lines)" = "[1,2] [2,2]" ]
    [ "$(irrun "$data/twice_open.xml" -i many.npy -o y.txt && grep '^#' y.txt | cut -d ' ' -f 4 | lines)" = "[1,2] [2,2]" ]
}

@test "npz and ark of three dimensions, and npz through a pipe, are usage errors" {
    local target
    for target in ark:- ark:y.ark ark,t:y.ark; do
        run_apart irrun "$data/twice_any.xml" --random --shape=x=1,1,2 -o "$target"
        [ "$status" -eq 2 ]
        [[ $stderr == *"[1,1,2]"* ]]
    done
    run_apart irrun "$data/twice.xml" --random -o npz:-
    [ "$status" -eq 2 ]
    [ ! -e y.ark ]
}

@test "ark is binary, f32 but for wider types, unless ark,t; text and binary are told apart when read" {
    printf 'u [ 1.5 2 ]\n' >x.ark
    irrun "$data/twice.xml" -i x.ark --axis=0 --concat=0 -o y.ark -o ark,t:t.ark
    [ "$(head -c 6 y.ark | tr -d '\0')" = "u BFV" ]
    irrun "$data/twice_f64.xml" -i x.ark --axis=0 --concat=0 -o d.ark # not to lose digits
    [ "$(head -c 6 d.ark | tr -d '\0')" = "u BDV" ]
    [ "$(tr -s ' \n' ' ' <t.ark)" = "u [ 3 4 ] " ]
    [ "$(irrun "$data/twice.xml" -i y.ark --axis=0 -o csv:-)" = "6,8" ]
    [ "$(irrun "$data/twice.xml" -i t.ark --axis=0 -o csv:-)" = "6,8" ]
    printf 'u \0BDV \4\2\0\0\0' >d.ark
    perl -e 'print pack("d<*", 0.5, 4)' >>d.ark
    [ "$(irrun "$data/twice_f64.xml" -i d.ark --axis=0 -o csv:-)" = "1,8" ]
    printf 'u \0BCM ....................' >c.ark
    run_apart irrun "$data/twice.xml" -i c.ark --axis=0
    [ "$status" -eq 65 ]
    [[ $stderr == *"compressed"* ]]
}

@test "%k is the file name without directory and ending, or - for a pipe" {
    mkdir -p a.b
    cp one.npy a.b/c.d.npy
    irrun "$data/twice.xml" -i a.b/c.d.npy -o '%k.csv'
    [ -e c.d.csv ]
    irrun "$data/twice.xml" -i npy:- -o '%k_%n_%%.csv' <one.npy
    [ -e ./-_y_%.csv ]
    irrun "$data/twice.xml" --random -o 'r%k.csv'
    [ -e r-.csv ]
    answered 66 "%k.csv: error: cannot be opened" \
        "%k is for the names of outputs; to read a folder: ls FOLDER/* | irrun MODEL.xml --manifest=-" \
        "$data/twice.xml" -i '%k.csv' -o none:
}

@test "several sequences in one file: npy, raw and csv continue, text and ark carry keys" {
    printf 'u1  [\n  1 2\n  3 4 ]\nu2  [\n  5 6 ]\n' >f.ark
    irrun "$data/twice.xml" -i f.ark -o y.npy -o y.raw -o y.csv -o y.txt -o y.ark
    [ "$(shape y.npy)" = "3, 2" ]
    [ "$(lines <y.csv)" = "2,4 6,8 10,12" ]
    tail -c 24 y.npy | cmp - y.raw
    [ "$(grep '^#' y.txt | cut -d ' ' -f 5,6 | lines)" = "seq=u1 rec=0 seq=u1 rec=1 seq=u2 rec=0" ]
    [ "$(irrun "$data/twice.xml" -i y.ark | grep '^#' | cut -d ' ' -f 5 | lines)" = "seq=u1 seq=u1 seq=u2" ]
}

@test "csv: no heading, a row for each last-axis row, commas; text: rows of blanks" {
    irrun "$data/twice_any.xml" -i three.npy -o y.csv -o y.txt
    [ "$(cat y.csv)" = $'2,4\n6,8\n10,12' ]
    [ "$(cat y.txt)" = $'# y f32 [3,2] seq=three rec=0\n2 4\n6 8\n10 12' ]
    npy '<f4' '2, 1, 2' 1 2 3 4 >deep.npy
    [ "$(irrun "$data/twice_any.xml" -i deep.npy -o csv:- | lines)" = "2,4 6,8" ]
}

@test "a stream that fails keeps every file from its name" {
    local target
    for target in csv:/dev/full npy:/dev/full; do
        run_apart irrun "$data/twice.xml" --random -o y.npy -o "$target" -o z.npz
        [ "$status" -eq 74 ]
        [ ! -e y.npy ]
        [ ! -e z.npz ]
    done
    status=0
    irrun "$data/twice.xml" --random -o y.npy -o csv:- -o z.npz 2>stderr >/dev/full || status=$?
    [ "$status" -eq 74 ]
    [ ! -e y.npy ]
    [ -z "$(find . -name '.irrun*')" ]
}

@test "a closed standard stream is not taken by a file" {
    status=0
    irrun "$data/twice.xml" --random -o y.npy -o csv:- >&- 2>stderr || status=$?
    [ "$status" -eq 74 ]
    [ "$(wc -l <stderr)" -eq 1 ]
    [ ! -e y.npy ]
    # What would be told on standard error must not get into the output.
    irrun "$data/sum.xml" --random --reset=if:x -o want.raw -n 5 --emit=all
    irrun "$data/twice.xml" --random --reset -v -o want.npy 2>/dev/null
    irrun "$data/twice.xml" --random --reset -v -o got.npy 2>&-
    cmp want.npy got.npy
    irrun "$data/sum.xml" --random --duration=1.2 --progress=plain --emit=all -o long.csv 2>&-
    [ "$(grep -c irrun long.csv)" -eq 0 ]
    irrun "$data/twice.xml" --random --reset -o got.npy <&- >&- 2>&-
    cmp want.npy got.npy
}

@test "a FIFO and a device are written directly, a symbolic link's target is replaced" {
    mkfifo pipe
    cat pipe >got &
    irrun "$data/twice.xml" -i one.npy -o csv:pipe
    wait $!
    [ "$(cat got)" = "2,4" ]
    [ -p pipe ]
    echo old >target.csv
    ln -s target.csv link.csv
    irrun "$data/twice.xml" -i one.npy -o link.csv
    [ -L link.csv ]
    [ "$(cat target.csv)" = "2,4" ]
    rm target.csv
    irrun "$data/twice.xml" -i one.npy -o link.csv # the target does not exist yet
    [ -L link.csv ]
    [ "$(cat target.csv)" = "2,4" ]
}

@test "success is silent on standard error, and standard output holds tensors alone" {
    local arguments
    # shellcheck disable=SC2086 # several arguments
    for arguments in "-o csv:-" "-o none:" "-o y.npz" "--expect=w.npy" "--check" "-o y.npy --warmup=2 -j 2 --fsync" "-n 0"; do
        irrun "$data/twice.xml" -i three.npy -o w.npy
        run_apart irrun "$data/twice.xml" -i three.npy $arguments
        echo "$arguments: $stderr"
        [ "$status" -eq 0 ]
        [ "$stderr" = "" ]
        [[ $output == "" || $arguments == "-o csv:-" ]]
    done
}
