#!/usr/bin/env bash
# Shows a stateful model at work: a detector of sensor faults over a file of readings, then an LSTM checked against its
# golden. `make demo` calls it; IRRUN is the program.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

irrun=${IRRUN:-build/irrun}
model=models/sensor_watch/model.xml
readings=models/sensor_watch/readings.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

heading() {
    printf '\n== %s\n\n' "$*"
}

# Prints a command as one would type it, then runs it.
show() {
    printf '   $ %s\n' "$*"
}

heading "A stream of $(wc -l <"$readings") readings, one record each; what the detector knows lives in variables"
show "$irrun --inspect $model"
"$irrun" --inspect "$model" | sed -n '/^inputs/,/^weights/p' | sed 's/^/   /;/weights/d'

show "$irrun $model -i $readings -o '%n.csv' --stats"
"$irrun" "$model" -i "$readings" -o "csv:$work/%n.csv" --stats 2>"$work/stats"

heading "What it saw (each column is $(($(wc -l <"$readings") / 100)) readings; the marks below are its alarms)"
paste -d, "$readings" "$work/flag.csv" | awk -F, -v columns=100 -v rows=11 '
    { value[NR] = $1; flag[NR] = $2; if ($2 == 0) { if (!n++ || $1 < low) low = $1; if (n == 1 || $1 > high) high = $1 } }
    END {
        per = NR / columns
        for (i = 1; i <= NR; i++) if (value[i] == value[i] + 0 && (value[i] > high + 1 || value[i] < low - 1)) off = value[i]
        for (c = 0; c < columns; c++) {
            mark[c] = " "
            for (i = int(c * per) + 1; i <= int((c + 1) * per); i++) {
                if (flag[i]) mark[c] = substr("o=?!", flag[i], 1)
                if (value[i] != value[i] + 0) continue
                r = int((value[i] - low) / (high - low) * (rows - 1) + 0.5)
                if (r < 0 || r >= rows) continue
                cell[r, c] = flag[i] ? "x" : (cell[r, c] == "x" ? "x" : "*")
            }
        }
        for (r = rows - 1; r >= 0; r--) {
            line = ""
            for (c = 0; c < columns; c++) line = line ((r, c) in cell ? cell[r, c] : " ")
            label = (r == rows - 1) ? sprintf("%5.1f", high) : (r == 0 ? sprintf("%5.1f", low) : "     ")
            print "   " label " |" line
        }
        line = ""
        for (c = 0; c < columns; c++) line = line mark[c]
        print "  alarms |" line
        print "           o outlier   = stuck   ? missing   ! new level" (off != "" ? "   (readings such as " off " are off the scale)" : "")
    }'

heading "Where the anomalies are"
paste -d, "$readings" "$work/flag.csv" "$work/score.csv" "$work/mean.csv" "$work/deviation.csv" | awk -F, '
    function put() {
        rows = first == last ? first : first "-" last
        printf "   %-11s %-10s %9s   %s\n", rows, name[kind], shown, kind == 1 ? sprintf("%.0f deviations from %.2f (+-%.2f)", worst, mean, deviation) : kind == 4 ? sprintf("relearned: %.2f is normal now", mean) : ""
    }
    BEGIN {
        split("outlier stuck missing new-level", name, " ")
        printf "   %-11s %-10s %9s   %s\n", "row", "kind", "reading", "how far off"
    }
    $2 != kind || NR - 1 != last + 1 { if (kind) put(); kind = $2; first = NR - 1; worst = -1 }
    { last = NR - 1 }
    $2 && $3 + 0 >= worst { worst = $3 + 0; shown = $1; mean = $4; deviation = $5 }
    END { if (kind) put() }'

heading "How fast, and what it knows now"
awk '
    /^load|^plan|^peak RSS/ { print "   " $0 }
    /^  p50/ { sub(/^  p50 */, ""); print "   an iteration       " $0 ", the median" }
    /^iterations\/s/ { print "   records/s          " $2 ", with reading the csv and writing four" }' "$work/stats"
printf '   in the variables   mean %s, deviation %s\n' \
    "$(tail -n 1 "$work/mean.csv")" "$(tail -n 1 "$work/deviation.csv")"

heading "An LSTM whose state goes from chunk to chunk, compared with float64 NumPy"
lstm=models/lstm_tagger
arguments=$(cat "$lstm/args")
show "$irrun $lstm/model.xml -i $lstm/in.npz --expect $lstm/out.npz $arguments"
# shellcheck disable=SC2086 # several arguments
"$irrun" "$lstm/model.xml" -i "$lstm/in.npz" --expect "$lstm/out.npz" $arguments
echo "   every output is as expected"

heading "Your own readings, one number a line"
echo "   \$ $irrun $model -i csv:YOURS.csv -o flag=csv:-"
echo
