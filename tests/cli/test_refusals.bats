#!/usr/bin/env bats
# Command lines and files that are refused with a message that no other test has.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    printf '1\n2\n3\n' >a.csv
}

@test "values of options" {
    answered 2 "--random: 'cauchy' is not a distribution" \
        "uniform(a,b), normal(m,s), int(a,b), zeros, ones or arange, with a <= b and s >= 0" "$data/sum.xml" --random=cauchy
    answered 2 "--feed: 'sum' is not OUT=IN" '' "$data/sum.xml" --random --feed=sum
    answered 2 "--atol is given twice: '1' and '2'" "--atol=NAME=... applies to one of them" \
        "$data/sum.xml" --random --atol=1 --atol=2
    answered 2 "--atol is given twice: 'sum=1' and 'sum=2'" "" "$data/sum.xml" --random --atol=sum=1 --atol=sum=2
    answered 2 "--=5 names no option" "" "$data/sum.xml" --=5
    answered 2 "unknown option -d" "irrun runs on the CPU: omit it" "$data/sum.xml" -dCPU
    answered 2 "unknown option -m" "give the model without an option: irrun sum.xml" -msum.xml
    usage_error "--feed is given twice for input \"x\"" "$data/sum.xml" --random --feed=sum=x --feed=sum=x
    usage_error "--reset: unknown value 'often'" "$data/sum.xml" --random --reset=often
    usage_error "--threads must be a whole number from 1 up, or auto, not '0'" "$data/sum.xml" --random --threads=0
    usage_error "'=a.csv' has no name before '='" "$data/sum.xml" -i =a.csv
}

@test "manifests" {
    printf 'a\ta.csv\nb\ta.csv\n' >list
    answered 2 "-o npy:y.npy: npy cannot hold several sequences whose records are joined" \
        "use %k in the file name to write one file for each" "$data/sum.xml" --manifest=list -o npy:y.npy --concat=0
    printf 'a\tcount:\n' >list
    refused 65 "list:1: error: count: is for -i only, not for a manifest" "$data/sum.xml" --manifest=list
    printf 'a\ta\0.csv\n' >list
    refused 65 "list:1: error: contains a NUL byte" "$data/sum.xml" --manifest=list
}

@test "archives without arrays" {
    printf 'PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >empty.npz
    refused 65 'empty.npz: error: has no member for input "x" (f32 [1])' "$data/sum.xml" -i empty.npz
    refused 65 'empty.npz: error: has no member "x", nor any other' "$data/sum.xml" -i x=empty.npz
    refused 65 "empty.npz: error: contains no array" "$data/sum.xml" -i a.csv --expect=empty.npz
    refused 65 "empty.npz: error: contains no tensor of the model" "$data/sum.xml" -i a.csv --diff=empty.npz -o none:
    printf 'PK\5\6' >torn.npz
    refused 65 "torn.npz: error: " "$data/sum.xml" -i torn.npz
}

# make_checkpoint EXPRESSION: ck, with its text changed by perl.
make_checkpoint() {
    mkdir -p members
    unzip -q -o whole_ck -d members
    perl -i -pe "$1" members/checkpoint.npy
    perl -MIO::Compress::Zip=zip,:zip_method -e 'my %names = (@ARGV);
        zip [sort keys %names] => "ck", Method => ZIP_CM_STORE, FilterName => sub { $_ = $names{$_} } or die' \
        members/checkpoint.npy "${2-checkpoint.npy}" members/variable:total.npy variable:total.npy
}

@test "checkpoints whose text was changed" {
    local command=("$data/sum.xml" -i in.csv -o none: --checkpoint=ck --checkpoint-every=10)
    seq 300000 >in.csv
    "$IRRUN" "${command[@]}" 2>first_stderr &
    until [ -e ck ]; do sleep 0.01; done
    kill -KILL $!
    wait $! || :
    mv ck whole_ck
    command[-1]=--checkpoint-every=10000 # enough for the rest
    make_checkpoint ''
    irrun "${command[@]}"
    make_checkpoint 's/^iterations \d/iterations x/'
    refused 65 "ck: error: is damaged: it does not give the phase and the number of iterations" "${command[@]}"
    make_checkpoint 's/^phase run/phase ran/'
    refused 65 "ck: error: is damaged: it does not give the phase and the number of iterations" "${command[@]}"
    make_checkpoint 's/^end$/END/m'
    refused 65 "ck: error: is damaged: " "${command[@]}"
    make_checkpoint 's/^output 0/output x/'
    answered 65 "ck: error: is damaged: output x" "rm ck starts again from the beginning" "${command[@]}"
    make_checkpoint '' other.npy # which may be no checkpoint at all
    answered 65 'ck: error: is damaged: it has no member "checkpoint"' '' "${command[@]}"
}
