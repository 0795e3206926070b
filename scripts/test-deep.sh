#!/usr/bin/env bash
# Runs the long tests, after `make test`: kills and limits at many moments, every call that can fail,
# the fuzz targets, the memory of a long run, Slurm and Spark, the package, bare systems, the cases
# and readers under sanitizers. `make test-deep` builds what it needs.
#
# Environment: SECONDS_EACH, for a fuzz target (600); ROUNDS, a factor for the number of kills and
# steps of `make test` (20). The output of each step is in build/deep.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
logs=build/deep
seconds=${SECONDS_EACH:-600}
sanitized=build/sanitize-address-undefined
bad=0
mkdir -p "$logs"

# step NAME COMMAND...: runs it, and prints one line with the result.
step() {
    local name=$1 log=$logs/${1//[ \/]/-}.log verdict=passed
    shift
    SECONDS=0
    nice "$@" >"$log" 2>&1 </dev/null || case $? in
    77) verdict=$(tail -1 "$log") ;;
    *) verdict="FAILED: $log" bad=1 ;;
    esac
    printf '%-32s %6s s  %s\n' "$name" "$SECONDS" "$verdict"
}

for part in cli/test_kills.bats cli/test_limits.bats; do
    step "$part" env TEST_ROUNDS="${ROUNDS:-20}" timeout 3600 tests/run.sh "$part"
done
step faults make test-faults
if command -v clang >/dev/null; then
    step fuzz make fuzz SECONDS="$seconds"
else
    echo "fuzz: skipped: it needs clang"
fi
if command -v python3 >/dev/null; then
    step soak scripts/soak
else
    echo "soak: skipped: it needs python3"
fi
for engine in slurm spark; do
    step "$engine" timeout 3600 "tests/scaling/$engine.sh"
done
step deb timeout 3600 tests/systems/deb.sh
for suite in bookworm trixie noble; do
    step "$suite" timeout 7200 tests/systems/fresh.sh "$suite"
done
step "sanitized build" make SANITIZE=address,undefined all check-programs
for part in cases/plain cases/scalar fuzz/model fuzz/formats fuzz/state fuzz/text; do
    step "sanitized $part" env BUILD="$sanitized" timeout 7200 tests/run.sh "$part"
done
exit "$bad"
