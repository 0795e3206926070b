# What the tests of the command line share: the program, the models, files of numbers.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # those who load this use them

common_setup() {
    root=$(realpath "$BATS_TEST_DIRNAME/../..")
    data=$root/tests/cli/data
    IRRUN=$(realpath "${IRRUN:-$root/build/irrun}")
    unset IRRUN_GEMM IRRUN_PRECISION IRRUN_SIMD POSIXLY_CORRECT
    cd "${BATS_TEST_TMPDIR:=$(mktemp -d)}" || return
}

irrun() {
    "$IRRUN" "$@"
}

# The SIMD levels of the build, one per line.
all_levels() {
    irrun --list-kernels --simd=scalar | cut -f 2 | head -n 1 | tr ' ' '\n'
}

# The levels that this machine has: without the option the last of them is in use.
levels_here() {
    local level
    for level in $(all_levels); do
        irrun --list-kernels --simd="$level" >/dev/null 2>&1 && echo "$level"
    done
    return 0
}

# run, with standard error kept apart: $status, $output and $stderr.
run_apart() {
    status=0
    output=$("$@" 2>stderr) || status=$?
    stderr=$(cat stderr)
}

# refused STATUS WORDS ARGUMENT...: irrun ends so, prints nothing on standard output, and says the words.
refused() {
    local code=$1 words=$2
    shift 2
    run_apart irrun "$@"
    echo "irrun $*: $status"
    echo "$stderr"
    [ "$status" -eq "$code" ]
    [ "$output" = "" ]
    [[ $stderr == *"$words"* ]]
}

# usage_error WORDS ARGUMENT...
usage_error() {
    refused 2 "$@"
}

# answered STATUS WORDS HINT ARGUMENT...: refused, with a hint that is this as a whole; '' for none.
answered() {
    refused "$1" "$2" "${@:4}"
    [ "$(sed -n 's/^  hint: //p' <<<"$stderr")" = "$3" ]
}

# No temporary file here or below.
nothing_left() {
    [ -z "$(find . -name '.irrun*')" ]
}

# npy DESCR SHAPE NUMBER...: an array on standard output, say: npy '<f4' '2, 1' 1 2
npy() {
    perl -e '
        my ($descr, $shape, @numbers) = @ARGV;
        my %letters = ("<f4" => "f<", "<f8" => "d<", "<i4" => "l<", "<i8" => "q<", "|i1" => "c",
                       "|u1" => "C", "|b1" => "C", ">f4" => "f>", "<u2" => "S<", "<u8" => "Q<");
        my $dict = "{\x27descr\x27: \x27$descr\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }";
        $dict .= " " x (63 - (10 + length $dict) % 64) . "\n";
        binmode STDOUT;
        print "\x93NUMPY\x01\x00", pack("v", length $dict), $dict, pack(($letters{$descr} // "C") . "*", @numbers);
    ' -- "$@"
}

# deflated FILE.npz MEMBER SHAPE COUNT: an archive of so many zeros, f32, in a thousandth of their size.
deflated() {
    { npy '<f4' "$3" && head -c $((4 * $4)) /dev/zero; } |
        perl -MIO::Compress::Zip=zip -e 'zip \*STDIN => $ARGV[0], Name => $ARGV[1] or die' "$1" "$2.npy"
}

# refused_scarcely STATUS WORDS ARGUMENT...: refused, with 150 MB of addresses.
refused_scarcely() {
    local code=$1 words=$2
    shift 2
    # Sanitizers reserve memory of their own.
    [[ ${BUILD-} == *sanitize* ]] || local IRRUN=(bash -c 'ulimit -v 150000; exec "$@"' bash "$IRRUN")
    run_apart "${IRRUN[@]}" "$@"
    echo "irrun $*: $status"
    echo "$stderr"
    [ "$status" -eq "$code" ]
    [[ $stderr == *"$words"* ]]
}

# raw NUMBER...: floats on standard output.
raw() {
    perl -e 'binmode STDOUT; print pack("f<*", @ARGV)' -- "$@"
}

# Lines as one, with blanks between.
lines() {
    paste -s -d ' '
}

# peak COMMAND...: the peak of memory that the command reports, in bytes.
peak() {
    "$@" | jq .memory_bytes.peak_rss
}

# highest_peak COMMAND...: of three runs. A single peak varies by a megabyte and more with the pages of
# the libraries that the kernel happens to map.
highest_peak() {
    for _ in 1 2 3; do peak "$@"; done | sort -n | tail -n 1
}

# stays_below BYTES COMMAND...: one of five runs peaks there. Growth is in all of them.
stays_below() {
    local i
    for i in 1 2 3 4 5; do
        [ "$(peak "${@:2}")" -ge "$1" ] || return 0
    done
    return 1
}

# The numbers of text output, in one line.
numbers() {
    grep -v '^#' | lines
}

# shape FILE.npy: as its header says it.
shape() {
    head -n 1 "$1" | LC_ALL=C tr -d '\000-\037' | LC_ALL=C sed "s/.*'shape': (\([^)]*\)).*/\1/"
}
