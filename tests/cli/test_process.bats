#!/usr/bin/env bats
# irrun as a process among others: exit statuses, threads, files it leaves alone, the same bytes however the work is
# shared out, and two of them in a pipe.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    printf '1\n2\n3\n' >a.csv
}

# A manifest of sequences of very different length, "many", over sensor readings.
many() {
    local i
    for i in $(seq 40); do
        tail -n +$((i * 53)) "$root/models/sensor_watch/readings.csv" | head -n $((i * 7919 % 61 * (i % 8 == 3 ? 20 : 1))) >"in$i.csv"
        printf 'key%s\tin%s.csv\n' "$i" "$i"
    done >many
}

@test "a file beyond its limit is 74, and leaves nothing" {
    # shellcheck disable=SC2016 # the inner shell's
    run_apart bash -c 'ulimit -f 1; "$1" "$2" --random -n 100000 --emit=all -o y.csv' bash "$IRRUN" "$data/sum.xml"
    [ "$status" -eq 74 ]
    [[ $stderr == "y.csv: error: "* ]]
    [ ! -e y.csv ]
    nothing_left
}

@test "--jobs=1 to 8 and --shard=0/1 to 7/8: the same bytes as one run" {
    many
    local model=$root/models/sensor_watch/model.xml n i
    mkdir want
    irrun "$model" --manifest=many -o want.txt -o 'want/%k_%n.npy' --state-out='want/%k.npz'
    for n in 1 2 3 4 5 6 7 8; do
        echo "$n"
        mkdir jobs shards
        irrun "$model" --manifest=many -o got.txt -o 'jobs/%k_%n.npy' --state-out='jobs/%k.npz' --jobs="$n"
        cmp got.txt want.txt
        diff -r jobs want
        for ((i = 0; i < n; i++)); do
            irrun "$model" --manifest=many -o "part$i.txt" -o 'shards/%k_%n.npy' --state-out='shards/%k.npz' --shard="$i/$n"
        done
        diff -r shards want
        # A sequence is in exactly one part.
        cat part*.txt | sort | cmp - <(sort want.txt)
        rm -r jobs shards part*.txt
    done
}

@test "--jobs share the weights, and keep state apart" {
    local model=$root/models/lstm_tagger/model.xml size
    od -An -v -tu1 -w16 "$root/models/lstm_tagger/text.txt" | awk 'NF == 16' >codes.csv
    irrun "$model" -i codes.csv -o none: -r 1.json
    # The second sequence comes first: there must be two lanes.
    mkfifo first.csv second.csv
    printf 'a\tfirst.csv\nb\tsecond.csv\n' >list
    irrun "$model" --manifest=list --jobs=2 -o none: -r 2.json &
    timeout 20 cp codes.csv second.csv
    timeout 20 cp codes.csv first.csv
    wait $!
    for size in weights_mapped weights_packed; do
        [ "$(jq ".memory_bytes.$size" 1.json)" -gt 0 ]
        [ "$(jq ".memory_bytes.$size" 1.json)" -eq "$(jq ".memory_bytes.$size" 2.json)" ]
    done
    for size in arena state; do
        [ $((2 * $(jq ".memory_bytes.$size" 1.json))) -eq "$(jq ".memory_bytes.$size" 2.json)" ]
    done
}

@test "every exit status of the table but that of a bug" {
    local codes=()
    ends() { # status, command
        local want=$1
        shift
        run_apart "$@"
        echo "$status, expected $want: $stderr"
        [ "$status" -eq "$want" ]
        codes+=("$want")
    }
    printf '0\n' >zero.csv
    echo 'net' >bad.xml
    head -c 100 /dev/zero >bad.npy
    sed 's/type="Add"/type="Divide"/; s/shape="2"/shape="1"/; s/>2</>1</g' "$data/twice_i32.xml" >divide.xml
    ends 0 irrun "$data/sum.xml" -i a.csv -o none:
    ends 1 irrun "$data/sum.xml" -i a.csv --expect=a.csv
    printf 'inf\n' >inf.csv
    ends 1 irrun "$data/sum.xml" -i inf.csv -o none: --fail-on-nan
    ends 2 irrun "$data/sum.xml" -i y=a.csv
    ends 2 irrun "$data/sum.xml" -i a.csv --axis=3
    ends 2 irrun "$data/sum.xml" -i a.csv -o npz:-
    ends 65 irrun bad.xml
    ends 65 irrun "$data/sum.xml" -i bad.npy
    ends 65 irrun divide.xml -i zero.csv -o none:
    [[ $stderr == *"division by zero"* ]]
    cp bad.npy bad.npz
    ends 65 irrun "$data/sum.xml" --random --state-in=bad.npz -o none:
    ends 66 irrun missing.xml
    ends 66 irrun "$data/sum.xml" -i missing.npy
    ends 66 irrun "$root/models/lstm_tagger/model.xml" missing.bin --random
    ends 69 irrun "$data/lacking.xml" --random
    ends 71 irrun "$data/twice_open.xml" --random --shape=x=100000000000,2 -o none:
    ends 73 irrun "$data/sum.xml" --random -o nowhere/y.npy
    ends 74 irrun "$data/sum.xml" --random -o csv:/dev/full
    ends 75 irrun "$data/sum.xml" --random -n 1000000000000 -o none: --timeout=0.2 --checkpoint=ck
    ends 124 irrun "$data/sum.xml" --random -n 1000000000000 -o none: --timeout=0.2
    ends 143 timeout --preserve-status -s TERM 0.3 "$IRRUN" "$data/sum.xml" --random -n 1000000000000 -o none:
    sed -n 's/^    IRRUN_[A-Z_]* = \([0-9]*\).*/\1/p' "$root/include/irrun.h" | grep -vx 70 | sort -n >known
    printf '%s\n' "${codes[@]}" | grep -vx 143 | sort -nu | diff - known
}

# Whatever /proc says of the process and its threads while it runs.
look_at() { # field of status, command: the different values, one a line
    local field=$1
    shift
    "$@" 2>/dev/null &
    sleep 0.4
    cat /proc/$!/task/*/status | sed -n "s/^$field:[[:space:]]*//p" | sort -u
    kill $!
    wait $! || :
}

@test "one thread unless told, and never pinned" {
    local endless=("$IRRUN" "$data/sum.xml" --random -n 1000000000000 -o none:)
    [ "$(look_at Threads "${endless[@]}")" = 1 ]
    [ "$(look_at Threads "${endless[@]}" -j 3)" = 3 ]
    local here
    here=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
    [ "$(look_at Cpus_allowed_list "${endless[@]}" -j 4)" = "$here" ]
}

@test "no cache and no configuration: nothing appears in the home, nor beside the model" {
    mkdir home models
    cp "$root"/models/lstm_tagger/model.* models
    HOME=$PWD/home XDG_CACHE_HOME=$PWD/home TMPDIR=$PWD/home irrun models/model.xml -i "$root/models/lstm_tagger/in.npz" -o none: -j 2
    [ -z "$(find home -mindepth 1)" ]
    [ "$(find models -type f | wc -l)" -eq 2 ]
    chmod a-w models
    irrun models/model.xml -i "$root/models/lstm_tagger/in.npz" -o none:
    chmod u+w models
}

@test "the weights: beside the model, or named; not needed without constants" {
    local in=$root/models/lstm_tagger/in.npz
    cp "$root"/models/lstm_tagger/model.xml m.xml
    run_apart irrun m.xml -i "$in" -o none:
    [ "$status" -eq 66 ]
    [[ $stderr == m.bin:* ]]
    irrun m.xml "$root/models/lstm_tagger/model.bin" -i "$in" --expect "$root/models/lstm_tagger/out.npz"
    irrun - "$root/models/lstm_tagger/model.bin" -i "$in" --expect "$root/models/lstm_tagger/out.npz" <m.xml
    cp "$root/models/lstm_tagger/model.bin" m.bin
    irrun m.xml -i "$in" --expect "$root/models/lstm_tagger/out.npz"
    head -c 1000 m.bin >short.bin
    run_apart irrun m.xml short.bin -i "$in" -o none:
    [ "$status" -eq 65 ]
    [[ $stderr == m.xml:*short.bin* ]]
}

@test "lines on standard error are whole, whoever writes them" {
    many
    "$IRRUN" "$root/models/sensor_watch/model.xml" --manifest=many --jobs=8 -v -o 'y_%k_%n.npy' 2>stderr
    [ -s stderr ]
    [ "$(grep -vc '^irrun: ' stderr)" -eq 0 ]
}

@test "a million records through two processes, raw and npy" {
    perl -e 'binmode STDOUT; print pack("f<*", map { ($_ % 1000) / 1000 } 1 .. 2000) x 1000' >in.raw
    irrun "$data/chain.xml" -i in.raw -o raw:half.raw
    irrun "$data/chain.xml" -i half.raw -o raw:want.raw
    [ "$(wc -c <want.raw)" -eq 8000000 ]
    local format peak
    for format in raw npy; do
        irrun "$data/chain.xml" -i in.raw -o $format:- -r first.json |
            irrun "$data/chain.xml" -i $format:- -o raw:got.raw -r second.json
        cmp got.raw want.raw
        [ "$(jq .run.records first.json second.json | tr '\n' ' ')" = "1000000 1000000 " ]
        [[ ${BUILD-} != *sanitize* ]] || continue
        for peak in $(jq .memory_bytes.peak_rss first.json second.json); do
            [ "$peak" -lt 30000000 ]
        done
    done
}
