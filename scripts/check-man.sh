#!/bin/sh
# Checks the manual pages with mandoc; silent when all is well.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."

status=0
for page in man/*.[0-9]; do
    said=$(mandoc -T lint -W warning "$page" 2>&1) || status=1
    [ -z "$said" ] || printf '%s\n' "$said"
done
exit "$status"
