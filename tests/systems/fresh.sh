#!/usr/bin/env bash
# What someone sees who has just cloned HEAD on a bare system: make demo, then make test.
#
#   tests/systems/fresh.sh SUITE     bookworm, trixie, noble ...
#
# Environment: DEMO=1, without make test; KEEP=1 keeps the system.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2154 # root.sh sets dir
set -euo pipefail
. "$(dirname "$0")/root.sh"
make_root "$1" ca-certificates git make
git clone -q . "$dir/system/srv/irrun"

# The seconds and the lines before each line of the demo.
inside make -C /srv/irrun demo 2>&1 | perl -MTime::HiRes=time -pe 'BEGIN { $| = 1; $t = time } printf "%5.1f %3d  ", time - $t, $.' |
    tee "$dir/demo"
read -r seconds line _ < <(grep -P '\d\t\d' "$dir/demo")
echo "$1: the first segment after $seconds s, in line $line"
[ "$line" -le 41 ]
[ -n "${DEMO-}" ] || inside make -C /srv/irrun test
