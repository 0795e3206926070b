# Shows the TAP of cmocka or bats, each skip as `skip: TEST # REASON`, and ends with the counts. Takes
# name, what was run, and status, its exit status; without any TAP that alone says how it went.
# SPDX-License-Identifier: Apache-2.0

# cmocka knows no reasons: a test prints it in the line before.
/^skip: / {
    reason = substr($0, 7)
    next
}

# cmocka: "not ok 3 # SKIP name"; bats: "ok 3 name # skip reason".
/^(not )?ok [0-9]+ # SKIP / {
    sub(/^(not )?ok [0-9]+ # SKIP /, "")
    skip($0, reason)
    next
}

/^ok [0-9]+ .* # skip/ {
    test = why = $0
    sub(/ # skip.*/, "", test)
    sub(/^ok [0-9]+ /, "", test)
    sub(/.* # skip */, "", why)
    sub(/^\(/, "", why)
    sub(/\)$/, "", why)
    skip(test, why)
    next
}

/^ok [0-9]+/ { passed++ }
/^not ok [0-9]+/ { failed++ }
/^1\.\.[0-9]+$/ {
    has_plan = 1
    planned += substr($0, 4)
}
{ print }

function skip(test, why) {
    print "skip: " test " # " (why == "" ? "no reason given" : why)
    skipped++
    reason = ""
}

END {
    n = passed + failed + skipped
    if (n == 0 && !has_plan) {
        if (status == 0)
            passed = 1
        else if (status == 77)
            skip(name, reason)
        else
            failed = 1
        if (failed)
            print name ": exit status " status
    } else if (n != planned || (status != 0 && failed == 0)) {
        print name ": " n " of " planned " tests, exit status " status
        failed++
    }
    print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"
    exit failed > 0
}
