#!/usr/bin/env bats
# --fail-on-nan: the op, or the input of the model, that a NaN or an infinity comes from.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    cases=$root/tests/cases
}

# blames PLACE_AND_MESSAGE HINT ARGUMENT...: exit status 1, an error and a hint that are these; no output file.
blames() {
    run_apart irrun "${@:3}" -o '%n.npy'
    echo "$*: $status $stderr"
    [ "$status" -eq 1 ]
    [ "$stderr" = "$1
  hint: $2" ]
    [ -z "$(find . -name 'y.npy')" ]
}

@test "the input of the model is named if it held what an op fails by" {
    cp "$data/chain.xml" .
    printf '1,2\n1,nan\n' >x.csv
    blames 'chain.xml:6:5: error: input "x" holds nan at [1] (in iteration 1)' \
        'first seen in line 12: Add "double": output 0 is nan at [1]' chain.xml -i x.csv --fail-on-nan
    printf 'inf,1\n' >x.csv
    blames 'chain.xml:6:5: error: input "x" holds inf at [0]' \
        'first seen in line 12: Add "double": output 0 is inf at [0]' chain.xml -i x.csv --fail-on-nan
    # By another element of it than the one that met it: the op's own fault.
    printf '3e38,-inf\n' >x.csv
    run_apart irrun chain.xml -i x.csv -o y.csv --fail-on-nan
    [ "$status" -eq 1 ]
    [ "$stderr" = 'chain.xml:12:5: error: Add "double": output 0 is inf at [0]' ]
    printf '1,nan\n' >x.csv
    refused 1 'x" holds nan at [1]' "$data/twice_f16.xml" -i x.csv -o none: --fail-on-nan
    refused 1 'x" holds nan at [1]' "$data/twice_f64.xml" -i x.csv -o none: --fail-on-nan
}

# numbers N [AT=NUMBER]...: N ones, but for those.
numbers() {
    perl -e '
        my @numbers = (1) x shift;
        for (@ARGV) { my ($at, $number) = split /=/; $numbers[$at] = $number }
        print "@numbers";
    ' -- "$@"
}

# array SHAPE N [AT=NUMBER]...: an npy of f32.
array() {
    local all
    read -r -a all <<<"$(numbers "${@:2}")"
    npy '<f4' "$1" "${all[@]}"
}

@test "elements that meet by broadcasting are told apart" {
    local model=$cases/elementwise/add_both_broadcast/model.xml # [4,1,3] + [5,1]
    array '5, 1' 5 >b.npy
    array '4, 1, 3' 12 4=nan >a.npy
    refused 1 'error: input "a" holds nan at [1,0,1]' "$model" -i a=a.npy -i b=b.npy -o none: --fail-on-nan
    array '4, 1, 3' 12 0=3e38 >a.npy
    array '5, 1' 5 2=-inf >b.npy
    refused 1 'error: input "b" holds -inf at [2,0]' "$model" -i a=a.npy -i b=b.npy -o none: --fail-on-nan
    array '5, 1' 5 0=3e38 2=-inf >b.npy # 6e38 at [0,0,0] is not made of -inf
    refused 1 'Add "Add_2": output 0 is inf at [0,0,0]' "$model" -i a=a.npy -i b=b.npy -o none: --fail-on-nan
    [[ $stderr != *holds* ]]
    # Of ops that mix their elements a NaN makes a NaN, rather than an infinity beside it.
    array '3, 4' 12 1=-inf 2=nan >x.npy
    refused 1 'error: input "x" holds nan at [0,2]' "$cases/softmax/v1_axis_0/model.xml" -i x.npy -o none: --fail-on-nan
    array '2, 3, 4' 24 2=inf >x.npy # a view is not an op that computes
    refused 1 'error: input "x" holds inf at [0,0,2]' "$cases/reshape/plain/model.xml" -i x.npy -o none: --fail-on-nan
}

@test "what the body of a loop fails by is looked for around it" {
    local loop=$cases/loop
    npy '<i8' '' 3 >trips.npy
    array '1, 3' 3 >first.npy
    array '5, 3' 15 4=nan >x.npy
    blames "$loop/sliced_input/model.xml:25:3: error: input \"x\" holds nan at [1,1]" \
        "first seen in line 87: Add \"Add_2\": output 0 is nan at [0,1]" \
        "$loop/sliced_input/model.xml" -i trips=trips.npy -i first=first.npy -i x=x.npy --fail-on-nan
    array '5, 3' 15 14=nan >x.npy # a slice that three passes do not reach
    run_apart irrun "$loop/sliced_input/model.xml" -i trips=trips.npy -i first=first.npy -i x=x.npy -o none: --fail-on-nan
    [ "$status" -eq 0 ]
    array '1, 3' 3 2=inf >first.npy
    array '1, 3' 3 >x.npy
    refused 1 'error: input "first" holds inf at [0,2]' "$loop/trips_from_data/model.xml" \
        -i trips=trips.npy -i first=first.npy -i x=x.npy -o none: --fail-on-nan
    refused 1 'error: input "first" holds inf at [0,2]' "$loop/endless_from_data/model.xml" \
        -i trips=trips.npy -i first=first.npy -i x=x.npy -o none: --fail-on-nan
    array '2,' 2 1=nan >x.npy
    refused 1 'error: input "x" holds nan at [1]' "$loop/nested/model.xml" \
        -i x=x.npy -i m=trips.npy -i n=trips.npy -o none: --fail-on-nan
    refused 1 'error: input "x" holds nan at [1]' "$loop/if_in_loop/model.xml" -i x=x.npy -i trips=trips.npy -o none: --fail-on-nan
    array '1, 5, 2' 10 >a.npy
    refused 1 'error: input "w" holds nan at [1]' "$cases/tensor_iterator/invariant_input/model.xml" \
        -i a=a.npy -i w=x.npy -o none: --fail-on-nan
    # A body that overflows by itself is named, whatever the inputs hold beside.
    array '2, 3' 6 0=3e38 1=-inf >x.npy
    npy '|b1' '' 1 >yes.npy
    refused 1 'output 0 is inf at [0,0]' "$cases/if/scale_or_shift_true/model.xml" -i cond=yes.npy -i x=x.npy -o none: --fail-on-nan
    [[ $stderr != *'error: input'* ]]
}

@test "an element of a part of an input is named in the input" {
    cp "$cases/split/two/model.xml" .
    head -c 8 /dev/zero >model.bin # axis 0: the parts lie one after the other in the input
    array '2, 3, 4' 24 17=nan >x.npy
    refused 1 'error: input "x" holds nan at [1,1,1]' model.xml -i x.npy -o none: --fail-on-nan
}

@test "constants and variables that an op fails by stand in the hint" {
    printf 'nan\n' | irrun "$data/sum.xml" -i csv:- --state-out=s.npz -o none:
    printf '1\n' >x.csv
    cp "$data/sum.xml" .
    run_apart irrun sum.xml -i x.csv --state-in=s.npz -o none: --fail-on-nan
    [ "$status" -eq 1 ]
    [[ $stderr == *'error: Add "add": output 0 is nan at [0]'*'hint: its input '?', ReadValue "read" (line '*'), holds nan at [0]' ]]
}

@test "an output that is the input itself" {
    array '2,' 2 1=-inf >x.npy
    array '1,' 1 >one.npy
    refused 1 'copy.xml:6:5: error: input "in_a" holds -inf at [1]' "$data/copy.xml" -i a=x.npy -i fresh=one.npy -o none: --fail-on-nan
    irrun "$data/copy.xml" -i a=x.npy -i fresh=one.npy -o none: --fail-on-nan=nan
    array '2,' 2 0=nan >x.npy
    refused 1 'error: input "in_a" holds nan at [0]' "$data/copy.xml" -i a=x.npy -i fresh=one.npy -o none: --fail-on-nan=nan
}

@test "--fail-on-nan=nan lets infinities pass" {
    printf '%s\n' -inf,1 3e38,2 >x.csv
    irrun "$data/chain.xml" -i x.csv -o y.csv --fail-on-nan=nan
    [ "$(lines <y.csv)" = "inf,3 inf,14" ]
    # inf - inf: of the op, whose operand may be infinite by right.
    printf 'inf,1\n' >x.csv
    run_apart irrun "$data/chain.xml" -i x.csv -o none: --fail-on-nan=nan
    [ "$status" -eq 1 ]
    [ "$stderr" = "$data/chain.xml:20:5: error: Subtract \"last\": output 0 is nan at [0]" ]
    printf '1,nan\n' >x.csv
    refused 1 'error: input "x" holds nan at [1]' "$data/chain.xml" -i x.csv -o none: --fail-on-nan=nan
    usage_error "--fail-on-nan takes nan, not 'inf'" "$data/chain.xml" -i x.csv --fail-on-nan=inf
    usage_error "write --fail-on-nan=nan" --fail-on-nan nan "$data/chain.xml" -i x.csv
    usage_error "'nan'" "$data/chain.xml" -i x.csv --fail-on-nan --fail-on-nan=nan
}

@test "a constant that is an output is named too" {
    cat >constant.xml <<'END'
<net name="constant" version="11">
  <layers>
    <layer id="0" name="numbers" type="Const" version="opset1">
      <data element_type="f32" shape="2" offset="0" size="8"/>
      <output><port id="0" precision="FP32" names="y"><dim>2</dim></port></output>
    </layer>
    <layer id="1" name="result" type="Result" version="opset1">
      <input><port id="0"><dim>2</dim></port></input>
    </layer>
  </layers>
  <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>
</net>
END
    raw 1 nan >constant.bin
    refused 1 'constant.xml:3:5: error: Const "numbers": its output, a constant, is nan at [1]' constant.xml -o none: --fail-on-nan
    raw 1 2 >constant.bin
    irrun constant.xml -o none: --fail-on-nan
}
