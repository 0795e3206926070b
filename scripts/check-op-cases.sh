#!/usr/bin/env bash
# Every operator that --supported-ops lists must have at least three cases in tests/cases. Prints those that lack some. IRRUN is
# the program.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

{
    "${IRRUN:-build/irrun}" --supported-ops | awk '{ print "op", $1, $2 }'
    grep -oE '<layer [^>]*' tests/cases/*/*/model.xml | awk '
        {
            file = $0; sub(/:.*/, "", file)
            type = version = ""
            if (match($0, / type="[^"]*/)) type = substr($0, RSTART + 7, RLENGTH - 7)
            if (match($0, / version="[^"]*/)) version = substr($0, RSTART + 10, RLENGTH - 10)
            if (!seen[file, type, version]++) print "case", type, version
        }'
} | awk -v least=3 '
    $1 == "op" {
        n++
        type[n] = tolower($2); label[n] = $2 " " $3
        span = $3; gsub(/opset/, "", span)
        first[n] = last[n] = span + 0
        if (match(span, /-|\.\./)) { split(span, ends, /-|\.\./); first[n] = ends[1] + 0; last[n] = ends[2] + 0 }
        next
    }
    {
        name = tolower($2)
        if (name == "constant") name = "const"
        opset = $3; is_opset = sub(/^opset/, "", opset)
        if (!is_opset) opset = 6
        if (name == "mvn" && opset == 1) opset = 2
        count[name, opset + 0]++
    }
    END {
        if (n == 0) { print "no operators are listed"; exit 1 }
        for (i = 1; i <= n; i++) {
            cases = 0
            for (k = first[i]; k <= last[i]; k++) cases += count[type[i], k]
            if (cases < least) { print label[i] ": " cases " cases, expected at least " least; failed++ }
        }
        exit failed > 0
    }'
