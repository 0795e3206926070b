#!/usr/bin/env bats
# What a run does with variables, comparisons and reports, as far as no other file says it; options of later versions.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    printf '1\n2\n3\n' >a.csv
    printf '10\n20\n' >b.csv
    printf 'one\ta.csv\ntwo\tb.csv\n' >list
}

sum() {
    irrun "$data/sum.xml" -o csv:- "$@" | numbers
}

@test "at the border of two sequences every policy but never resets" {
    [ "$(sum --manifest=list)" = "1 3 6 10 30" ]
    [ "$(sum --manifest=list --reset=sequence)" = "1 3 6 10 30" ]
    [ "$(sum --manifest=list --reset)" = "1 2 3 10 20" ]
    [ "$(sum --manifest=list --reset=2)" = "1 3 3 10 30" ]
    [ "$(sum --manifest=list --reset=100)" = "1 3 6 10 30" ]
    [ "$(sum --manifest=list --reset=never)" = "1 3 6 16 36" ]
    printf '0\n0\n0\n' >f3.csv
    printf '0\n0\n' >f2.csv
    printf 'one\tx=a.csv\tf=f3.csv\ntwo\tx=b.csv\tf=f2.csv\n' >flags
    [ "$(sum --manifest=flags --reset=if:f)" = "1 3 6 10 30" ]
    # Counted in the report, borders too.
    irrun "$data/sum.xml" --manifest=list --reset=2 -o none: -r r.json
    [ "$(jq -c '[.run.reset, .run.resets, .run.sequences]' r.json)" = '["2",2,2]' ]
    irrun "$data/sum.xml" --manifest=list -o none: -r r.json
    [ "$(jq -c '[.run.reset, .run.resets]' r.json)" = '["sequence",1]' ]
}

@test "a state keeps its type, and says of which model it is" {
    local type descr
    while read -r type descr; do
        sed "s/f32/$type/g" "$data/sum.xml" >typed.xml
        irrun typed.xml -i a.csv -o none: --state-out=s.npz
        unzip -p s.npz total.npy | LC_ALL=C grep -qa "'descr': '$descr'"
        [ "$(irrun typed.xml -i b.csv --state-in=s.npz -o csv:- | numbers)" = "16 36" ]
    done <<<$'f16 <f2\nf32 <f4\nf64 <f8\ni64 <i8\nu8 |u1'
    # The comment: a digest of the XML, the size and a digest of the weights.
    cp "$root"/models/lstm_tagger/model.* .
    irrun model.xml -i "$root/models/lstm_tagger/in.npz" -o none: --state-out=s.npz
    unzip -z s.npz | grep -qE "xml=[0-9a-f]{16} bin=$(wc -c <model.bin):[0-9a-f]{16} "
    irrun model.xml -i "$root/models/lstm_tagger/in.npz" -o none: --state-in=s.npz
    printf x >>model.bin
    run_apart irrun model.xml -i "$root/models/lstm_tagger/in.npz" -o none: --state-in=s.npz
    [ "$status" -eq 65 ]
    [[ $stderr == *"different weights"* ]]
    irrun model.xml -i "$root/models/lstm_tagger/in.npz" -o none: --state-in=s.npz --state-any-model
}

@test "--expect without tolerances: 1e-5 and 1e-4; integers and booleans equal" {
    local difference
    npy '<f4' '1,' 1 >x.npy
    for difference in 0.00010 -0.00010; do
        npy '<f4' '1,' "$(awk -v d=$difference 'BEGIN { printf "%.6f", 1 + d }')" >w.npy
        irrun "$data/sum.xml" -i x.npy --expect=w.npy
    done
    npy '<f4' '1,' 1.00012 >w.npy
    run_apart irrun "$data/sum.xml" -i x.npy --expect=w.npy
    [ "$status" -eq 1 ]
    npy '<f4' '1,' 0 >x.npy
    npy '<f4' '1,' 0.000009 >w.npy
    irrun "$data/sum.xml" -i x.npy --expect=w.npy
    npy '<f4' '1,' 0.000011 >w.npy
    run_apart irrun "$data/sum.xml" -i x.npy --expect=w.npy
    [ "$status" -eq 1 ]
    npy '|b1' '2,' 1 0 >x.npy
    npy '|b1' '2,' 1 1 >w.npy
    sed 's/"f32"/"boolean"/' "$data/copy.xml" >bits.xml
    irrun bits.xml -i a=x.npy -i fresh=x.npy --expect=a=x.npy
    run_apart irrun bits.xml -i a=x.npy -i fresh=x.npy --expect=a=w.npy
    [ "$status" -eq 1 ]
    run_apart irrun bits.xml -i a=x.npy -i fresh=x.npy --expect=a=w.npy --atol=1
    [ "$status" -eq 0 ]
    run_apart irrun "$data/sum.xml" -i a.csv --expect=fresh=x.npy
    [ "$status" -eq 2 ]
}

@test "--expect and -o - together: naming - twice is refused" {
    run_apart irrun "$data/sum.xml" -i a.csv -o csv:- -o text:-
    [ "$status" -eq 2 ]
    run_apart irrun "$data/sum.xml" -i csv:- --expect=csv:- <a.csv
    [ "$status" -eq 2 ]
    run_apart irrun "$data/sum.xml" -i a.csv --expect=csv:- <<<$'1\n3\n6'
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
}

@test "the keys of the report are all there when nothing ran, and when a comparison failed" {
    keys() {
        jq -r '[paths(type != "object" and type != "array") | select(.[0] != "expect" and .[0] != "warnings") | map(tostring) | join(".")] | sort | join(" ")' "$1"
    }
    cat >wanted <<'KEYS'
schema tool.name tool.version tool.build model.xml model.bin model.ir_version model.ops model.variables model.weights_bytes
host.cpu host.simd host.threads host.gemm host.precision host.quantized_products host.blas run.iterations run.warmup run.records run.sequences run.resets run.reset
run.batches run.keys run.keys_held run.keys_spilled memory_bytes.keys run.seed run.exit time_s.load time_s.plan time_s.first_iteration time_s.total time_s.cpu latency_s.min latency_s.p50
latency_s.p90 latency_s.p95 latency_s.p99 latency_s.p99_9 latency_s.max latency_s.mean latency_s.sd latency_s.slowest.sequence latency_s.slowest.iteration latency_s.slowest.page_faults latency_s.slowest.disk_reads
latency_s.slowest.involuntary_switches latency_s.slowest.voluntary_switches latency_s.slowest.new_plans latency_s.slowest.denormals
latency_s.slowest.cpu latency_s.slowest.wall throughput.iterations_per_s
throughput.real_time_factor deadline memory_bytes.weights_mapped memory_bytes.weights_packed memory_bytes.arena memory_bytes.state
memory_bytes.peak_rss
KEYS
    local wanted
    wanted=$(tr -s '\n ' '\n' <wanted | LC_ALL=C sort | tr '\n' ' ')
    irrun "$data/sum.xml" -i a.csv -n 0 -r r.json
    [ "$(keys r.json | tr ' ' '\n' | LC_ALL=C sort | tr '\n' ' ')" = "$wanted" ]
    jq -e '.latency_s.p50 == null and .throughput.iterations_per_s == null and .run.iterations == 0' r.json
    run_apart irrun "$data/sum.xml" -i a.csv --expect=b.csv -r r.json --rate=1 --axis=0
    [ "$status" -eq 1 ]
    [ "$(keys r.json | tr ' ' '\n' | LC_ALL=C sort | tr '\n' ' ')" = "$wanted" ]
    jq -e '.run.exit == 1 and (.expect | length) == 1 and (.warnings | length) == 0' r.json
    # NaN and infinities become null.
    printf 'nan\n1\n2\n' >n.csv
    run_apart irrun "$data/sum.xml" -i n.csv --expect=a.csv -r r.json
    [ "$status" -eq 1 ]
    jq -e '.expect[0].worst.got == null' r.json
    # A failing run says so too.
    printf '1\nx\n' >bad.csv
    run_apart irrun "$data/sum.xml" -i bad.csv -o none: -r r.json
    [ "$status" -eq 65 ]
    jq -e '.run.exit == 65 and .run.iterations == 1' r.json
}

@test "the arena of the report has the values of bodies too" {
    irrun "$root/tests/cases/if/dynamic_input/model.xml" --random --shape=x=100000,3 -n 1 -o none: -r r.json
    jq -e '.memory_bytes.arena >= 2 * 100000 * 3 * 4' r.json
}

@test "--stats names what is in use" {
    local word
    run_apart irrun "$data/sum.xml" -i a.csv -o none: -s -j 2 --gemm=plain --reset=2 --warmup=4
    for word in 'threads  *2' 'simd  *[a-z]' 'gemm  *plain' 'BLAS' 'resets  *1 (--reset=2)' 'weights mapped' 'weights packed' \
        'arena' 'state  *[1-9][0-9]* B' 'iterations  *3$'; do
        echo "$word"
        grep -q "$word" <<<"$stderr"
    done
    [ "$output" = "" ]
}

@test "one warning of a kind, on standard error, with its word; none with -q" {
    npy '<f8' '3, 1' 1 0.1 0.2 >x.npy
    run_apart irrun "$data/sum.xml" -i x.npy --cast=any -o none:
    [ "$(grep -c '^irrun: warning: ' <<<"$stderr")" -eq 1 ]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    run_apart irrun "$data/sum.xml" -i x.npy --cast=any -o none: -q
    [ "$stderr" = "" ]
    run_apart irrun "$data/twice.xml" --random -o none: --state-out=s.npz
    [[ $stderr == *"no variable"* ]]
}

@test "options of later versions are refused by name" {
    usage_error "unknown option --cache-precision" --cache-precision=u8 "$data/sum.xml" --random
}

@test "the manual shows what the command line cannot" {
    mandoc -T ascii "$root/man/irrun.1" "$root/man/irrun-formats.5" | sed 's/.\x08//g' >pages
    local word
    for word in read_array SimpleNamespace POSIXLY_CORRECT 'xoshiro256++' splitmix64; do
        echo "$word"
        grep -qF "$word" pages
    done
}
