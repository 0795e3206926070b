#!/usr/bin/env bats
# The rules that hold for every run: nothing half-written is left, the same command gives the same bytes, and neither
# the locale nor the terminal nor what is unread changes them.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '3, 2' 1 2 3 4 5 6 >three.npy
    watch=$root/models/sensor_watch
    tagger=$root/models/lstm_tagger
}

# Calls the command with each format of outputs, %n in the name: each output a file of its own.
each_format() { # directory, command
    local format
    for format in text npy npz raw csv; do
        mkdir -p "$1/$format"
        "${@:2}" -o "$format:$1/$format/%n" || return
    done
    for format in ark ark,t; do # joined: arks have no third dimension
        mkdir -p "$1/$format"
        "${@:2}" --concat=0 -o "$format:$1/$format/%n" || return
    done
}

@test "a full device is 74 in every format, whatever fails first" {
    local format
    for format in text npy raw csv ark ark,t; do
        echo "$format"
        run_apart irrun "$data/twice.xml" --random -n 10000 --emit=all -o "$format:/dev/full"
        [ "$status" -eq 74 ]
        [[ $stderr == "/dev/full: error: "*"No space left on device"* ]]
        status=0
        irrun "$data/twice.xml" --random -o "$format:-" >/dev/full 2>stderr || status=$?
        [ "$status" -eq 74 ]
        [ "$(wc -l <stderr)" -eq 1 ]
    done
    # What else was to be written is not kept.
    run_apart irrun "$data/twice.xml" --random -o csv:/dev/full -o y.npy -o z.npz
    [ "$status" -eq 74 ]
    [ ! -e y.npy ]
    [ ! -e z.npz ]
    nothing_left
}

@test "| head -1 leaves no file and no message, in any format" {
    local format
    for format in text npy raw csv ark,t; do
        echo "$format"
        (
            trap 'echo "$?" >how' EXIT
            irrun "$data/twice.xml" --random -n 100000 --emit=all -o "$format:-" -o y.npz 2>stderr
        ) | head -c 1 >first
        [ "$(cat how)" -eq $((128 + 13)) ]
        [ "$(wc -c <first)" -eq 1 ]
        [ ! -s stderr ]
        [ ! -e y.npz ]
        nothing_left
    done
}

@test "kill -TERM at any moment leaves no output or a complete one" {
    local delay n_killed=0 n_complete=0
    irrun "$data/twice.xml" --random -n 150000 --emit=all -o whole.npy -o whole.npz
    for delay in 0 0.002 0.005 0.01 0.02 0.03 0.05 0.07 0.1 end; do
        rm -f y.npy y.npz
        "$IRRUN" "$data/twice.xml" --random -n 150000 --emit=all -o y.npy -o y.npz 2>stderr &
        if [ "$delay" != end ]; then
            sleep "$delay"
            kill -TERM $! 2>/dev/null || :
        fi
        status=0
        wait $! || status=$?
        echo "$delay: $status"
        [ ! -s stderr ]
        case $status in
        0) n_complete=$((n_complete + 1)) ;;
        143) n_killed=$((n_killed + 1)) ;;
        *) false ;;
        esac
        [ ! -e y.npy ] || cmp y.npy whole.npy
        [ ! -e y.npz ] || cmp y.npz whole.npz
        [ "$status" -ne 0 ] || [[ -e y.npy && -e y.npz ]]
        nothing_left
    done
    [ "$n_killed" -gt 0 ]
    [ "$n_complete" -gt 0 ]
}

@test "the same command twice gives identical bytes, in every format" {
    local arguments
    each_format one irrun "$watch/model.xml" -i "$watch/readings.csv" -q
    each_format two irrun "$watch/model.xml" -i "$watch/readings.csv" -q
    diff -r one two
    [ "$(find one -type f | wc -l)" -eq 28 ]
    rm -r one two
    each_format one irrun "$data/pair.xml" '--random=normal(0,1)' --seed=5 -n 20 --emit=all
    each_format two irrun "$data/pair.xml" '--random=normal(0,1)' --seed=5 -n 20 --emit=all
    diff -r one two
    # shellcheck disable=SC2086 # several arguments
    for arguments in --gemm=plain --gemm=cblas --gemm=packed --gemm=auto; do
        irrun "$tagger/model.xml" -i "$tagger/in.npz" $arguments -o one.npz
        irrun "$tagger/model.xml" -i "$tagger/in.npz" $arguments -o two.npz
        cmp one.npz two.npz
    done
}

@test "the way a record comes and goes changes no byte" {
    irrun "$watch/model.xml" -i "$watch/readings.csv" -o score=one.npy -o flag=none: -o mean=none: -o deviation=none:
    irrun "$watch/model.xml" -i csv:- -o score=two.npy -o flag=none: -o mean=none: -o deviation=none: < <(cat "$watch/readings.csv")
    cmp one.npy two.npy
    irrun "$watch/model.xml" -i "$watch/readings.csv" -o score=one.raw -o flag=raw:flag -o mean=raw:mean -o deviation=raw:deviation
    tail -c "$(wc -c <one.raw)" one.npy | cmp - one.raw
    irrun "$watch/model.xml" -i "$watch/readings.csv" -o score=raw:- -o flag=none: -o mean=none: -o deviation=none: | cat >two.raw
    cmp one.raw two.raw
}

@test "unmeasured iterations, threads and levels of talk change no byte" {
    local option
    irrun "$watch/model.xml" -i "$watch/readings.csv" -o one.npz
    irrun "$tagger/model.xml" -i "$tagger/in.npz" -o tags.npz
    for option in --stats -v -q --warmup=5 --threads=1 --threads=2 --threads=5 --threads=auto --jobs=2; do
        grep -q "^OPTION([a-z_]*, \"$(sed 's/^-*//; s/=.*//' <<<"$option" | sed 's/^v$/verbose/; s/^q$/quiet/')\"" \
            "$root/src/cli/options.def" || continue
        echo "$option"
        irrun "$watch/model.xml" -i "$watch/readings.csv" "$option" -o two.npz 2>/dev/null
        cmp one.npz two.npz
        irrun "$tagger/model.xml" -i "$tagger/in.npz" "$option" -o two.npz 2>/dev/null
        cmp tags.npz two.npz
        irrun "$watch/model.xml" --random -n 40 --reset=7 --emit=all -o three.npz
        irrun "$watch/model.xml" --random -n 40 --reset=7 --emit=all "$option" -o two.npz 2>/dev/null
        cmp three.npz two.npz
    done
}

@test "a locale with a decimal comma changes nothing" {
    mkdir locales
    localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 2>/dev/null || :
    german() {
        LOCPATH=$PWD/locales LC_ALL=de_DE.UTF-8 "$@"
    }
    [ "$(german "$(type -P printf)" '%.1f' 1,5 2>/dev/null)" = "1,5" ] ||
        skip "localedef cannot make a locale with a decimal comma"
    each_format here irrun "$watch/model.xml" -i "$watch/readings.csv" -q
    each_format there german "$IRRUN" "$watch/model.xml" -i "$watch/readings.csv" -q
    diff -r here there
    rm -r here there
    each_format here irrun "$data/pair.xml" '--random=uniform(-0.5,1.5e3)' -n 20 --emit=all
    each_format there german "$IRRUN" "$data/pair.xml" '--random=uniform(-0.5,1.5e3)' -n 20 --emit=all
    diff -r here there
    irrun "$data/twice.xml" -i three.npy -o w.npy
    german "$IRRUN" "$data/twice.xml" -i three.npy --expect=w.npy --atol=0.5 --rtol=1e-3
    german "$IRRUN" "$data/twice.xml" -i three.npy -s -o none: 2>stats
    grep -q '^peak RSS  *[0-9]*\.[0-9]' stats
    [ "$(grep -c '[0-9],[0-9]' stats)" -eq 0 ]
    diff <(irrun --inspect "$watch/model.xml") <(german "$IRRUN" --inspect "$watch/model.xml")
}

@test "standard input is left alone unless it is asked for" {
    printf 'a\nb\n' >lines
    {
        irrun "$data/twice.xml" -i three.npy -o csv:- >/dev/null
        irrun --inspect "$data/twice.xml" >/dev/null
        irrun --check "$data/twice.xml"
        cat
    } <lines >rest
    cmp lines rest
    # A closed one does no harm until it is read.
    irrun "$data/twice.xml" --random -o none: <&-
    status=0
    irrun "$data/twice.xml" -i csv:- -o none: <&- 2>stderr || status=$?
    [ "$status" -eq 66 ]
}

@test "several processes may write into one directory at once, but not one file" {
    local i jobs=() n_written=0
    for i in 1 2 3 4 5 6; do
        "$IRRUN" "$data/twice.xml" --random --seed=$((i % 2)) -n 20000 --emit=all -o "own$i.npy" &
        jobs+=($!)
    done
    wait "${jobs[@]}"
    jobs=()
    for i in 1 2 3 4 5 6; do
        "$IRRUN" "$data/twice.xml" --random --seed=$((i % 2)) -n 20000 --emit=all -o same.npy 2>"stderr$i" &
        jobs+=($!)
    done
    for i in "${jobs[@]}"; do
        status=0
        wait "$i" || status=$?
        [ "$status" -eq 0 ] || [ "$status" -eq 73 ]
        n_written=$((n_written + (status == 0)))
    done
    [ "$n_written" -gt 0 ]
    cmp same.npy own1.npy || cmp same.npy own2.npy
    cmp own1.npy own3.npy
    cmp own2.npy own6.npy
    nothing_left
}

@test "--random makes no number that its type cannot hold" {
    usage_error 'input "x" is u8, which cannot hold numbers from 0 to 300' \
        "$data/twice_u8.xml" '--random=int(0,300)' -o none:
    usage_error 'input "x" is u8, which cannot hold numbers from -1 to 0' \
        "$data/twice_u8.xml" '--random=uniform(-1,1)' -o none:
    usage_error 'which cannot hold numbers from 4611686018427387904 to 4611686018427387904' \
        "$data/twice_i32.xml" '--random=uniform(1e30,2e30)' -o none:
    usage_error 'which cannot hold numbers from -4611686018427387904 to -4611686018427387904' \
        "$data/twice_i32.xml" '--random=uniform(-2e30,-1e30)' -o none:
    irrun "$data/twice_u8.xml" '--random=int(0,255)' -o none:
}

@test "standard input has one reader" {
    usage_error "can be read only once" "$data/sum.xml" -i csv:- --diff=- -o csv:-
    usage_error "can be read only once" "$data/sum.xml" -i csv:- --state-in=- -o csv:-
}
