#!/usr/bin/env bats
# --feed: an output that becomes an input is a variable: first values, resets, states, checkpoints.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2046,SC2154 # lists of numbers; common.bash sets the names
load common

setup() {
    common_setup
    # plus = a + b and minus = a - b, of two numbers: minus fed to b alternates.
    npy '<f4' '6, 2' 1 2 3 4 5 6 7 8 9 10 11 12 >a.npy
    fed=("$data/pair.xml" --feed=minus=b)
}

# The minus of records of a.npy from FIRST to LAST, with further options.
minus() { # FIRST LAST OPTION...
    irrun "${fed[@]}" -i a=csv:<(seq 12 | xargs -n 2 | sed -n "$1,$2p") -o minus=csv:- "${@:3}"
}

@test "a run cut in two, with --state-out and --state-in, equals the whole" {
    minus 1 6 >want
    [ "$(lines <want)" = "1,2 2,2 3,4 4,4 5,6 6,6" ]
    local cut
    for cut in 1 2 5; do
        minus 1 $cut --state-out=s.npz >got
        [ "$(unzip -Z1 s.npz)" = b.npy ]
        minus $((cut + 1)) 6 --state-in=s.npz >>got
        cmp want got
    done
    npy '<f4' '2,' 1 2 >b.npy
    [ "$(minus 1 1 --state-in=s.npz -i b=b.npy)" = "0,0" ] # -i wins
    local same="it was saved with a different --feed, count: or ones:; use the same ones to continue it"
    answered 65 's.npz: error: member "b" is not a variable of the model' "$same" "$data/pair.xml" -i a=a.npy --random \
        --feed=minus=a --state-in=s.npz --state-any-model
    seq 2 | irrun "$data/sum.xml" -i csv:- --state-out=t.npz -o none:
    answered 65 't.npz: error: has no member for variable "x"' "$same" "$data/sum.xml" --feed=sum=x -n 2 --state-in=t.npz
    run_apart irrun "${fed[@]}" -i a=a.npy -o none: --state-out=s.npz
    [ "$stderr" = "" ]
}

@test "a reset returns to the first value" {
    npy '<f4' '2,' 1 1 >b.npy
    [ "$(minus 1 6 -i b=b.npy --reset=2 | lines)" = "0,1 3,3 4,5 3,3 8,9 3,3" ]
    [ "$(minus 1 3 --reset | lines)" = "1,2 3,4 5,6" ]
    irrun "${fed[@]}" --random=zeros -n 1 --state-out=zero.npz -o none:
    npy '<f4' '2,' 10 10 >b.npy
    perl -MIO::Compress::Zip=zip -e 'zip "b.npy" => "b.npz", Name => "b.npy" or die'
    [ "$(minus 1 4 --state-in=b.npz --reset=2 --reset-to=state | lines)" = "-9,-8 12,12 -5,-4 12,12" ]
    # Without -i, to zeros: of the shape in the state, if it is open.
    npy '<f4' '2, 2' 1 2 3 4 >x.npy
    perl -MIO::Compress::Zip=zip -e 'zip "x.npy" => "x.npz", Name => "x.npy" or die'
    local open=("$data/twice_open.xml" --feed=y=x -n 3 --emit=all -o csv:- --state-in=x.npz --reset=2)
    [ "$(irrun "${open[@]}" | lines)" = "2,4 6,8 4,8 12,16 0,0 0,0" ]
    [ "$(irrun "${open[@]}" --reset-to=state | lines)" = "2,4 6,8 4,8 12,16 2,4 6,8" ]
}

@test "sequences begin with the first value, with --reset=never they continue" {
    printf '1 2\n3 4\n' >one.csv
    printf '5 6\n' >two.csv
    printf 'one\ta=one.csv\ntwo\ta=two.csv\n' >list
    [ "$(irrun "${fed[@]}" --manifest=list -o minus=csv:- | lines)" = "1,2 2,2 5,6" ]
    [ "$(irrun "${fed[@]}" --manifest=list -o minus=csv:- --reset=never | lines)" = "1,2 2,2 3,4" ]
    [ "$(irrun "${fed[@]}" --manifest=list -o minus=csv:- --jobs=2 | lines)" = "1,2 2,2 5,6" ]
    irrun "${fed[@]}" --manifest=list -o none: --state-out=%k.npz
    [ "$(irrun "${fed[@]}" --manifest=list -o minus=csv:- --state-in=%k.npz | lines)" = "-1,0 4,4 0,0" ]
}

@test "several records of -i go first" {
    npy '<f4' '3, 1' 1 2 3 >prompt.npy
    irrun "$data/sum.xml" -i prompt.npy --feed=sum=x -n 5 --emit=all -o csv:want
    [ "$(lines <want)" = "1 3 6 12 24" ]
    irrun "$data/sum.xml" -i npy:- --feed=sum=x -n 5 --emit=all -o csv:- <prompt.npy | cmp - want
    printf '1\n2\n3\n' | irrun "$data/sum.xml" -i csv:- --feed=sum=x -n 5 --emit=all -o csv:- | cmp - want
    [ "$(irrun "$data/sum.xml" -i prompt.npy --feed=sum=x -n 2 --emit=all -o csv:- | lines)" = "1 3" ]
    answered 2 "every input comes from --feed" "limit it with -n, --until or --duration" \
        "$data/sum.xml" -i prompt.npy --feed=sum=x -o none:
    usage_error "--reset=2: prompt.npy gives fed input \"x\" several records, and a reset returns to one" \
        "$data/sum.xml" -i prompt.npy --feed=sum=x -n 5 --reset=2
    npy '<f4' '0, 1' >none.npy
    refused 65 'none.npy contains no record' "$data/sum.xml" -i none.npy --feed=sum=x -n 5
}

@test "a run whose other input is one record ends after it, also if tokens are drawn" {
    local model=$root/models/tiny_transformer/model.xml choice
    for choice in argmax "sample(1)"; do
        [ "$(irrun "$model" -i tokens=value:21 -i beam_idx=value:0 --shape=tokens=1,1 --shape=beam_idx=1 \
            "--feed=logits=tokens:$choice" -o tokens=csv:- | wc -l)" -eq 1 ]
    done
}

@test "an interrupted run continues within the prompt and after it" {
    seq 5000 | awk '{ print $1 % 5 - 2 }' >prompt.csv
    local how=("$data/sum.xml" -i prompt.csv --feed=sum=x -n 20000 --reset=never --emit=all) seconds
    irrun "${how[@]}" -o want.csv
    for seconds in 0.02 0.03 0.05 0.1 0.2 0.5 1 2 5 20; do
        status=0
        "$IRRUN" "${how[@]}" -o got.csv --checkpoint=ck --checkpoint-every=10 --timeout=$seconds 2>stderr ||
            status=$?
        [ "$status" -eq 75 ] || break
    done
    [ "$status" -eq 0 ]
    cmp want.csv got.csv
}

@test "a fed value may be a view of another fed input" {
    cat >swap.xml <<'XML'
<net name="swap" version="11"><layers>
<layer id="0" name="a" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>
    <output><port id="0" precision="FP32"><dim>2</dim></port></output></layer>
<layer id="1" name="b" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>
    <output><port id="0" precision="FP32"><dim>2</dim></port></output></layer>
<layer id="2" name="first" type="Result" version="opset1"><input><port id="0"/></input></layer>
<layer id="3" name="second" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="3" to-port="0"/>
</edges></net>
XML
    : >swap.bin
    local how=(swap.xml -i a=value:1 -i b=value:2 "--feed=@0=b" "--feed=@1=a" -o "@0=csv:-")
    [ "$(irrun "${how[@]}" -n 3 --emit=all | lines)" = "1,1 2,2 1,1" ]
    [ "$(irrun "${how[@]}" -n 2)" = "2,2" ] # and the output of the last is that of the last
}

@test "argmax is the index of the largest" {
    local pick="$data/pick.xml"
    npy '<f4' '1, 4' 0 5 9 9 >x.npy
    [ "$(irrun "$pick" -i x=x.npy --feed=y=k:argmax -n 3 --emit=all -o y=csv:- | lines)" = "0,5,9,9 2,7,11,11 2,7,11,11" ]
    npy '<f4' '1, 4' 0 nan 9 9 >x.npy
    [ "$(irrun "$pick" -i x=x.npy --feed=y=k:argmax -n 2 --emit=all -o y=csv:- | lines)" = "0,nan,9,9 2,nan,11,11" ]
    npy '<f4' '1, 4' nan nan nan nan >x.npy
    [ "$(irrun "$pick" -i x=x.npy --feed=y=k:argmax -n 2 --emit=all -o k=csv:- -o y=none: | lines)" = "0 0" ]
    sed 's/FP32/I64/; s/"f32"/"i64"/' "$pick" >signed.xml
    sed 's/FP32/U64/; s/"f32"/"u64"/' "$pick" >unsigned.xml
    npy '<i8' '1, 4' -1 9007199254740992 9007199254740993 5 >signed.npy
    npy '<u8' '1, 4' 5 18446744073709551614 18446744073709551615 0 >unsigned.npy
    local sign
    for sign in signed unsigned; do
        [ "$(irrun $sign.xml -i x=$sign.npy --feed=y=k:argmax -n 1 --emit=all -o k=csv:- -o y=none: | lines)" = "2" ]
    done
    answered 2 '"x" is an input, "y" an output' "write --feed=y=x" "$pick" -i x=x.npy --feed=x=y -n 2
    usage_error "':max' is neither :argmax nor :sample(T,K,P)" "$pick" -i x=x.npy --feed=y=k:max -n 2
    npy '<f4' '2, 4' 0 5 9 9 1 1 1 1 >two.npy
    refused 65 'output "y" [2,4] has 2 rows, and each gives one index, but input "k" is [1]' "$pick" -i x=two.npy --axis=x=0:2 \
        --feed=y=k:argmax -n 2
}

@test "an output that does not fit the input is refused before anything is written" {
    local pick="$data/pick.xml"
    npy '<f4' '1, 4' 0 5 9 9 >x.npy
    npy '<f4' '2, 4' 0 5 9 9 1 1 1 1 >two.npy
    answered 65 '--feed: output "y" is f32, but input "k" is i64' \
        "--feed=y=k:argmax feeds the index of the largest value; '--feed=y=k:sample(1)' draws one" \
        "$pick" -i x=x.npy --feed=y=k -n 3 --emit=all -o y=csv:-
    answered 65 '--feed: output "y" is [1,4], but input "k" is [1]' "" \
        "$pick" -i x=x.npy --feed=y=k -n 3 --emit=all -o y=csv:- --cast=any
    refused 65 'output "y" [2,4] has 2 rows, and each gives one index, but input "k" is [1]' "$pick" -i x=two.npy --axis=x=0:2 \
        --feed=y=k:argmax -n 2 --emit=all -o y=csv:-
    refused 65 'output "y" is f32, but input "k"' --check "$pick" -i x=x.npy --feed=y=k -n 3
}

@test "--cast is for what is fed too" {
    cat >half.xml <<'END'
<net name="half" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data element_type="f16" shape="1"/>
      <output><port id="0" precision="FP16"><dim>1</dim></port></output>
    </layer>
    <layer id="1" name="y" type="Convert" version="opset1">
      <data destination_type="f32"/>
      <input><port id="0"><dim>1</dim></port></input>
      <output><port id="1" precision="FP32" names="y"><dim>1</dim></port></output>
    </layer>
    <layer id="2" name="r" type="Result" version="opset1">
      <input><port id="0"><dim>1</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
  </edges>
</net>
END
    answered 65 'output "y" is f32, but input "x" is f16' "--cast=any converts the numbers" \
        half.xml -i x=value:3 --feed=y=x -n 2
    [ "$(irrun half.xml -i x=value:3 --feed=y=x -n 2 --cast=any --emit=all -o csv:- | lines)" = "3 3" ]
}

@test "--inspect shows fed inputs as variables; names must not be those of others" {
    irrun --inspect "${fed[@]}" | grep -A 1 '^variables: 1$' | grep -qx '  b  f32 \[2\]  from: minus'
    irrun --inspect "$data/sum.xml" --feed=sum=x | grep -qx 'variables: 2'
    sed 's/"total"/"x"/' "$data/sum.xml" >clash.xml
    usage_error '--feed: "x" is also a variable of the model' clash.xml --feed=sum=x -n 2
}

# y = x + k is fed to k, which is added to every logit: the probabilities stay those of x, and the
# first element of y is k.
sampled() { # OPTION...
    irrun "$data/pick.xml" -i x=x.npy --emit=all -o y=csv:- "$@" | cut -d, -f1
}

# How often 0 1 2 3 were drawn.
frequencies() {
    sort -n | uniq -c | awk '{ n[$2] = $1 } END { print n[0] + 0, n[1] + 0, n[2] + 0, n[3] + 0 }'
}

@test ":sample draws with the probabilities of the logits" {
    # Weights 1 2 4 1; the first record begins with k = 0.
    npy '<f4' '1, 4' 0 0.6931472 1.3862944 0 >x.npy
    sampled '--feed=y=k:sample(1)' -n 16001 | tail -n +2 | frequencies >got
    awk '{ for (i = 1; i <= 4; i++) { w = i == 2 ? 4000 : i == 3 ? 8000 : 2000; c += ($i - w) ^ 2 / w } }
        END { print c; exit !(c > 0.01 && c < 16.3) }' got # 0.1 % of all seeds are above
    sampled '--feed=y=k:sample(0.5,3,0.9)' -n 2001 --seed=7 | tail -n +2 | frequencies >got
    awk '$1 + $4 > 0 { exit 1 } { exit !($2 > 300 && $2 < 500) }' got # 4 and 16 of 21; 1 is cut off
    [ "$(sampled '--feed=y=k:sample(1e-9)' -n 100 | tail -n +2 | sort -u)" = 2 ]
    [ "$(sampled '--feed=y=k:sample(5,1)' -n 100 | tail -n +2 | sort -u)" = 2 ]
}

@test ":sample draws the same with one seed, also after a state is loaded" {
    npy '<f4' '1, 4' 0 0.1 0.2 0.1 >x.npy
    local feed='--feed=y=k:sample(1.5,0,0.95)'
    sampled "$feed" -n 60 --seed=5 >want
    sampled "$feed" -n 60 --seed=5 | cmp - want
    sampled "$feed" -n 60 --seed=5 --warmup=3 -j 2 | cmp - want
    sampled "$feed" -n 60 --seed=6 | cmp -s - want && false
    sampled "$feed" -n 25 --seed=5 --state-out=s.npz >got
    [ "$(unzip -Z1 s.npz | lines)" = "k.npy k:draws.npy" ]
    cp x.npy other.npy # one sequence: its key does not matter
    irrun "$data/pick.xml" -i x=other.npy --emit=all -o y=csv:- "$feed" -n 35 --seed=5 --state-in=s.npz |
        cut -d, -f1 >>got
    cmp got want
    [ "$(sampled "$feed" -n 30 --seed=5 --reset=10 | sed -n '11,20p')" = "$(head -n 10 want)" ]
    npy '<i8' '1,' 3 >k.npy
    perl -MIO::Compress::Zip=zip -e 'zip "k.npy" => "old.npz", Name => "k.npy" or die'
    refused 65 'old.npz: error: has no member for variable "k:draws"' "$data/pick.xml" -i x=x.npy "$feed" -n 2 \
        --state-in=old.npz
}

@test ":sample draws apart for each sequence and key" {
    npy '<f4' '40, 1, 4' $(yes 0 | head -n 160) >x.npy
    printf 'one\tx=x.npy\ntwo\tx=x.npy\n' >list
    how=("$data/pick.xml" '--feed=y=k:sample(1)' --emit=all)
    irrun "${how[@]}" --manifest=list -o y=%k.csv
    cmp -s one.csv two.csv && false
    cp two.csv want.csv
    irrun "${how[@]}" --manifest=list -o y=%k.csv --shard=1/2
    cmp two.csv want.csv
    irrun "${how[@]}" --manifest=list -o y=csv:- --jobs=2 | cmp - <(cat one.csv two.csv)
    # Two keys, in turn and alone.
    yes "$(printf '4\n9')" | head -n 80 >id.csv
    cat x.npy x.npy >twice.npy
    irrun "${how[@]}" -i x=twice.npy -i id=id.csv --key=id -o y=both.csv
    yes 9 | head -n 40 >id.csv
    irrun "${how[@]}" -i x=x.npy -i id=id.csv --key=id -o y=nine.csv
    sed -n 'p;n' both.csv | cmp -s - nine.csv && false
    sed -n 'n;p' both.csv | cmp - nine.csv
}

@test ":sample that cannot be" {
    npy '<f4' '1, 4' 0 nan 0 0 >x.npy
    local how=("$data/pick.xml" -i x=x.npy -n 2)
    local how_many
    for how_many in "" "(0)" "()" "(inf)" "(1,2.5)" "(1,-1,1)" "(1,0,1.5)" "(1,0,)" "(1,2,0.5,4)" "(1"; do
        answered 2 "--feed: ':sample$how_many' is not :sample(T,K,P), with T above 0 and P up to 1" \
            "':sample(0.8,40,0.9)': temperature 0.8, top-k 40, top-p 0.9; :argmax takes the most probable index" \
            "${how[@]}" "--feed=y=k:sample$how_many"
    done
    npy '<f4' '1, 4' nan nan nan nan >x.npy
    refused 65 'all logits are nan or -inf: output "y" of --feed' "${how[@]}" '--feed=y=k:sample(1)'
    irrun --inspect=json '--feed=y=k:sample(0.5,40)' "$data/pick.xml" |
        jq -e '.feeds[0].sample == {temperature: 0.5, top_k: 40, top_p: 1}'
    irrun --inspect '--feed=y=k:sample(0.5,40)' "$data/pick.xml" | grep -q 'from: y:sample(0.5,40)$'
}

@test "-o and --until name what is fed" {
    local pick="$data/pick.xml"
    npy '<f4' '1, 4' 0 5 9 9 >x.npy
    [ "$(irrun "$pick" -i x=x.npy --feed=y=k:argmax -n 3 --emit=all -o k=csv:- -o y=none: | lines)" = "2 2 2" ]
    usage_error '"k"' "$pick" -i x=x.npy --feed=y=k:argmax -n 3 -o k=k.npy --concat=7
    # The value that the next iteration gets: the prompt from its second record on, then what is chosen.
    printf '7\n8\n9\n' >prompt.csv
    irrun "$pick" -i x=x.npy -i k=prompt.csv --feed=y=k:argmax -n 4 --emit=all -o k=k.csv -o y=y.csv
    [ "$(lines <k.csv)" = "8 9 2 2" ]
    [ "$(cut -d, -f1 y.csv | lines)" = "7 8 9 2" ]
    [ "$(irrun "$pick" -i x=x.npy -i k=prompt.csv --feed=y=k:argmax -n 2 -o k=text:- | lines)" = "# k i64 [1] seq=x rec=1 9" ]
    # A record of -i does not end it, what is chosen does.
    [ "$(irrun "$pick" -i x=x.npy -i k=prompt.csv --feed=y=k:argmax --until=k=9 -n 5 --emit=all -o k=csv:- | lines)" = "8 9 2 2 2" ]
    [ "$(irrun "$pick" -i x=x.npy -i k=prompt.csv --feed=y=k:argmax --until=k=2 -o k=csv:- | lines)" = "8 9 2" ]
    # Without :argmax, and by number.
    irrun "${fed[@]}" -i a=a.npy -o minus=m.csv -o b=b.csv
    cmp m.csv b.csv
    irrun "${fed[@]}" -i a=a.npy --emit=last -o b=csv:- | cmp - <(tail -n 1 m.csv)
    printf 'one\ta=a.npy\t>b=one.csv\ntwo\ta=a.npy\t>b=two.csv\n' >list
    irrun "${fed[@]}" --manifest=list --jobs=2
    cmp m.csv one.csv
    cmp m.csv two.csv
    seq 6 | sed 's/./5/' >id.csv
    irrun "${fed[@]}" -i a=a.npy -i id=id.csv --key=id -o b=csv:- | cmp - m.csv
    usage_error 'no output "a"' "${fed[@]}" -i a=a.npy -o a=csv:-
    answered 2 'no output "b"' '"b" is an input; only inputs of --feed can be written' "$data/pair.xml" -i a=a.npy -i b=a.npy -o b=csv:-
}
