# What the tests of the command line share: the program, the models, files of numbers.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # those who load this use them

common_setup() {
    root=$(realpath "$BATS_TEST_DIRNAME/../..")
    data=$root/tests/cli/data
    IRRUN=$(realpath "${IRRUN:-$root/build/irrun}")
    unset IRRUN_GEMM IRRUN_SIMD POSIXLY_CORRECT
    cd "$BATS_TEST_TMPDIR" || return
}

irrun() {
    "$IRRUN" "$@"
}

# run, with standard error kept apart: $status, $output and $stderr.
run_apart() {
    status=0
    output=$("$@" 2>stderr) || status=$?
    stderr=$(cat stderr)
}

# npy DESCR SHAPE NUMBER...: an array on standard output, say: npy '<f4' '2, 1' 1 2
npy() {
    perl -e '
        my ($descr, $shape, @numbers) = @ARGV;
        my %letters = ("<f4" => "f<", "<f8" => "d<", "<i4" => "l<", "<i8" => "q<", "|i1" => "c",
                       "|u1" => "C", "|b1" => "C", ">f4" => "f>", "<u2" => "S<");
        my $dict = "{\x27descr\x27: \x27$descr\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }";
        $dict .= " " x (63 - (10 + length $dict) % 64) . "\n";
        binmode STDOUT;
        print "\x93NUMPY\x01\x00", pack("v", length $dict), $dict, pack(($letters{$descr} // "C") . "*", @numbers);
    ' -- "$@"
}

# raw NUMBER...: floats on standard output.
raw() {
    perl -e 'binmode STDOUT; print pack("f<*", @ARGV)' -- "$@"
}

# The numbers of text output, in one line.
numbers() {
    grep -v '^#' | tr '\n' ' ' | sed 's/ $//'
}

# shape FILE.npy: as its header says it.
shape() {
    head -n 1 "$1" | LC_ALL=C tr -d '\000-\037' | LC_ALL=C sed "s/.*'shape': (\([^)]*\)).*/\1/"
}
