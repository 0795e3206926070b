#!/usr/bin/env bash
# Runs check_kernels and the cases on CPUs with fewer levels than this one, and on AArch64, under
# qemu's user emulation; levels of this CPU run on it. `make test-cpus` builds what it needs.
#
# It fails without qemu-x86_64 on an x86-64. It reports and skips levels that this CPU lacks, and
# AArch64 if its compiler or its libraries are missing.
#
# It runs as many levels at once as there are cores, and prints the results in order at the end.
#
# Environment: BUILD, the build directory (build); CROSS, the prefix of the compiler for AArch64
# (aarch64-linux-gnu-); CASES, the directories of cases (tests/cases models).
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."

build=${BUILD:-build} cross=${CROSS:-aarch64-linux-gnu-}
read -r -a cases <<<"${CASES:-tests/cases models}"
read -r -a compiler <<<"${CC:-cc}"
bad=0 started=()
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

skipped() {
    echo "skipped: $1"
}

# shellcheck disable=SC2317 # start calls them
# Runs the programs of a build directory at a level, in an emulator or on this CPU.
try_level() { # name, level, build directory, emulator...
    local name=$1 level=$2 directory=$3 failed=0
    shift 3
    echo "---- $name: $level"
    if ! "$@" "$directory/tests/kernels/check_kernels" | grep -v '^ok '; then
        failed=1
    fi
    IRRUN="$* $directory/irrun" IRRUN_ARGS=--simd=$level scripts/run-cases.sh "${cases[@]}" || failed=1
    return "$failed"
}

# shellcheck disable=SC2317
# Checks first that irrun detects the best level of the emulated CPU.
try_cpu() { # name, best level, build directory, emulator...
    local name=$1 level=$2 directory=$3 found
    found=$("${@:4}" "$directory/irrun" --list-kernels 2>/dev/null | cut -f 3 | sort -u)
    if [ "$found" != "$level" ]; then
        echo "FAILED $name: the level in use is ${found:-unknown}, expected $level"
        return 1
    fi
    try_level "$@"
}

# Runs a command in the background, at most one for each core.
start() { # command...
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
        wait -n || bad=1
    done
    echo "started $2: $3"
    "$@" >"$logs/${#started[@]}" 2>&1 &
    started+=($!)
}

# Waits for all commands, and prints what they wrote.
finish() {
    local i
    for i in "${!started[@]}"; do
        wait "${started[i]}" || bad=1
        cat "$logs/$i"
    done
}

has_level() {
    "$build/irrun" --list-kernels --simd="$1" >/dev/null 2>&1
}

# Some versions of qemu read the masked lanes of a masked load too.
emulates_masked_loads() {
    local program=$build/masked_load
    cat >"$program.c" <<'END'
#include <immintrin.h>
#include <sys/mman.h>
int main(void)
{
    char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + 4096, 4096, PROT_NONE);
    float last[8], *from = (float *)(pages + 4096) - 1;
    _mm256_storeu_ps(last, _mm256_maskload_ps(from, _mm256_setr_epi32(-1, 0, 0, 0, 0, 0, 0, 0)));
    return last[0] != 0;
}
END
    "${compiler[@]}" -mavx2 -D_GNU_SOURCE -o "$program" "$program.c" &&
        qemu-x86_64 -cpu Haswell "$program" >/dev/null 2>&1
}

try_x86_64() {
    if ! command -v qemu-x86_64 >/dev/null; then
        echo "FAILED: qemu-x86_64 is missing (Debian: qemu-user)"
        bad=1
        return
    fi
    start try_cpu core2duo scalar "$build" qemu-x86_64 -cpu core2duo
    start try_cpu Nehalem sse4.1 "$build" qemu-x86_64 -cpu Nehalem
    if emulates_masked_loads 2>/dev/null; then
        start try_cpu Haswell avx2 "$build" qemu-x86_64 -cpu Haswell
    else
        skipped "Haswell: this qemu faults on masked loads"
    fi
    mapfile -t levels < <(sed -n 's/^SIMD_LEVEL([^,]*, "\([^"]*\)", x86_.*/\1/p' src/kernels/levels.def)
    for level in "${levels[@]}"; do
        if has_level "$level"; then
            start try_level "this CPU" "$level" "$build" env
        else
            skipped "$level: this CPU lacks it, and qemu emulates no AVX-512 and no AMX"
        fi
    done
}

try_aarch64() {
    # The loader is that of the libraries: with the one of the cross compiler's C library, which has
    # another version, pthread_create hangs.
    local directory=$build/aarch64 libraries=/usr/lib/aarch64-linux-gnu
    local -a emulator=(qemu-aarch64)
    if ! command -v qemu-aarch64 >/dev/null || ! command -v "${cross}gcc" >/dev/null; then
        skipped "AArch64: qemu-aarch64 or ${cross}gcc is missing (Debian: qemu-user, gcc-aarch64-linux-gnu)"
        return
    fi
    if [ ! -e "$libraries/libexpat.so" ] || [ ! -e "$libraries/libz.so" ]; then
        skipped "AArch64: a library is missing (Debian: libexpat1-dev:arm64, zlib1g-dev:arm64, libblas-dev:arm64)"
        return
    fi
    PKG_CONFIG_LIBDIR=$libraries/pkgconfig make CC="${cross}gcc" BUILD="$directory" \
        "$directory/irrun" "$directory/tests/kernels/check_kernels" >/dev/null
    start try_cpu AArch64 neon "$directory" "${emulator[@]}"
    start try_level AArch64 scalar "$directory" "${emulator[@]}"
}

case $("${compiler[@]}" -dumpmachine) in
x86_64*) try_x86_64 ;;
*) skipped "x86-64: this is another machine" ;;
esac
try_aarch64
finish
[ "${#started[@]}" -gt 0 ] || bad=1
exit "$bad"
