#!/bin/sh
# Prints the soname of the shared library that has CBLAS: find-blas.sh LIBS...
# LIBS are flags for the linker. CC: the compiler. If linking fails (a compiler without libraries), prints the usual
# name on Linux.
# SPDX-License-Identifier: Apache-2.0
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

echo 'void cblas_sgemm(void); void f(void); void f(void) { cblas_sgemm(); }' >"$directory/f.c"
# CC may be several words.
# shellcheck disable=SC2086
name=$({ ${CC:-cc} -shared -fPIC -nostdlib -o "$directory/f.so" "$directory/f.c" -Wl,--as-needed "$@" &&
    LC_ALL=C readelf -d "$directory/f.so"; } 2>/dev/null |
    sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | head -n 1)
echo "${name:-libblas.so.3}"
