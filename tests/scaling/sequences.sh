# shellcheck shell=bash disable=SC2034 # those that source this use the names
# Sourced by the tests of this folder: 200 sequences of readings in a directory of its own, their
# outputs by one process, and a program `irrun` that pauses behind each sequence.
# SPDX-License-Identifier: Apache-2.0
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/${BUILD:-build}/irrun
model=$root/models/sensor_watch/model.xml

# make_sequences: in/ and one/ in the current directory, the outputs of many.manifest go to many/.
make_sequences() {
    mkdir in one many slow
    awk 'BEGIN {
        srand(7)
        for (i = 0; i < 200; i++)
            for (n = 0; n < 2000; n++)
                printf "%.3f\n", 20 + 5 * rand() >("in/" i ".csv")
    }'
    local where i
    for where in one many; do
        for ((i = 0; i < 200; i++)); do
            printf '%s\treading=%s\t>score=%s\n' "$i" "$PWD/in/$i.csv" "$PWD/$where/$i.csv"
        done >"$where.manifest"
    done
    "$program" "$model" --manifest=one.manifest
    cat >slow/irrun <<END
#!/bin/bash
list=/dev/stdin
for word; do case \$word in --manifest=-) ;; --manifest=*) list=\${word#*=} ;; *) words+=("\$word") ;; esac; done
pause() { while IFS= read -r line; do printf '%s\n' "\$line"; sleep 0.02; done; }
exec $program "\${words[@]}" --manifest=- < <(pause <"\$list")
END
    chmod +x slow/irrun
}
