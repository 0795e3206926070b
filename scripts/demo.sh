#!/usr/bin/env bash
# Runs a speech detector on a minute of sound: shows where the speech is, the speed, a pipe, and the result without
# state. `make demo` calls it; IRRUN is the program.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

irrun=${IRRUN:-build/irrun}
model=models/speech_watch/model.xml
sound=models/speech_watch/minute.ogg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

heading() {
    printf '\n== %s\n\n' "$*"
}

# Prints a command as one would type it.
show() {
    printf '   $ %s\n' "$*"
}

heading "A minute of sound: made-up voices among fans, keys, strings, rain and a siren"
show "$irrun $model -i $sound --rate=16000 --partial=pad -o probability=csv:-"
"$irrun" "$model" -i "$sound" --partial=pad --rate=16000 --stats -o "probability=csv:$work/probability" \
    -o "speech=csv:$work/speech" --tap=loudness -o "loudness=csv:$work/loudness" 2>"$work/stats" || {
    cat "$work/stats" >&2
    exit 1
}

echo
paste -d, "$work/probability" "$work/speech" "$work/loudness" | awk -F, -v columns=100 -v rows=4 '
    function draw(label, height, mark,   r, c, line) {
        for (r = rows; r > 0; r--) {
            line = ""
            for (c = 0; c < columns; c++) line = line (height[c] * rows > r - 0.5 ? mark : " ")
            printf "   %-11s |%s\n", r == rows ? label : "", line
        }
    }
    {
        sum = 0
        for (i = 3; i <= NF; i++) sum += $i
        loud[NR] = sum; p[NR] = $1; speech[NR] = $2
        if (NR == 1 || sum > high) high = sum
        if (NR == 1 || sum < low) low = sum
    }
    END {
        for (k = 1; k <= NR; k++) {
            c = int((k - 1) / NR * columns)
            n[c]++
            if (loud[k] - low > (high - low) * height[c]) height[c] = (loud[k] - low) / (high - low)
            chance[c] += p[k]; marks[c] += speech[k]
        }
        for (c = 0; c < columns; c++) chance[c] /= n[c]
        draw("loudness", height, ":")
        draw("probability", chance, "#")
        line = ""
        for (c = 0; c < columns; c++) line = line (marks[c] * 2 >= n[c] ? "=" : " ")
        printf "   %-11s |%s\n   %-11s |", "speech", line, "seconds"
        for (c = 0; c < 6; c++) printf "%-16s", c * 10
        print "60"
    }' | sed 's/ *$//'

heading "Its segments: start, end and length in seconds"
show "... | awk -f examples/segments.awk"
awk -f examples/segments.awk "$work/probability" | sed 's/^/   /'

heading "How fast"
awk '
    function row(label, value) { printf "   %-24s %s\n", label, value }
    /^load / { load = $2 * ($3 == "ms" ? 1000 : 1) }
    /^plan / { plan = $2 * ($3 == "ms" ? 1000 : 1) }
    /^  p50/ { row("a chunk of 32 ms", $2 " " $3 ", the median") }
    /^iterations\/s/ { row("chunks a second", $2 ", with reading the file and writing three") }
    /^real-time factor/ { row("the minute, computed", sprintf("%.0f ms, %.0f times as fast as it sounds", $3 * 60000, 1 / $3)) }
    /^peak RSS/ { row("memory at most", $3 " " $4) }
    END { row("start", sprintf("%.1f ms to load and plan the model", (load + plan) / 1000)) }' "$work/stats"

heading "The same from a pipe (one irrun decodes, the other detects): the state goes from chunk to chunk"
show "$irrun $model -i $sound --partial=pad --tap=samples -o samples=raw:- |"
printf '   >     %s\n' "$irrun $model -i raw:- -o speech=csv:- | sort | uniq -c"
"$irrun" "$model" -i "$sound" --partial=pad --tap=samples -o samples=raw:- |
    "$irrun" "$model" -i raw:- -o speech=csv:- >"$work/piped"
cmp "$work/speech" "$work/piped"
sort "$work/piped" | uniq -c

heading "Forgetting after each chunk (--reset): most of the noise passes for speech"
show "$irrun $model -i $sound --partial=pad --reset -o speech=csv:- | sort | uniq -c"
"$irrun" "$model" -i "$sound" --partial=pad --reset -o speech=csv:- | sort | uniq -c

heading "Your own recording (16 kHz; else: sox YOURS.wav -r 16000 -c 1 out.wav), your own microphone"
show "$irrun $model -i wav:YOURS.wav --rate=16000 --partial=pad -o probability=csv:- | awk -f examples/segments.awk"
show "arecord -q -f S16_LE -c 1 -r 16000 | $irrun $model -i s16:- -o speech=csv:- | uniq"
echo
