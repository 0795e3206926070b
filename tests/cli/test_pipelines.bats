#!/usr/bin/env bats
# irrun as a filter among others: the pipelines that the manual promises, with the programs of this machine.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2012,SC2016,SC2154 # as people write it; awk's own; common.bash sets them
load common

setup() {
    common_setup
    mkdir bin
    ln -s "$IRRUN" bin/irrun
    PATH=$PWD/bin:$PATH
    unset -f irrun # the program, as anyone would call it
    set -o pipefail
}

@test "check, then run" {
    cp "$data/twice.xml" m.xml
    npy '<f4' '2,' 1 2 >x.npy
    irrun --check m.xml && irrun m.xml -i x.npy -o y.npy
    [ "$(shape y.npy)" = "2," ]
    npy '<i8' '2,' 1 2 >x.npy
    rm y.npy
    ! irrun --check m.xml -i x.npy 2>/dev/null || irrun m.xml -i x.npy -o y.npy
    [ ! -e y.npy ]
}

@test "sox | irrun | awk: how much of a recording is sound" {
    cp "$data"/vad.* .
    # 32 chunks of 512 samples of sound between as much silence.
    sox -R -n -r 16000 -c 1 -b 16 a.wav synth 1.024 sine 440 vol 0.5 pad 1.024 1.024
    [ "$(sox a.wav -r 16000 -c 1 -t f32 - | irrun vad.xml -i raw:- --axis 1:512 -o csv:- | wc -l)" -eq 96 ]
    [ "$(sox a.wav -r 16000 -c 1 -t f32 - | irrun vad.xml -i raw:- --axis 1:512 -o csv:- | awk -F, '$1>0.5' | wc -l)" -eq 38 ]
    # From a file of another rate and width, louder.
    sox -R -n -r 8000 -c 2 -b 24 b.wav synth 1.024 sine 440 vol 0.9
    [ "$(sox b.wav -r 16000 -c 1 -t f32 - | irrun vad.xml -i raw:- --axis 1:512 -o csv:- | awk -F, '$1>0.5' | wc -l)" -eq 32 ]
}

@test "what a microphone sends is answered while it runs" {
    cp "$data"/vad.* .
    mkfifo sound
    stdbuf -o0 cat <sound | irrun vad.xml -i raw:- --axis 1:512 -o npy:- >answers &
    exec 7>sound
    # Enough records that the buffer of the output must have been emptied.
    sox -R -n -r 16000 -c 1 -t f32 - synth 32.768 sine 440 vol 0.5 >&7
    for _ in $(seq 50); do
        [ ! -s answers ] || break
        sleep 0.1
    done
    [ -s answers ]
    exec 7>&-
    wait $!
    [ "$(LC_ALL=C grep -ac NUMPY answers)" -eq 1024 ]
}

@test "two models joined by Kaldi archives" {
    # Sums of rows of two numbers, kept from row to row.
    sed 's/<dim>1</<dim>1<\/dim><dim>2</g; s/shape="1"/shape="1,2"/' "$data/sum.xml" >enc.xml
    cp enc.xml dec.xml
    printf 'utt1  [\n  1 10\n  2 20\n  3 30 ]\nutt2  [\n  5 6 ]\n' >feats.ark
    irrun enc.xml -i ark:feats.ark --axis 0 --concat 0 -o ark:- |
        irrun dec.xml -i ark:- --axis 0 --concat 0 -o ark:scores.ark
    [ "$(irrun enc.xml -i scores.ark --axis 0 --concat 0 --reset -o ark,t:- | tr -s ' \n' '  ')" = \
        "utt1 [ 1 10 4 40 10 100 ] utt2 [ 5 6 ] " ]
}

@test "yesterday's state is where today begins" {
    cp "$root/models/sensor_watch/model.xml" m.xml
    cp "$root/models/sensor_watch/model.bin" m.bin
    local readings=$root/models/sensor_watch/readings.csv
    mapfile -t numbers <"$readings"
    npy '<f4' '1700, 1, 1' "${numbers[@]:0:1700}" >day1.npy
    npy '<f4' '2300, 1, 1' "${numbers[@]:1700}" >day2.npy
    irrun m.xml -i "$readings" -o 'whole_%n.raw'
    irrun m.xml -i day1.npy --state-out s.npz -o none: && irrun m.xml -i day2.npy --state-in s.npz -o 'y_%n.raw'
    local name
    for name in score flag mean deviation; do
        tail -c $((2300 * 4)) "whole_$name.raw" | cmp - "y_$name.raw"
    done
    # As it stands in the manual, with one output.
    cp "$data/sum.xml" m.xml
    npy '<f4' '2, 1' 1 2 >day1.npy
    npy '<f4' '3, 1' 3 4 5 >day2.npy
    irrun m.xml -i day1.npy --state-out s.npz -o none: && irrun m.xml -i day2.npy --state-in s.npz -o y.npy
    npy '<f4' '3, 1' 6 10 15 | tail -c 12 >want
    tail -c 12 y.npy | cmp - want
}

@test "jq picks a number from the report" {
    cp "$data/sum.xml" m.xml
    irrun m.xml --random --iterations 1000 --warmup 20 --reset --report=- | jq .latency_s.p99 >p99
    awk '{ exit !($1 > 0 && $1 < 1) }' p99
    [ "$(irrun m.xml --random --iterations 1000 --warmup 20 --reset --report=- | jq -c '[.schema, .run.iterations, .run.warmup, .run.reset]')" = \
        '["irrun.report/1",1000,20,"iteration"]' ]
}

@test "compare, and say so" {
    cp "$data/pair.xml" m.xml
    npy '<f4' '3, 2' 1 2 3 4 5 6 >a.npy
    irrun "$data/copy.xml" -i a=a.npy -i fresh=a.npy -o in.npz
    irrun m.xml -i in.npz -o out.npz
    [ "$(irrun m.xml -i in.npz --expect out.npz || echo differs)" = "" ]
    npy '<f4' '3, 2' 1 2 3 4 5 7 >b.npy
    irrun "$data/copy.xml" -i a=a.npy -i fresh=b.npy -o in.npz
    [ "$(irrun m.xml -i in.npz --expect out.npz 2>/dev/null || echo differs)" = "differs" ]
}

@test "hyperfine -N: no shell, no terminal, nothing but an exit status" {
    command -v hyperfine >/dev/null || skip "hyperfine is not there"
    cp "$data/sum.xml" m.xml
    hyperfine -N --runs 3 --export-json times.json 'irrun m.xml --random -o none:' >said 2>&1 || cat said
    [ "$(jq '.results[0].times | length' times.json)" -eq 3 ]
    [ "$(jq -c '.results[0].exit_codes' times.json)" = "[0,0,0]" ]
}

@test "parallel: a process for each file, and only the failed ones again" {
    cp "$data/sum.xml" m.xml
    mkdir in out
    local i skip=''
    for i in 1 2 3 4; do npy '<f4' '2, 1' "$i" "$i" >"in/$i.npy"; done
    echo broken >in/3.npy
    ! grep -q '"skip-existing"' "$root/src/cli/options.def" || skip=--skip-existing
    # parallel keeps its own files in the home directory; it says how many jobs failed.
    export HOME=$PWD
    again() {
        ls in/*.npy | parallel --joblog log --resume-failed "irrun m.xml -i {} -o out/{/} $skip"
    }
    status=0
    again 2>said || status=$?
    [ "$status" -eq 1 ]
    grep -q '^in/3.npy: byte 0: error: ' said
    [ "$(cd out && echo ./*)" = "./1.npy ./2.npy ./4.npy" ]
    [ "$(awk 'NR > 1 { print $7 }' log | sort -n | tr '\n' ' ')" = "0 0 0 65 " ]
    npy '<f4' '2, 1' 3 3 >in/3.npy
    touch -d '1 hour ago' out/*
    again
    [ "$(find out -type f -newermt '1 minute ago')" = out/3.npy ]
    for i in 1 2 3 4; do
        irrun m.xml -i "in/$i.npy" -o want.npy
        cmp "out/$i.npy" want.npy
    done
}

@test "tee, paste, cut: the rows stay beside each other" {
    cp "$root"/models/sensor_watch/model.* .
    head -n 800 "$root/models/sensor_watch/readings.csv" |
        tee readings.csv | irrun model.xml -i csv:- -o '%n.csv'
    [ "$(paste -d , readings.csv flag.csv | awk -F, '$2 != 0 { print NR - 1 }')" = 700 ]
    [ "$(irrun model.xml -i csv:- -o flag=csv:- -o score=none: -o mean=none: -o deviation=none: <readings.csv | grep -nv '^0$')" = 701:1 ]
}
