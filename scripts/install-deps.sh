#!/bin/sh
# Sees to it that irrun can be built (`build`), or built and tested (`test`, the default). Silent
# when nothing is missing: headers and programs are tried, no package manager is asked. On
# Debian and Ubuntu it installs what is missing; elsewhere it names the packages and stops.
# SPDX-License-Identifier: Apache-2.0
set -eu

# set, what is tried, and the packages that hold it: apt, dnf, apk
table='
build program:cc             gcc            gcc                     gcc
build header:stdio.h         libc6-dev      glibc-devel             musl-dev
build program:pkg-config     pkg-config     pkgconf-pkg-config      pkgconf
build header:expat.h         libexpat1-dev  expat-devel             expat-dev
build header:zlib.h          zlib1g-dev     zlib-devel              zlib-dev
build header:minizip/unzip.h libminizip-dev minizip-ng-compat-devel minizip-dev
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
test  program:hyperfine      hyperfine      hyperfine               hyperfine
'

wanted=${1:-test}
case $wanted in
build | test) ;;
*)
    echo "usage: scripts/install-deps.sh [build|test]" >&2
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

is_missing() {
    case $1 in
    header:*) ! has_headers "${1#header:}" ;;
    program:*) ! has_program "${1#program:}" ;;
    esac
}

# Prints column $1 of each row that is wanted and not there, in one line.
missing() {
    echo "$table" | while read -r set probe apt dnf apk; do
        if [ "$set" = build ] || [ "$set" = "$wanted" ]; then
            ! is_missing "$probe" || case $1 in
            probe) printf '%s ' "$probe" ;;
            apt) printf '%s ' "$apt" ;;
            dnf) printf '%s ' "$dnf" ;;
            apk) printf '%s ' "$apk" ;;
            esac
        fi
    done
}

stop() {
    echo "install-deps: $1" >&2
    exit 1
}

lacking=$(missing probe)
[ -n "$lacking" ] || exit 0
echo "install-deps: missing: $lacking" >&2

if ! command -v apt-get >/dev/null 2>&1; then
    echo "  Fedora:  dnf install $(missing dnf)" >&2
    echo "  Alpine:  apk add $(missing apk)" >&2
    stop "no apt-get on this system: install the packages and try again"
fi

packages=$(missing apt)
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 ||
        stop "neither root nor sudo; as root: apt-get install $packages"
    as_root=sudo
fi
echo "install-deps: installing $packages" >&2
$as_root apt-get update -qq >&2 || echo "install-deps: going on with the package lists at hand" >&2
# shellcheck disable=SC2086 # one word a package
$as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $packages >&2 ||
    stop "apt-get could not install: $packages"
lacking=$(missing probe)
[ -z "$lacking" ] || stop "still missing after the installation: $lacking"
