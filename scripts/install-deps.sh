#!/bin/sh
# Installs what is missing to build irrun (`build`), to run the demo (`demo`) or to run the tests
# (`test`, the default). Tries headers and programs, without a package manager; silent if nothing is
# missing. On Debian and Ubuntu it installs packages and prints one line (all lines with V=1);
# elsewhere it names the packages and stops.
# SPDX-License-Identifier: Apache-2.0
set -eu

# Set, what is tried, and the packages that have it: apt, dnf, apk.
# build: needed to build; test: needed to test; sound: optional for demo and tests; more: optional for
# tests, which are skipped without it.
table='
build program:cc             gcc            gcc                     gcc
build header:stdio.h         libc6-dev      glibc-devel             musl-dev
build program:pkg-config     pkg-config     pkgconf-pkg-config      pkgconf
build header:expat.h         libexpat1-dev  expat-devel             expat-dev
build header:zlib.h          zlib1g-dev     zlib-devel              zlib-dev
build header:cblas.h         libblas-dev    blas-devel              blas-dev
test  program:bash           bash           bash                    bash
test  header:cmocka.h        libcmocka-dev  libcmocka-devel         cmocka-dev
test  program:bats           bats           bats                    bats
test  program:mandoc         mandoc         mandoc                  mandoc
test  program:shellcheck     shellcheck     ShellCheck              shellcheck
test  program:perl           perl           perl                    perl
test  program:sox            sox            sox                     sox
test  program:parallel       parallel       parallel                parallel
test  program:jq             jq             jq                      jq
test  program:unzip          unzip          unzip                   unzip
sound library:sndfile        libsndfile1    libsndfile              libsndfile
more  program:hyperfine      hyperfine      hyperfine               hyperfine
'

wanted=${1:-test}
case $wanted in
build) needed=build wishes='' ;;
demo) needed=build wishes=sound ;;
test) needed="build test" wishes="sound more" ;;
*)
    echo "usage: scripts/install-deps.sh [build|demo|test]" >&2
    exit 2
    ;;
esac

has_headers() {
    flags=$(for module in cblas blas; do pkg-config --cflags "$module" 2>/dev/null || :; done)
    # setjmp.h and the like come before cmocka.h: it relies on them.
    # shellcheck disable=SC2086 # several flags
    { printf '#include <%s>\n' stdarg.h stddef.h stdint.h setjmp.h "$@"; } |
        ${CC:-cc} $flags -E -x c -o /dev/null - 2>/dev/null
}

has_program() {
    [ "$1" != cc ] || set -- "${CC:-cc}"
    command -v "${1%% *}" >/dev/null 2>&1 || return
    # moreutils has another program of that name.
    [ "$1" != parallel ] || parallel --version 2>/dev/null | grep -q GNU
}

# A library that is loaded at run time.
has_library() {
    for directory in /lib /lib64 /usr/lib /usr/lib64 /usr/local/lib /lib/*-linux-* /usr/lib/*-linux-*; do
        [ ! -e "$directory/lib$1.so.1" ] || return 0
    done
    return 1
}

is_missing() {
    case $1 in
    library:*) ! has_library "${1#library:}" ;;
    header:*) ! has_headers "${1#header:}" ;;
    program:*) ! has_program "${1#program:}" ;;
    esac
}

# missing COLUMN SET...: prints the column of each row of the sets that is missing, in one line.
missing() {
    column=$1
    shift
    echo "$table" | while read -r set probe apt dnf apk; do
        case " $* " in
        *" $set "*) ;;
        *) continue ;;
        esac
        ! is_missing "$probe" || case $column in
        probe) printf '%s ' "$probe" ;;
        apt) printf '%s ' "$apt" ;;
        dnf) printf '%s ' "$dnf" ;;
        apk) printf '%s ' "$apk" ;;
        esac
    done
}

stop() {
    echo "install-deps: $1" >&2
    exit 1
}

# Tests write to the directory of bats or, with bats before 1.4, to TMPDIR. Versions before 1.2 have
# not been tested.
check_bats() {
    [ "$wanted" = test ] || return 0
    version=$(bats --version | sed 's/[^0-9]*//')
    case $version in
    0.* | 1.0* | 1.1 | 1.1.*) stop "bats $version is too old: the tests need 1.2 or newer" ;;
    esac
}

# Runs a command, and prints its output only if it fails.
quietly() {
    if [ -n "${V-}" ]; then
        "$@" >&2
    else
        said=$("$@" 2>&1) || {
            echo "$said" >&2
            return 1
        }
    fi
}

# shellcheck disable=SC2086 # several sets
lacking=$(missing probe $needed)
# shellcheck disable=SC2086
wished=$([ -z "$wishes" ] || missing probe $wishes)
if [ -z "$lacking$wished" ]; then
    check_bats
    exit 0
fi
[ -z "$lacking" ] || echo "install-deps: missing: $lacking" >&2

if ! command -v apt-get >/dev/null 2>&1; then
    [ -n "$lacking" ] || exit 0
    # shellcheck disable=SC2086
    {
        echo "  Fedora:  dnf install $(missing dnf $needed)" >&2
        echo "  Alpine:  apk add $(missing apk $needed)" >&2
    }
    stop "no apt-get on this system: install the packages and try again"
fi

# shellcheck disable=SC2086
packages=$(missing apt $needed)
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        [ -n "$lacking" ] || exit 0
        stop "neither root nor sudo; as root: apt-get install $packages"
    fi
    as_root=sudo
fi
quietly $as_root apt-get update -qq || echo "install-deps: using the existing package lists" >&2
if [ -n "$wished" ]; then
    # shellcheck disable=SC2086
    for package in $(missing apt $wishes); do
        if apt-cache show "$package" >/dev/null 2>&1; then
            packages="$packages$package "
        else
            echo "install-deps: this system has no $package: what needs it is skipped" >&2
        fi
    done
fi
if [ -n "$packages" ]; then
    echo "install-deps: installing $packages" >&2
    # shellcheck disable=SC2086 # one word a package
    quietly $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $packages ||
        stop "apt-get could not install: $packages"
fi
# shellcheck disable=SC2086
lacking=$(missing probe $needed)
[ -z "$lacking" ] || stop "still missing after the installation: $lacking"
check_bats
