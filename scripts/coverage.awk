# Reads tests/unreached.txt, then lines "FILE:LINE:IS_REACHED:TEXT", several for a line that is in
# several objects. Prints a table by directory; writes the lines that are not reached to the file
# `unreached`.
# SPDX-License-Identifier: Apache-2.0

# Patterns of a path and of a line, and why no test reaches such lines.
FILENAME == "tests/unreached.txt" {
    if (/^#/ || split($0, field, / \| /) != 3)
        next
    n_reasons++
    path_pattern[n_reasons] = "^(" field[1] ")$"
    line_pattern[n_reasons] = field[2]
    reason[n_reasons] = field[3]
    next
}

{
    match($0, /^[^:]*:[0-9]+:/)
    place = substr($0, 1, RLENGTH - 1)
    is_reached[place] += substr($0, RLENGTH + 1, 1)
    text[place] = substr($0, RLENGTH + 3)
}

function reason_of(path, line,    i) {
    for (i = 1; i <= n_reasons; i++) {
        if (path ~ path_pattern[i] && line ~ line_pattern[i]) {
            n_uses[i]++
            return reason[i]
        }
    }
    return ""
}

function count(group, is_run, why) {
    n[group]++
    n_run[group] += is_run
    n_explained[group] += why != ""
}

function row(group) {
    printf "%-14s %7d %8d %7.1f %12d %12d\n", group, n[group], n_run[group],
        100 * n_run[group] / n[group], n_explained[group], n[group] - n_run[group] - n_explained[group]
}

END {
    print "" >unreached
    close(unreached)
    sorted = "sort -t : -k 1,1 -k 2,2n >" unreached
    for (place in is_reached) {
        split(place, field, ":")
        split(field[1], name, "/")
        folder = name[3] == "" ? "src" : "src/" name[2]
        is_run = is_reached[place] > 0
        why = is_run ? "" : reason_of(field[1], text[place])
        count(folder, is_run, why)
        count("all", is_run, why)
        if (text[place] ~ /fail[a-z_0-9]*\(|_error\(/)
            count("error lines", is_run, why)
        sub(/^ +/, "", text[place])
        if (!is_run)
            print place ": " text[place] (why == "" ? "" : "  [" why "]") | sorted
    }
    close(sorted)
    printf "%-14s %7s %8s %7s %12s %12s\n", "directory", "lines", "reached", "%", "with reason", "without"
    n_folders = split("src src/base src/tensor src/formats src/kernels src/graph src/ops src/ir src/plan src/runtime src/cli", folders, " ")
    for (i = 1; i <= n_folders; i++)
        if (n[folders[i]])
            row(folders[i])
    row("error lines")
    row("all")
    for (i = 1; i <= n_reasons; i++)
        if (!n_uses[i])
            print "tests/unreached.txt: of no use any more: " path_pattern[i] " | " line_pattern[i]
}
