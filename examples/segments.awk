#!/usr/bin/awk -f
# Turns probabilities, one per line, into segments: start, end and length in seconds, separated by tabs.
#
#   irrun model.xml -i wav:call.wav --rate=16000 --partial=pad -o probability=csv:- | awk -f segments.awk
#
# Settings, given as -v NAME=VALUE:
#   threshold=0.5    a segment starts at a probability of at least this
#   low=THRESHOLD-0.15  and ends where the probability is below this ...
#   silence=0.25     ... and does not reach the threshold again for this many seconds
#   shortest=0.1     shorter segments are omitted
#   step=0.032       seconds per line: 512 samples at 16 kHz
#   field=1          the column with the probability
#
# With several files, each begins at 0 seconds, and its name is the first column. csv from one pipe does not say where a
# recording ends: for many recordings, -o probability=text:- does, and the key of each is the first column.
#
# A segment is printed as soon as its end is known (with mawk, use -W interactive). Empty lines, those that begin with
# # and a heading in the first line are skipped; another line without a number ends the run with status 2.
# SPDX-License-Identifier: Apache-2.0

function fail(message) {
    print "segments.awk: " message >"/dev/stderr"
    is_bad = 1
    exit 2
}

function set(name, value, otherwise) {
    if (value == "") return otherwise
    if (value !~ /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/) fail(name "=" value " is not a number")
    return value + 0
}

function finish(end) {
    is_inside = 0
    if ((end - start) * step + 1e-9 < shortest) return
    printf "%s%.3f\t%.3f\t%.3f\n", (key != "" ? key "\t" : ARGC > 2 ? file "\t" : ""), start * step, end * step, (end - start) * step
    fflush()
}

function begin() {
    if (is_inside) finish(quiet >= 0 ? quiet : n)
    n = is_inside = 0
    quiet = -1
}

BEGIN {
    FS = "[, \t]+"
    threshold = set("threshold", threshold, 0.5)
    low = set("low", low, threshold - 0.15)
    silence = set("silence", silence, 0.25)
    shortest = set("shortest", shortest, 0.1)
    step = set("step", step, 0.032)
    field = set("field", field, 1)
    begin()
}

FNR == 1 && NR > 1 {
    begin()
    key = ""
}

/^# [^ ]+ [a-z0-9]+ \[/ { # the text output of irrun
    if (output != "" && $2 != output)
        fail("there are several outputs: choose one, as in -o probability=csv:-")
    output = $2
    seq = $0
    sub(/.*\] seq=/, "", seq)
    record = seq
    sub(/.* rec=/, "", record)
    sub(/ rec=[0-9]*$/, "", seq)
    if (record + 0 == 0) {
        begin()
        key = seq == "-" ? "" : seq
    }
}

/^#/ { next }

{ sub(/^[ \t]+/, ""); sub(/\r$/, "") }

/^$/ { next }

{ file = FILENAME }

FNR == 1 && $field ~ /^[^-+.0-9]/ { next } # a heading

$field !~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/ {
    fail((FILENAME == "" || FILENAME == "-" ? "standard input" : FILENAME) ":" FNR ": \"" $field \
        "\" in column " field " is not a number; -v field=N reads another column, irrun ... -o probability=csv:- writes one")
}

{
    p = $field + 0
    if (p >= threshold) {
        if (!is_inside) start = n
        is_inside = 1
        quiet = -1
    } else if (is_inside && p < low && quiet < 0) {
        quiet = n
    }
    n++
    if (is_inside && quiet >= 0 && (n - quiet) * step + 1e-9 >= silence) {
        finish(quiet)
        quiet = -1
    }
}

END { if (is_inside && !is_bad) finish(quiet >= 0 ? quiet : n) }
