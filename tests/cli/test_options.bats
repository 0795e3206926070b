#!/usr/bin/env bats
# Traps of the command line, and what the command line refuses.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '5, 1' 1 2 3 4 5 >five.npy
}

@test "an argument set apart by a blank is noticed: --reset 5 m.xml" {
    usage_error "write --reset=5" --reset 5 "$data/sum.xml" -i five.npy
    usage_error "write --reset=if:x" --reset if:x "$data/sum.xml" -i five.npy
    usage_error "write --random=zeros" --random zeros "$data/sum.xml"
    usage_error "write --inspect=text" --inspect text "$data/sum.xml"
}

@test "a file after a bare option is the model" {
    cp "$data/sum.xml" 5
    run_apart irrun --reset 5 -i five.npy -o csv:-
    [ "$status" -eq 0 ]
    run_apart irrun --reset "$data/sum.xml" -i five.npy -o csv:-
    [ "$status" -eq 0 ]
    run_apart irrun --reset missing.xml -i five.npy
    [ "$status" -eq 66 ]
}

@test "abbreviations are refused, with the full name" {
    usage_error "--iterations" --iter 5 "$data/sum.xml" --random
    usage_error "--iterations" --iter=5 "$data/sum.xml" --random
    usage_error "--inspect" --insp "$data/sum.xml"
    usage_error "--version" --vers
    usage_error "--reset, --reset-to, --report" --re=1 "$data/sum.xml" # ambiguous
    usage_error "options cannot be abbreviated" --stat "$data/sum.xml"
}

@test "the nearest option is suggested" {
    usage_error "did you mean --iterations?" --iterationz=5 "$data/sum.xml"
    usage_error "did you mean --random?" --ramdom "$data/sum.xml"
    usage_error "did you mean --expect?" -expect=x "$data/sum.xml"
    usage_error "--help=all" --frobnicate "$data/sum.xml"
    usage_error "unknown option -Z" -Z "$data/sum.xml"
}

@test "a missing or superfluous value is named" {
    usage_error "--seed=N" "$data/sum.xml" --random --seed
    usage_error "--input=[NAME=]SRC" "$data/sum.xml" -i
    usage_error "--stats takes no value" "$data/sum.xml" --stats=5
}

@test "a single-valued option may be repeated, but not contradict itself" {
    run_apart irrun "$data/sum.xml" --random --seed=3 --seed=3 -o csv:-
    [ "$status" -eq 0 ]
    usage_error "'3' and '4'" "$data/sum.xml" --random --seed=3 --seed=4
    usage_error "'' and '2'" "$data/sum.xml" --random --reset --reset=2
    usage_error "twice" "$data/sum.xml" --random --atol=1 --atol=2
}

@test "actions cannot be combined" {
    usage_error "--check and --inspect" --check --inspect "$data/sum.xml"
}

@test "bad values name what may be written" {
    usage_error "must be a whole number from 0 up, not" "$data/sum.xml" --random -n -1
    usage_error "must be a whole number from 0 up, not" "$data/sum.xml" --random -n 1e3
    usage_error "--report (-r) takes a file, and '16000' looks like a rate" "$data/sum.xml" --random -r 16000
    usage_error "--rate=16000; for a report of that name: --report=./16000" "$data/sum.xml" --random -r 16000
    usage_error "--report needs the name of a file, or -" "$data/sum.xml" --random --report=
    usage_error "never, sequence, iteration" "$data/sum.xml" --random --reset=sometimes
    usage_error "a number from 1 up" "$data/sum.xml" --random --reset=0
    usage_error "all, last or none" "$data/sum.xml" --random --emit=lats
    usage_error "did you mean --emit=last?" "$data/sum.xml" --random --emit=lats
    usage_error "auto, plain, cblas or packed" "$data/sum.xml" --random --gemm=mkl
    usage_error "uniform(a,b)" "$data/sum.xml" --random=gauss
    usage_error "uniform(a,b)" "$data/sum.xml" '--random=uniform(2,1)'
    usage_error "must be a number from 0 up, not" "$data/sum.xml" --random --expect=five.npy --atol=-1
    usage_error "must be a number from 0 up, not" "$data/sum.xml" --random --expect=five.npy --rtol=nan
    usage_error "not an axis" "$data/sum.xml" -i five.npy --axis=x
    usage_error "CHUNK must be a whole number from 1 up" "$data/sum.xml" -i five.npy --axis=0:0
}

@test "the environment has a say, the command line the last" {
    IRRUN_GEMM=mkl usage_error "IRRUN_GEMM" "$data/sum.xml" --random
    IRRUN_GEMM=plain run_apart irrun "$data/sum.xml" --random -o none: -s
    [[ $stderr == *"gemm "*"plain"* ]]
    IRRUN_GEMM=mkl run_apart irrun "$data/sum.xml" --random -o none: -s --gemm=cblas
    [ "$status" -eq 0 ]
    [[ $stderr == *"gemm "*"cblas"* ]]
    IRRUN_GEMM='' run_apart irrun "$data/sum.xml" --random -o none:
    [ "$status" -eq 0 ]
}

@test "no model, and no third file" {
    usage_error "no model is given"
    usage_error "too many files" "$data/sum.xml" a b
    # -i *.wav
    local many="-i takes one file: ls FILE... | irrun $data/sum.xml --manifest=- runs many"
    : >b.wav
    answered 2 "too many files: 'b.wav'" "$many" "$data/sum.xml" -i a.wav b.wav
    answered 2 "too many files: 'c.npy'" "$many" "$data/sum.xml" -i a.npy b.npy c.npy
    answered 2 "takes no file" "irrun --supported-ops" --supported-ops "$data/sum.xml"
}

@test "-- ends the options" {
    cp "$data/sum.xml" ./-n
    run_apart irrun --random -o csv:- -- -n
    [ "$status" -eq 0 ]
}

@test "POSIXLY_CORRECT stops permutation" {
    POSIXLY_CORRECT=1 usage_error "too many files" "$data/sum.xml" a --random
}

@test "standard input is read once" {
    usage_error "only once" - -i csv:- --random
}

@test "a model comes through a pipe too" {
    run_apart irrun - -i five.npy -o csv:- <"$data/sum.xml"
    [ "$status" -eq 0 ]
    [ "$(numbers <<<"$output")" = "1 3 6 10 15" ]
}

@test "files that are not there are 66, a broken model is 65 with its place" {
    run_apart irrun missing.xml --random
    [ "$status" -eq 66 ]
    run_apart irrun "$data/sum.xml" -i missing.npy
    [ "$status" -eq 66 ]
    [[ $stderr == missing.npy:* ]]
    echo '<net name="x" version="11"><layers>' >broken.xml
    run_apart irrun broken.xml
    [ "$status" -eq 65 ]
    [[ $stderr == broken.xml:2:* ]]
}

@test "a source whose format nobody knows" {
    usage_error "five.dat" "$data/sum.xml" -i five.dat
    usage_error "none" "$data/sum.xml" --random -o none
}

@test "what -n and --duration do to --emit is said where they are, and is so" {
    local name
    for name in iterations duration; do
        irrun --help=all | grep -e "--$name=" | grep -qF -e --emit=last
        sed -n "/Fl Fl $name /,/^\.It/p" "$root/man/irrun.1" | grep -q 'Fl Fl emit'
    done
    irrun -h | grep -e "--iterations=" | grep -qF -e --emit=last
    [ "$(irrun -h | wc -l)" -le 24 ]
    [ "$(irrun "$data/sum.xml" -i five.npy -n 3 -o csv:-)" = 6 ]
    [ "$(irrun "$data/sum.xml" -i five.npy --duration=60 -n 3 -o csv:-)" = 6 ]
}
