# What the tests of this directory share: the root directory of a bare Debian or Ubuntu. Needs root,
# debootstrap and the archive, for Ubuntu its keyring too (ubuntu-archive-keyring, which Debian has from
# 13 on). Environment: MIRROR, another archive; KEYRING, the file with the keys of Ubuntu.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

skip() {
    echo "$1"
    exit 77
}

remove_root() {
    umount "$dir/system/proc" "$dir/system/dev/pts" 2>/dev/null || :
    [ -n "${KEEP-}" ] || rm -rf --one-file-system "$dir"
}

# make_root SUITE PACKAGE...: sets `dir`, which is removed at the end. $dir/system is its root directory.
make_root() {
    local suite=$1 packages components=main options=()
    packages=$(IFS=, && echo "${*:2}")
    [ "$(id -u)" -eq 0 ] || skip "skipped: it needs root"
    command -v debootstrap >/dev/null || skip "skipped: no debootstrap"
    case $suite in
    jammy | noble)
        components=main,universe
        local keys=${KEYRING:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}
        [ -e "$keys" ] || skip "skipped: no $keys"
        options=(--keyring="$keys")
        ;;
    esac
    dir=$(mktemp -d)
    trap remove_root EXIT
    trap 'exit 143' TERM INT
    # All suites of Ubuntu have one script; debootstrap may not know the name of the newest.
    debootstrap --variant=minbase --components="$components" --include="$packages" "${options[@]}" "$suite" \
        "$dir/system" "${MIRROR-}" ${options[0]:+/usr/share/debootstrap/scripts/gutsy} >"$dir/log" ||
        { tail -n 3 "$dir/log"; skip "skipped: debootstrap could not make $suite"; }
    mount -t proc proc "$dir/system/proc"
    mkdir -p "$dir/system/dev/pts"
    mount -t devpts devpts "$dir/system/dev/pts"
    cp /etc/resolv.conf "$dir/system/etc/"
}

# inside COMMAND...: in the system, with none of this environment.
inside() {
    chroot "$dir/system" env -i HOME=/srv PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        TERM=dumb "$@"
}
