#!/usr/bin/env bats
# A decoder with its keys and values in variables: many tokens first, then one at a time; beside a
# twin without variables that takes all tokens at once.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    cached=$root/models/tiny_transformer/model.xml
    stateless=$root/models/tiny_transformer_stateless/model.xml
    npy '<i4' '1,' 0 >beam.npy
    prompt=(21 46 55 75 1 9 0 64 32 12 27 3 37 66 25 68)
}

# The twin's logits on the tokens in FILE.csv, one a line.
twin() {
    irrun "$stateless" -i tokens=csv:"$1" --shape="tokens=1,$(wc -l <"$1")" -o csv:-
}

# Whether two files of rows of 97 numbers agree within 1e-4.
agree() {
    paste -d, "$1" "$2" | awk -F, '
        NF != 194 { exit bad = 1 }
        {
            for (i = 1; i <= 97; i++) {
                d = $i - $(i + 97)
                if (!(d <= 1e-4 && d >= -1e-4)) {
                    print "row " NR ", word " i - 1 ": " $i " and " $(i + 97)
                    exit bad = 1
                }
            }
        }
        END { exit bad || NR == 0 }'
}

differ() {
    ! agree "$@" >/dev/null
}

@test "256 tokens through the cache equal the stateless twin at every step" {
    npy '<i8' '1, 16' "${prompt[@]}" >prompt.npy
    irrun "$cached" -i tokens=prompt.npy -i beam_idx=beam.npy -n 241 --emit=all \
        --feed=next=tokens -o logits=csv:cached.csv -o next=csv:next.csv
    { printf '%s\n' "${prompt[@]}" && head -n 240 next.csv; } >tokens.csv
    [ "$(wc -l <tokens.csv)" -eq 256 ]
    [ "$(sort -u next.csv | wc -l)" -gt 20 ]
    twin tokens.csv | tail -n 241 >twin.csv
    [ "$(wc -l <twin.csv)" -eq 241 ]
    agree cached.csv twin.csv
    differ cached.csv <(tail -n +2 twin.csv && tail -n 1 twin.csv)
}

# given FIRST LENGTH: tokens from the prompt, as a document.
given() {
    npy '<i8' "1, $2" "${prompt[@]:$1:$2}"
}

@test "tokens in pieces of any length equal the stateless twin" {
    { given 0 5 && given 5 1 && given 6 7 && given 13 1 && given 14 2; } |
        irrun "$cached" -i tokens=npy:- -i beam_idx=beam.npy -o logits=csv:cached.csv -o next=none:
    printf '%s\n' "${prompt[@]}" >tokens.csv
    twin tokens.csv | sed -n '5p;6p;13p;14p;16p' >twin.csv
    agree cached.csv twin.csv
}

@test "the cache goes from one run to the next" {
    given 0 16 | irrun "$cached" -i tokens=npy:- -i beam_idx=beam.npy -o logits=csv:whole.csv \
        -o next=none:
    given 0 9 | irrun "$cached" -i tokens=npy:- -i beam_idx=beam.npy -o none: --state-out=s.npz
    given 9 7 | irrun "$cached" -i tokens=npy:- -i beam_idx=beam.npy -o logits=csv:second.csv \
        -o next=none: --state-in=s.npz
    agree whole.csv second.csv
}

@test "caches of sequences of different length share buffers, and each gives what it gives alone" {
    npy '<i8' '2, 2, 10' $(seq 1 40) >short_tokens.npy
    npy '<i4' '2, 2' 1 0 1 0 >short_beam.npy
    npy '<i8' '1, 2, 100' $(seq 1 60) $(seq 1 90) $(seq 1 50) >long_tokens.npy
    npy '<i4' '1, 2' 1 0 >long_beam.npy
    for key in a b c d; do
        length=short
        [[ $key == [ac] ]] || length=long
        printf '%s\ttokens=%s_tokens.npy\tbeam_idx=%s_beam.npy\n' $key $length $length
    done >list
    irrun "$cached" --manifest=list -o logits=%k.npy
    for length in short long; do
        irrun "$cached" -i tokens=${length}_tokens.npy -i beam_idx=${length}_beam.npy -o logits=$length.npy
    done
    cmp a.npy short.npy
    cmp b.npy long.npy
    cmp c.npy short.npy
    cmp d.npy long.npy
}

@test "a cache that another variable is given too goes to both" {
    local fuse
    # past.1.key is given what past.0.key is
    sed 's/from-layer="262" from-port="2" to-layer="634"/from-layer="109" from-port="2" to-layer="634"/' \
        "$cached" >both.xml
    cmp "$cached" both.xml && false
    cp "${cached%.xml}.bin" both.bin
    for fuse in '' --no-fuse; do
        irrun both.xml --random --shape=tokens=2,3 --shape=beam_idx=2 -n 4 --emit=all ${fuse:+"$fuse"} \
            -o "logits=csv:logits$fuse.csv" -o next=none:
    done
    agree logits.csv logits--no-fuse.csv
}

@test "beam_idx chooses whose cache continues" {
    npy '<i8' '2, 3' 21 46 55 5 6 7 >two.npy
    npy '<i8' '2, 1' 75 75 >next.npy
    npy '<i4' '2,' 0 1 >own.npy
    npy '<i4' '2,' 1 1 >second.npy
    cat two.npy next.npy | irrun "$cached" -i tokens=npy:- -o logits=csv:own.csv -o next=none: \
        -i beam_idx=npy:<(cat own.npy own.npy)
    cat two.npy next.npy | irrun "$cached" -i tokens=npy:- -o logits=csv:chosen.csv -o next=none: \
        -i beam_idx=npy:<(cat own.npy second.npy)
    printf '%s\n' 5 6 7 75 >tokens.csv
    twin tokens.csv | tail -n 1 >twin.csv
    agree twin.csv <(sed -n 4p own.csv)
    agree twin.csv <(sed -n 4p chosen.csv)
    agree twin.csv <(sed -n 3p chosen.csv)
    differ twin.csv <(sed -n 3p own.csv)
}

@test "compressed weights: a text that is saved and continued is the whole text" {
    local form model
    for form in int8 int4; do
        model=$root/models/tiny_transformer_$form/model.xml
        fed=("$model" -i beam_idx=beam.npy --feed=next=tokens --emit=all -o next=none:)
        given 0 16 >prompt.npy
        irrun "${fed[@]}" -i tokens=prompt.npy -n 60 -o logits=csv:whole.csv
        irrun "${fed[@]}" -i tokens=prompt.npy -n 25 -o logits=csv:first.csv --state-out=s.npz
        irrun "${fed[@]}" --shape=tokens=1,1 -n 35 -o logits=csv:second.csv --state-in=s.npz
        cmp whole.csv <(cat first.csv second.csv)
    done
}

@test "tiny_writer writes the same text with one seed, in one run or two" {
    local writer="$root/models/tiny_writer/model.xml" seed
    write() { # OPTION...
        printf '\nThe ' | irrun "$writer" -i text=raw:- '--feed=logits=text:sample(0.5,20)' --emit=all -o text=raw:- "$@"
    }
    write -n 200 --seed=3 >text
    [ "$(wc -c <text)" -eq 200 ]
    [ "$(head -c 4 text)" = "The " ]
    write -n 200 --seed=3 | cmp - text
    for seed in 1 2 4; do
        write -n 200 --seed=$seed | cmp -s - text && false
    done
    # Most of its words are words of the manual.
    cat "$root"/man/*.[15] | tr -cs 'A-Za-z' '\n' | sort -u >known
    tr -cs 'A-Za-z' '\n' <text | sort -u | comm -12 - known >words
    [ "$(wc -l <words)" -ge 15 ]
    write -n 80 --seed=3 --state-out=s.npz >first
    irrun "$writer" '--feed=logits=text:sample(0.5,20)' --emit=all -o text=raw:- -n 120 --seed=3 --state-in=s.npz |
        cat first - | cmp - text
    # It ends at the end of a line.
    write --until=text=10 --seed=3 -o text=raw:line
    [ "$(wc -l <line)" -eq 1 ]
    head -n 1 text | cmp - line
}

@test "bytes moved per token do not depend on the length of the cache, attention apart" {
    npy '<i8' '1, 1' 5 >one.npy
    for n in 30 600; do
        mapfile -t many < <(yes 7 | head -n "$n")
        npy '<i8' "1, $n" "${many[@]}" >many.npy
        irrun "$cached" -i tokens=many.npy -i beam_idx=beam.npy -o none: --state-out=s.npz
        irrun "$cached" -i tokens=one.npy -i beam_idx=beam.npy -o none: --state-in=s.npz --profile --report=r.json 2>/dev/null
        jq 'def bytes(f): [.ops[] | select(f) | .bytes] | add;
            (.ops[] |= (.type = .members[0].type)) |
            [bytes(.type == "ScaledDotProductAttention"), bytes(.type == "Concat"),
             bytes(.type != "ScaledDotProductAttention")]' -c r.json >"bytes.$n"
    done
    [ "$(jq '.[1:3]' -c bytes.30)" = "$(jq '.[1:3]' -c bytes.600)" ]
    [ "$(jq '.[0]' bytes.600)" -gt $((10 * $(jq '.[0]' bytes.30))) ]
}
