#!/usr/bin/env bats
# The bash completion that scripts/make-completion.sh makes from options.def.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    # shellcheck disable=SC2046 # words
    "$root/scripts/make-completion.sh" "$root/src/cli/options.def" "$root/src/formats/formats.def" "$root/completions/irrun.bash" \
        $(irrun --list-kernels --simd=scalar | cut -f 2 | head -n 1) >irrun_completion
    ln -s "$IRRUN" program
    cp "$data/sum.xml" "$data/pair.xml" .
    mkdir folder
    touch x.npy y.NPZ z.dat folder/a.csv w.bin "two words.npy"
}

# What <TAB> offers after a line, sorted, one a line; the last line is "nospace" if no blank is to follow.
# Bash itself runs the function; what it would ask of readline is answered here.
tab() {
    bash -c '
        compopt() { echo "$*" >option; }
        source ./irrun_completion
        COMP_LINE="./program $1" COMP_POINT=$((10 + ${#1}))
        rm -f option
        _irrun ./program
        [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}" | sort
        ! grep -qx -e "-o nospace" option 2>/dev/null || echo nospace
    ' bash "$1"
}

offers() { # a line, then what <TAB> offers, in one line
    local found
    found=$(tab "$1" | tr '\n' ' ')
    printf "%s: %s, expected %s\n" "$1" "${found% }" "$2"
    [ "${found% }" = "$2" ]
}

# The words that an error message lists: "takes auto or plain, not"; or a hint: "one of: npy npz".
listed() {
    run_apart irrun "$@"
    [ "$status" -eq 2 ] || return
    sed -n 's/.* takes \(.*\), not .*/\1/p; s/.*with one of: //p' <<<"$stderr" | sed 's, or , ,' | tr -d , | tr ' ' '\n' | sort
}

@test "every option of --help=all is completed, and no other" {
    irrun --help=all | sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\)\(\[\{0,1\}=\{0,1\}\).*/\2 \3/p' | while read -r name argument; do
        [ "$argument" = '=' ] || echo "$name"
        [ -z "$argument" ] || echo "$name="
    done | sort >expected
    [ "$(wc -l <expected)" -gt 20 ]
    diff <(tab --) expected
    diff <(tab -) expected
    diff <(tab 'sum.xml -s --') expected
}

@test "the letters of --help=all are known with their values" {
    local letter name
    irrun --help=all | sed -n 's/^  -\(.\), --\([a-z-]*\)=.*/\1 \2/p' >letters
    [ -s letters ]
    while read -r letter name; do
        diff <(tab "sum.xml -$letter ") <(tab "sum.xml --$name ")
    done <letters
}

@test "a unique option ends with = and no blank" {
    offers '--gem' '--gemm= nospace'
    offers '--no-f' '--no-fuse'
    offers '--frobnicate' ''
    offers '-- --' ''
}

@test "the words of an option are those that irrun takes" {
    local name
    for name in gemm precision simd emit cast partial denormals progress color reset-to; do
        irrun --help=all | grep -q -e " --$name=" || continue
        diff <(tab "--$name=") <(listed "$data/sum.xml" --random "--$name=?")
        diff <(tab "--$name ") <(listed "$data/sum.xml" --random "--$name=?")
    done
    for name in inspect supported-ops help profile; do
        irrun --help=all | grep -q -e " --$name\[=" || continue
        diff <(tab "--$name=") <(listed "$data/sum.xml" --random "--$name=?")
    done
    offers '--gemm=pl' 'plain'
    offers '--gemm=x' ''
    offers '--stats=' ''
}

@test "--reset and --random offer only what is taken" {
    local word
    offers '--reset=' 'if: iteration never sequence'
    for word in never sequence iteration if:x; do
        run_apart irrun sum.xml --random -o none: "--reset=$word"
        [ "$status" -eq 0 ]
    done
    offers 'sum.xml --random=' 'a= arange int\( normal ones uniform x:0= x= zeros'
    for word in arange 'int(1,2)' normal ones uniform zeros; do
        run_apart irrun sum.xml "--random=$word" -o none:
        [ "$status" -eq 0 ]
    done
}

@test "formats are those of irrun, then files of them" {
    diff <(tab '-i ' | grep ':$') <(listed sum.xml -i - | sed 's/$/:/')
    diff <(tab '-o ' | grep ':$') <(listed sum.xml -o - | sed 's/$/:/')
    offers '-i x' 'x.npy'
    offers '--input=np' 'npy: npz:'
    offers '-inp' '-inpy: -inpz:'
    offers '-i y' 'y.NPZ'
    offers '-i z' ''
    offers '-i fol' 'folder/ nospace'
    offers '-i folder/' 'folder/a.csv'
    offers '-i raw:z' 'z.dat'
    offers '-i raw:-' '-'
    offers '-i two' 'two\ words.npy'
    offers '-i two\ w' 'two\ words.npy'
    offers '-o none:' ''
    touch q.flac q.jsonl q.txt
    offers '-i q' 'q.flac q.txt'
    offers '-o q' 'q.jsonl q.txt'
    offers '-o jsonl:-' '-'
    offers '-o ark,t:-' '-'
    offers '-o wav:-' '' # cannot be written to a pipe
    offers '-o npz:-' ''
}

@test "names come from the model" {
    offers 'pair.xml -i f' 'first= folder/ fresh='
    offers 'pair.xml -i second=x' 'x.npy'
    offers 'pair.xml -o min' 'minus= nospace'
    offers 'pair.xml --expect=all' 'all/plus= nospace'
    offers 'pair.xml --axis=b' 'b= nospace'
    offers 'pair.xml --columns=sec' 'second= nospace'
    offers 'pair.xml --reset=if:sec' 'second'
    offers 'pair.xml -s -n 5 -i first=x.npy -i sec' 'second= nospace'
    offers 'sum.xml -i x:' '0= nospace'
    offers 'missing.xml -i sec' ''
}

@test "files: the model, then the weights" {
    offers '' 'folder/ pair.xml sum.xml'
    offers 's' 'sum.xml'
    offers '--stats p' 'pair.xml'
    offers '-n 3 p' 'pair.xml'
    offers 'sum.xml ' 'folder/ w.bin'
    offers 'sum.xml w.bin ' ''
    cp sum.xml ./-x.xml
    offers '-- -' '-x.xml'
}

@test "a line is completed in bash itself" {
    cat >rc <<'RC'
PS1='' PATH=$PWD/bin:$PATH
source ./irrun_completion
RC
    mkdir bin
    cat >bin/irrun <<FAKE
#!/bin/sh
[ "\$1" != --inspect ] || exec "$IRRUN" "\$@"
printf '<%s>' "\$@" >said
FAKE
    chmod +x bin/irrun
    # The shell reads its line with readline only from a terminal.
    printf 'irrun pair.xm\t--gem\tpla\t-i fir\tnpy:x\t\nexit\n' |
        INPUTRC=/dev/null TERM=dumb timeout 20 script -q -c 'bash --noprofile --rcfile rc -i' /dev/null >screen 2>&1
    cat screen
    [ "$(cat said)" = "<pair.xml><--gemm=plain><-i><first=npy:x.npy>" ]
}

@test "a row that cannot be read is an error" {
    echo 'OPTION(x, "Bad name", 0, FLAG, "", ONCE, INPUTS, "text")' >bad.def
    run_apart "$root/scripts/make-completion.sh" bad.def "$root/src/formats/formats.def" "$root/completions/irrun.bash"
    [ "$status" -eq 1 ]
    [[ $stderr == *bad.def* ]]
}
