#!/usr/bin/env bats
# The completions of zsh and fish, where these shells are; that of bash is in test_completion.bats.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    for shell in bash zsh fish; do
        # shellcheck disable=SC2046 # words
        "$root/scripts/make-completion.sh" "$root/src/cli/options.def" "$root/src/formats/formats.def" "$root/completions/irrun.$shell" \
            $(irrun --list-kernels --simd=scalar | cut -f 2 | head -n 1) >"completion.$shell"
    done
}

@test "every shell knows every option, from the one list" {
    local shell
    sed -n 's/^OPTION([a-z_0-9]*, "\([^"]*\)".*/\1/p' "$root/src/cli/options.def" | sort >names
    [ "$(wc -l <names)" -gt 20 ]
    for shell in bash zsh fish; do
        sed -n "s/^[ a-z-]*'\([a-z0-9-]*\) [^ ]* \(FLAG\|VALUE\|MAYBE\) [^']*'$/\1/p" "completion.$shell" | sort | diff names -
        run grep -E '# @OPTIONS@$|auto @LEVELS@' "completion.$shell"
        [ "$status" -eq 1 ]
        grep -q "'simd - VALUE auto|$(irrun --list-kernels --simd=scalar | cut -f 2 | sed 's/ /|/g; q')'" "completion.$shell"
    done
}

@test "zsh completes options and their words" {
    command -v zsh >/dev/null || skip "this shell is not there"
    mkdir functions
    cp completion.zsh functions/_irrun
    cat >screen.zsh <<'ZSH'
zmodload zsh/zpty
zpty -b z "zsh -f -i"
zpty -w z "PS1=; fpath=($PWD/functions \$fpath); autoload -Uz compinit; compinit -u -d dump; stty cols 200; print re''ady"
zpty -r z seen "*ready*"
zpty -w -n z "irrun --low-l"$'\t'$'\x15'"irrun --gemm=pla"$'\t'$'\x01'"print -r -- got "$'\n'
zpty -r -m z seen "*got irrun*plain*" && print -r -- $seen
ZSH
    timeout 20 zsh -f screen.zsh >seen || { cat seen; false; }
    grep -q 'gemm=plain' seen
}

@test "fish completes options and their words" {
    command -v fish >/dev/null || skip "this shell is not there"
    fish --no-execute completion.fish
    HOME=$PWD fish -c 'source completion.fish; complete -C "irrun --"' | cut -f 1 | grep '^--' | sort -u >offered
    sed -n 's/^OPTION([a-z_0-9]*, "\([^"]*\)".*/--\1/p' "$root/src/cli/options.def" | sort -u | diff - <(sed 's/=$//' offered | sort -u)
    [ "$(HOME=$PWD fish -c 'source completion.fish; complete -C "irrun --gemm="' | grep -c plain)" -eq 1 ]
}
