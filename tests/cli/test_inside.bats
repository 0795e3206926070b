#!/usr/bin/env bats
# Looking inside the model: --tap, --tap-all, --fail-on-nan; and what the run asks of the machine: --denormals, --max-memory.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    npy '<f4' '2,' 1 2 >a.npy
    npy '<f4' '3, 2' 1 2 3 4 5 6 >b.npy
    cases=$root/tests/cases
}

# The members of an npz, as the message says that lacks another one.
members() {
    run_apart irrun "$data/copy.xml" -i in_a="$1" -i fresh=a.npy -o none:
    sed -n 's/.*has no member "in_a", only //p' <<<"$stderr" | tr -d '",' | tr ' ' '\n' | sort | tr '\n' ' '
}

@test "--tap makes an inner tensor an output" {
    run_apart irrun "$data/chain.xml" -i x=a.npy --tap=doubled -o doubled=csv:-
    [ "$output" = "2,4" ]
    [ "$(irrun "$data/chain.xml" -i a.npy --tap=square -o square=csv:-)" = "4,16" ] # by the layer's name
    [ "$(irrun "$data/chain.xml" -i a.npy --tap=square:0 -o @1=csv:-)" = "4,16" ]
    [ "$(irrun "$data/chain.xml" -i a.npy --tap=doubled --tap=square | grep '^#' | cut -d ' ' -f 2 | tr '\n' ' ')" = "y doubled square " ]
    [ "$(irrun "$data/chain.xml" -i b.npy --tap=doubled -o doubled=csv:- | tail -n 1)" = "10,12" ]
    irrun "$data/chain.xml" -i a.npy -o y=want.csv
    irrun "$data/chain.xml" -i a.npy -o y=got.csv --tap=doubled --tap=square
    cmp want.csv got.csv
}

@test "--tap of an output, an input, an unknown name" {
    [ "$(irrun "$data/chain.xml" -i a.npy --tap=y -o csv:-)" = "3,14" ]
    [ "$(irrun "$data/chain.xml" -i a.npy --tap=x -o x=csv:-)" = "1,2" ]
    run_apart irrun "$data/chain.xml" -i a.npy --tap=sqare
    [ "$status" -eq 2 ]
    [[ $stderr == *'called "sqare"; similar names:'*square* ]]
    run_apart irrun "$data/chain.xml" -i a.npy --tap=
    [[ $status -eq 2 && $stderr != *'similar names'* ]]
    run_apart irrun "$data/chain.xml" -i a.npy --tap=double:+0
    [ "$status" -eq 2 ]
    run_apart irrun "$data/chain.xml" -i a.npy --tap=doubles
    [[ $stderr == *"  doubled"* ]] # tensor names are near too
    run_apart irrun "$data/chain.xml" -i a.npy --tap=square:1
    [ "$status" -eq 2 ]
    run_apart irrun "$cases/loop/nested/model.xml" --random --tap=Multiply_2
    [ "$status" -eq 2 ]
    [[ $stderr == *'in a body of "Loop_4"'* ]]
    run_apart irrun "$data/chain.xml" -i a.npy --tap=doubled -o y.csv
    [ "$status" -eq 2 ] # two outputs now
    answered 2 'layer "lstm" has 3 outputs' "--tap=lstm:0 is the first, --tap=lstm:2 the last" \
        "$root/models/speech_watch/model.xml" --random --tap=lstm
}

@test "--tap: a name as it stands wins over LAYER:PORT" {
    sed 's/name="last"/name="square:0"/; s/ names="y"//' "$data/chain.xml" >named.xml
    [ "$(irrun named.xml -i a.npy --tap=square:0 -o csv:-)" = "3,14" ]
    [ "$(irrun named.xml -i a.npy --tap=square -o square=csv:-)" = "4,16" ]
}

@test "--tap within ops that run as one, with keys, and with a checkpoint" {
    irrun "$data/joined.xml" --random=arange --tap=Abs --tap=Multiply -o Abs=abs.csv -o Multiply=csv:- -o Add=joined.csv >multiply.csv
    [ "$(cat multiply.csv)" = "0,1,4,9,16,25,36,49,64,81" ]
    cmp abs.csv multiply.csv
    irrun "$data/joined.xml" --random=arange -o csv:- | cmp - joined.csv
    printf 'u1  [\n  1 2\n  3 4 ]\nu2  [\n  5 6 ]\n' >f.ark
    [ "$(irrun "$data/chain.xml" -i f.ark --tap=square -o 'square=ark,t:-' | tr -s ' \n' ' ')" = "u1 [ 4 16 36 64 ] u2 [ 100 144 ] " ]
    irrun "$data/chain.xml" -i b.npy --tap=square -o y=y.npy -o square=square.csv --checkpoint=ck
    [ "$(tail -n 1 square.csv)" = "100,144" ]
}

@test "--tap of what constants alone give" {
    local model=$cases/ir_form/result_of_f16_constants
    [ "$(irrun "$model/model.xml" --random --tap=Multiply_2 -o Multiply_2=csv:-)" = "0.5,1" ]
    irrun "$cases/gru_cell/size_b1_i3_h128/model.xml" --random --tap-all=all.npz -o none:
}

@test "--tap-all saves every tensor of the last iteration" {
    irrun "$data/chain.xml" -i b.npy --tap-all=all.npz -o y.csv
    [ "$(members all.npz)" = "doubled square x y " ]
    sed 's/name="x"/name="square"/' "$data/twice.xml" >square.xml
    [ "$(irrun square.xml -i square=all.npz -o csv:-)" = "200,288" ]
    [ "$(wc -l <y.csv)" -eq 3 ] # what was asked for by -o stays as it is
    [ "$(irrun "$data/chain.xml" -i a.npy --tap-all=all.npz -o csv:-)" = "3,14" ]
    irrun "$data/sum.xml" --random --tap-all=all.npz -o none:
    [ "$(members all.npz)" = "read sum x:0 " ]
    run_apart irrun "$data/chain.xml" --manifest=/dev/null --jobs=2 --tap-all=all.npz
    [ "$status" -eq 2 ]
    run_apart irrun "$data/chain.xml" -i a.npy -o y.npy --checkpoint=ck --tap-all=all.npz
    [ "$status" -eq 2 ]
    run_apart irrun "$data/chain.xml" -i a.npy -o y.npz --tap-all=y.npz
    [ "$status" -eq 2 ]
    run_apart irrun "$data/chain.xml" -i a.npy --tap-all=all.npz -o square=csv:- # for this there is --tap
    [ "$status" -eq 2 ]
    [[ $stderr == *"@0 y"*"--list-ops lists them" ]]
}

@test "--tap-records saves every tensor of every iteration" {
    irrun "$data/chain.xml" -i b.npy --tap-records=all.npz --tap-all=last.npz -o last.csv --emit=last
    [ "$(members all.npz)" = "doubled square x y " ]
    sed 's/name="x"/name="square"/' "$data/twice.xml" >square.xml
    irrun square.xml -i square=all.npz -o csv:- >every.csv
    [ "$(wc -l <every.csv)" -eq 3 ]
    [ "$(tail -n 1 every.csv)" = "200,288" ]
    [ "$(irrun square.xml -i square=last.npz -o csv:-)" = "200,288" ]
    irrun "$data/chain.xml" -i b.npy --tap-records=again.npz -n 3 -o none:
    cmp all.npz again.npz
    usage_error "--tap-records works with one sequence only" "$data/chain.xml" --manifest=/dev/null --tap-records=r.npz
    usage_error "--checkpoint and --tap-records cannot" "$data/chain.xml" -i a.npy -o y.npy --checkpoint=ck --tap-records=r.npz
    usage_error "--tap-all and --tap-records write to r.npz" "$data/chain.xml" -i a.npy --tap-all=r.npz --tap-records=r.npz
    printf "1\nx\n" >broken.csv
    refused 65 broken.csv "$data/sum.xml" -i broken.csv -o none: --tap-records=r.npz
    [ ! -e r.npz ]
    nothing_left
}

@test "--tap-all of several sequences, of open dimensions, of no iteration" {
    local squares=$PWD/square.xml
    sed 's/name="x"/name="square"/' "$data/twice.xml" >"$squares"
    printf 'u1  [\n  1 2\n  3 4 ]\nu2  [\n  5 6 ]\n' >f.ark
    irrun "$data/chain.xml" -i f.ark --tap-all=all.npz -o none:
    [ "$(irrun "$squares" -i square=all.npz -o csv:-)" = "200,288" ]
    npy '<f4' '1, 2' 1 2 >one.npy
    cat one.npy b.npy >many.npy
    irrun "$data/twice_open.xml" -i many.npy --tap-all=all.npz -o none:
    [ "$(irrun "$data/twice_open.xml" -i x=all.npz | head -n 1)" = "# y f32 [3,2] seq=all rec=0" ]
    rm all.npz
    irrun "$data/chain.xml" -i a.npy --tap-all=all.npz -n 0
    [ ! -e all.npz ]
}

@test "--tap-all of a sequence before one that fails, or has no record" {
    echo 7 >7.csv
    : >empty.csv
    local file
    for file in missing.csv empty.csv; do
        printf '7.csv\n%s\n' $file >list
        irrun "$data/sum.xml" --manifest=list --keep-going --tap-all=all.npz -o none: || [ $? -eq 66 ]
        [ "$(irrun "$data/sum.xml" -i x=all.npz -o csv:-)" = 7 ]
        rm all.npz
    done
}

@test "--tap-all changes no output, whatever the model" {
    local directory arguments
    for directory in "$cases"/{loop,if,lstm_sequence,gru_cell,read_value_assign,matmul,topk,unique}/*/; do
        [ -e "$directory/in.npz" ] && [ -e "$directory/out.npz" ] || continue
        echo "$directory"
        read -r -a arguments <"$directory/args"
        irrun "$directory/model.xml" -i "$directory/in.npz" --expect "$directory/out.npz" "${arguments[@]}" --tap-all=all.npz
        [ -e all.npz ]
        rm all.npz
    done
}

@test "nan in the first record that is written is a warning, once" {
    printf '1\nnan\n' >late.csv
    run_apart irrun "$data/sum.xml" -i late.csv -o csv:-
    [ "$stderr" = "" ] # the first record only
    printf '1\ninf\n-inf\n' >inf.csv
    run_apart irrun "$data/sum.xml" -i inf.csv -o csv:-
    [ "$stderr" = "" ]
    printf 'nan\n1\nnan\n' >x.csv
    run_apart irrun "$data/sum.xml" -i x.csv -o csv:- -o sum=y.npy
    [ "$status" -eq 0 ]
    [ "$stderr" = 'irrun: warning: output "sum" holds nan in record 0; --fail-on-nan names the operator' ]
    run_apart irrun "$data/sum.xml" -i x.csv -n 3 -o csv:-
    [[ $stderr == *"nan in record 2;"* ]] # the last is all that is written
    run_apart irrun "$data/sum.xml" -i x.csv -o none:
    [ "$stderr" = "" ]
    npy '<f8' '1, 2' nan 0 >x.npy
    run_apart irrun "$data/twice_f64.xml" -i x.npy
    [[ $stderr == *"holds nan in record 0"* ]]
}

@test "--fail-on-nan names the first op that gives one, and its line" {
    printf '1,2\n3e38,1\n' >x.csv
    run_apart irrun "$data/chain.xml" -i x.csv -o y.csv --fail-on-nan
    [ "$status" -eq 1 ]
    [[ $stderr == "$data/chain.xml:12:"*'Add "double"'*"inf at [0]"*"(in iteration 1)"* ]]
    [ ! -e y.csv ]
    run_apart irrun "$data/chain.xml" -i x.csv -o y.csv
    [ "$status" -eq 0 ]
    printf '1e30,1\n' >x.csv # 2e30 is a number, its square is none
    run_apart irrun "$data/chain.xml" -i x.csv -o y.csv --fail-on-nan
    [ "$status" -eq 1 ]
    [[ $stderr == "$data/chain.xml:16:"*'Multiply "square"'*"inf at [0]"* ]]
    printf '1,nan\n' >x.csv
    run_apart irrun "$data/chain.xml" -i x.csv -o y.csv --fail-on-nan
    [ "$status" -eq 1 ]
    [[ $stderr == *"nan at [1]"* ]]
    run_apart irrun "$data/chain.xml" -i b.npy -o y.csv --fail-on-nan
    [ "$status" -eq 0 ]
}

@test "--fail-on-nan looks into bodies, and is not misled by 16 bits" {
    run_apart irrun "$cases/loop/growing_state/model.xml" --random=ones --shape=first=1,2 -o none: --fail-on-nan
    [ "$status" -eq 0 ]
    cp "$cases"/if/if_in_if/model.* .
    run_apart irrun model.xml '--random=uniform(3e38,3.1e38)' -o none: --fail-on-nan
    [ "$status" -eq 1 ]
    local line=${stderr#model.xml:}
    line=${line%%:*}
    local op=${stderr#*\"}
    sed -n "${line}p" model.xml | grep -q "name=\"${op%%\"*}\""
    [ "$line" -gt "$(grep -n -m 1 -e '_body>' model.xml | cut -d : -f 1)" ]
    # A sum beyond f16 is the sum's fault; an infinity that is only asked for is nobody's.
    printf '40000,1\n' >x.csv
    run_apart irrun "$data/twice_f16.xml" -i x.csv -o none: --fail-on-nan
    [ "$status" -eq 1 ]
    [[ $stderr == "$data/twice_f16.xml:"*'Add "add": output 0 is inf at [0]'* ]]
    irrun "$cases/is_finite/f16/model.xml" -i "$cases/is_finite/f16/in.npz" -o none: --fail-on-nan
}

# m.xml and m.bin: N x N by constants of 1e-21, which threads share.
make_product() { # N
    local size="<dim>$1</dim><dim>$1</dim>"
    perl -e 'print pack("f<", 1e-21) x $ARGV[0]' $(($1 * $1)) >m.bin
    cat >m.xml <<XML
<net name="product" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="$1,$1" element_type="f32"/>
    <output><port id="0">$size</port></output></layer>
<layer id="1" name="w" type="Const" version="opset1"><data shape="$1,$1" element_type="f32" offset="0" size="$(($1 * $1 * 4))"/>
    <output><port id="0">$size</port></output></layer>
<layer id="2" name="y" type="MatMul" version="opset1"><data transpose_a="false" transpose_b="false"/>
    <input><port id="0"/><port id="1"/></input><output><port id="2">$size</port></output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>
XML
}

@test "--denormals: keep, or flush to zero, in every thread of --threads and --jobs" {
    printf '1e-39,1e-37\n' >x.csv
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:-)" = "2e-39,2e-37" ]
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:- --denormals=keep)" = "2e-39,2e-37" ]
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:- --denormals=flush)" = "0,2e-37" ]
    [ "$(irrun "$data/twice.xml" -i x.csv -o csv:- --denormals=flush -j 3)" = "0,2e-37" ]
    local arguments=(m.xml '--random=uniform(1e-21,1e-21)' --gemm=packed -j 4 -o csv:-)
    make_product 600 # 600 * 1e-21 * 1e-21 = 6e-40
    [ "$(irrun "${arguments[@]}" | tr ',' '\n' | grep -c e-40)" -eq 360000 ]
    [ "$(irrun "${arguments[@]}" --denormals=flush | tr ',' '\n' | sort -u)" = 0 ]
    seq 50 | awk '{ print "k" $1 "\tx.csv" }' >list
    [ "$(irrun "$data/twice.xml" --manifest=list --jobs=4 -o csv:- | sort -u)" = "2e-39,2e-37" ]
    [ "$(irrun "$data/twice.xml" --manifest=list --jobs=4 -o csv:- --denormals=flush | sort -u)" = "0,2e-37" ]
    # The mode is that of the run, not of what reads and writes.
    [ "$(irrun "$data/copy.xml" -i a=x.csv -i fresh=x.csv --shape=a=2 --shape=fresh=2 -o a=csv:- --denormals=flush)" = "1e-39,1e-37" ]
    [ "$(irrun "$data/copy.xml" -i a=x.csv -i fresh=x.csv --shape=a=2 --shape=fresh=2 -o a=csv:- -j 2 --denormals=flush)" = "1e-39,1e-37" ]
    run_apart irrun "$data/twice.xml" -i x.csv --denormals=maybe
    [ "$status" -eq 2 ]
}

@test "--denormals=flush holds for what constants alone give" {
    perl -e 'print pack("f<2", 1e-20, 1)' >m.bin
    cat >m.xml <<'XML'
<net name="constants" version="11"><layers>
<layer id="0" name="w" type="Const" version="opset1"><data shape="2" element_type="f32" offset="0" size="8"/>
    <output><port id="0"><dim>2</dim></port></output></layer>
<layer id="1" name="square" type="Multiply" version="opset1"><input><port id="0"/><port id="1"/></input>
    <output><port id="2"><dim>2</dim></port></output></layer>
<layer id="2" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="0" from-port="0" to-layer="1" to-port="1"/>
<edge from-layer="1" from-port="2" to-layer="2" to-port="0"/></edges></net>
XML
    [ "$(irrun m.xml -n 1 -o csv:-)" = "1e-40,1" ]
    [ "$(irrun m.xml -n 1 -o csv:- --denormals=flush)" = "0,1" ]
}

@test "--max-memory refuses with 71 what goes beyond" {
    [[ ${BUILD-} != *sanitize* ]] || skip "sanitizers reserve memory of their own"
    npy '<f4' '1, 2' 1 2 >x.npy
    run_apart irrun "$data/twice_open.xml" --random --shape=x=50000000,2 -o none: --max-memory=100000000
    [ "$status" -eq 71 ]
    [[ $stderr == *memory* ]]
    run_apart irrun "$data/twice_open.xml" -i x.npy -o none: --max-memory=100000000
    [ "$status" -eq 0 ]
    # Sizes that come out of the model: refused with both numbers before anything is asked for.
    sed 's/dim>2</dim>50000000</g; s/shape="2"/shape="50000000"/' "$data/sum.xml" | sed 's/dim>1</dim>50000000</g; s/shape="1"/shape="50000000"/' >large.xml
    run_apart irrun large.xml --check --max-memory=100000000
    [ "$status" -eq 71 ]
    [[ $stderr == *"MB of memory are needed, but only 100.0 MB"* ]]
    local size tagger=("$root/models/lstm_tagger/model.xml" -i "$root/models/lstm_tagger/in.npz" -o none:)
    for size in 1 1000 100000 200000; do
        refused 71 "--max-memory=$size: irrun without a model uses " "${tagger[@]}" --max-memory=$size
    done
    size=$(tr -dc '0-9 ' <<<"${stderr#*uses}")
    [ $((size)) -gt 200000 ]
    refused 71 "out of memory: cannot allocate " "${tagger[@]}" --max-memory=$((size + 1000))
    [[ $stderr == *" bytes"* ]]
    # Of 4 KB of packed weights nobody makes 2 MB.
    run_apart irrun "$root/models/lstm_tagger/model.xml" -i "$root/models/lstm_tagger/in.npz" -o none: --max-memory=1500000
    [ "$status" -eq 0 ]
    run_apart irrun "$data/twice.xml" --random -o none: -j 4 --max-memory=1000000
    [ "$status" -eq 71 ]
    [[ $stderr == *"cannot start thread"* ]]
    run_apart irrun "$data/twice_open.xml" -i x.npy -o none: --max-memory=0
    [ "$status" -eq 2 ]
}

# Makes ROWS.npy, so many rows of two zeros, and says its line of a manifest.
rows() {
    npy '<f4' "$1, 2" >"$1.npy"
    truncate -s "+$(($1 * 8))" "$1.npy"
    printf '%s\t%s.npy\t>none:\n' "$1" "$1"
}

@test "a size that overflows is named as one" {
    local n
    for n in 4611686018427387904 9223372036854775806; do
        sed "s/dim>1</dim>$n</g; s/shape=\"1\"/shape=\"$n\"/" "$data/sum.xml" >large.xml
        refused 71 "out of memory: cannot allocate more than 2^64 bytes" large.xml --random -o none:
    done
}

@test "--max-memory: what grows takes no more than it must where memory is scarce" {
    [[ ${BUILD-} != *sanitize* ]] || skip "sanitizers reserve memory of their own"
    { rows 1 && rows 2 && rows 12000000; } >list.tsv
    run_apart irrun "$data/twice_open.xml" --manifest=list.tsv --max-memory=200000000
    [ "$status" -eq 0 ]
    run_apart irrun "$data/twice_open.xml" --manifest=list.tsv --max-memory=120000000
    [ "$status" -eq 71 ]
    [[ $stderr == *"out of memory: cannot allocate 96000000 bytes"* ]]
    # A variable as well; and one that grows leaves room for what comes after it.
    { rows 2000000 && rows 2250000; } >list.tsv
    local size
    for size in 130 135 140 145 150 155; do
        run_apart irrun "$data/keeps_open.xml" --manifest=list.tsv --max-memory=${size}000000
        [ "$status" -eq 0 ]
    done
}
