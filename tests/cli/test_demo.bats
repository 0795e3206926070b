#!/usr/bin/env bats
# What make demo shows, and the first command of the README.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    [[ ${LDFLAGS-} != *-static* ]] || skip "a static program loads no library"
    model=$root/models/speech_watch
}

@test "the demo shows the speech of the minute, within 40 lines" {
    IRRUN=$IRRUN "$root/scripts/demo.sh" >shown
    # eight utterances, and one alarm for a key
    [ "$(grep -cE $'^   [0-9.]+\t[0-9.]+\t[0-9.]+$' shown)" -eq 9 ]
    [ "$(sed -n '/\t/{=;q;}' shown)" -le 40 ]
    grep -q '^   speech .*=======' shown
    grep -q '^   the minute, computed .* times as fast as it sounds$' shown
    # with its state the detector hears speech in half of the minute, without in most of it
    [ "$(awk '$2 == 1 && NF == 2 { print ($1 > 900 && $1 < 1100) " " ($1 > 1300) }' shown | lines)" = "1 0 0 1" ]
}

@test "the first command of the README does what it says" {
    cd "$root"
    local command
    # shellcheck disable=SC2016 # expanded by eval
    command=$(sed -n 's,^build/irrun models/speech_watch/,"$IRRUN" models/speech_watch/,p' README.md | head -n 1)
    [ -n "$command" ]
    eval "$command" >"$BATS_TEST_TMPDIR/segments"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/segments")" -eq 9 ]
    [ "$(head -n 1 "$BATS_TEST_TMPDIR/segments")" = $'1.984\t5.600\t3.616' ]
}

@test "the commands of the README can be typed as written" {
    mkdir build
    ln -s "$root/models" models
    ln -s "$IRRUN" build/irrun
    # shellcheck disable=SC2016 # no expansion
    sed -n '/^## What people do/,/^## /{ /^```sh$/,/^```$/{ /^```/!p; }; }' "$root/README.md" >all
    [ "$(grep -c irrun all)" -ge 12 ]
    # those that never end, and those that need a microphone or Graphviz
    grep -vE '^tail -f|^arecord|\| dot ' all >commands
    [ "$(($(wc -l <all) - $(wc -l <commands)))" -eq 3 ]
    run_apart timeout -s KILL 100 bash -e -o pipefail commands </dev/null
    echo "$stderr"
    [ "$status" -eq 0 ]
    [ "$(wc -l <build/minute.csv)" -eq 1875 ]
    [ "$(wc -l <build/delta.csv)" -eq 4000 ]
    [[ $output == *$'\nn,temp,score\n1,67.899,0\n'* ]]
    [[ $output == *"The option "* ]]
}

@test "a stream of 16 bits gives the decisions that the file gives" {
    irrun "$model/model.xml" -i "$model/minute.ogg" --partial=pad --tap=samples -o samples=raw:- |
        perl -0777 -ne 'binmode STDOUT; print pack "s<*", map { $_ < -1 ? -32768 : $_ > 32767 / 32768 ? 32767 : $_ * 32768 } unpack "f<*"' >minute.s16
    irrun "$model/model.xml" -i s16:- --partial=pad -o speech=csv:- <minute.s16 >stream
    irrun "$model/model.xml" -i "$model/minute.ogg" --partial=pad -o speech=csv:- >file
    [ "$(wc -l <file)" -eq 1875 ]
    [ "$(diff stream file | grep -c '^<')" -le 5 ] # the samples are rounded to 16 bits
}
