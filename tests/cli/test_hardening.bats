#!/usr/bin/env bats
# What the Makefile asks of compiler and linker against faults in memory.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    cd "$root" || return
    command -v readelf >/dev/null || skip "readelf is not there"
    [[ $(<"${BUILD:-build}/flags") == *' -O2 -g '* ]] || skip "built with other CFLAGS, which choose this too"
    readelf -lW "$IRRUN" | grep -q INTERP || skip "a static program loads no library"
}

@test "the program may be loaded anywhere, and its stack holds no code" {
    readelf -hW "$IRRUN" | grep -q 'Type: *DYN'
    readelf -lW "$IRRUN" | grep GNU_STACK | grep -q ' RW '
}

@test "the addresses of functions can only be read once it runs" {
    readelf -lW "$IRRUN" | grep -q GNU_RELRO
    readelf -dW "$IRRUN" | grep -qE 'BIND_NOW|Flags:.*NOW'
}

@test "stacks have a guard, and copies are checked" {
    readelf -sW --dyn-syms "$IRRUN" | grep -q '__stack_chk_fail'
    ! readelf -dW "$IRRUN" | grep -q 'libc\.so\.6' || # another C library has no such functions
        readelf -sW --dyn-syms "$IRRUN" | grep -qE '__(memcpy|read|fread|snprintf|vsnprintf)_chk'
}
