#!/usr/bin/env bats
# The manual says what irrun does: options, formats, environment, exit status. The examples are run by
# scripts/check-man.sh, which must be able to fail. The completion is compared in test_completion.bats.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2030,SC2031,SC2154 # bats and common.bash set them
load common

setup() {
    common_setup
}

page() { # name.section, as it is read, in long lines
    mandoc -T ascii -O width=400 "$root/man/$1" | sed 's/.\x08//g'
}

# --name=VALUE of every row of options.def, as options.h says it is written.
forms_in_list() {
    tr -s '\n ' ' ' <"$root/src/cli/options.def" | sed 's/ OPTION(/\n&/g' |
        sed -n 's/^ OPTION([a-z_0-9]*, "\([^"]*\)", [^,]*, \([A-Z]*\), "\([^"]*\)".*/\2 --\1 \3/p' |
        sed 's/^FLAG \(.*\) $/\1/; s/^VALUE \([^ ]*\) /\1=/; s/^MAYBE \([^ ]*\) \(.*\)/\1[=\2]/' | sort
}

@test "options.def, --help=all and the manual agree on every option and how its value is written" {
    [ "$(forms_in_list | wc -l)" -eq "$(grep -c '^OPTION(' "$root/src/cli/options.def")" ]
    diff <(irrun --help=all | sed -n 's/^  \(-.,\|   \) \(--[^ ]*\).*/\2/p' | sort) <(forms_in_list)
    diff <(page irrun.1 | grep -oE '^     (-[a-zA-Z]( [^ ]+)?, )?--[^ ]+' | grep -oE -e '--.*' | sort) <(forms_in_list)
}

@test "no page, and no help, speaks of an option that does not exist" {
    sed -n 's/^OPTION([a-z_0-9]*, "\([^"]*\)".*/--\1/p' "$root/src/cli/options.def" | sort >known
    { page irrun.1; page irrun-formats.5; irrun -h; irrun --help=all; } | grep -o -e '--[a-z][a-z-]*' |
        sort -u >named
    [ "$(wc -l <named)" -gt 20 ]
    diff <(comm -23 named known) /dev/null
    sed -n "s/^OPTION([a-z_0-9]*, \"[^\"]*\", '\(.\)'.*/-\1/p" "$root/src/cli/options.def" | sort >known
    grep '^\.It Fl [a-zA-Z] ' "$root/man/irrun.1" | sed 's/^\.It Fl \(.\) .*/-\1/' | sort >named
    diff named known
}

@test "the manual names every word that an option takes" {
    local name word n_words=0
    page irrun.1 >manual
    while read -r name; do
        run_apart irrun "$data/sum.xml" --random "--$name=?"
        [[ $stderr == *", not '?'"* ]] || continue
        sed -n "/^     \(-., \)\{0,1\}--$name/,/^     -/p" manual >section
        for word in $(sed -n 's, or , ,; s/.* takes \(.*\), not .*/\1/p' <<<"$stderr" | tr -d ,); do
            echo "--$name=$word"
            grep -qwF -e "$word" section
            n_words=$((n_words + 1))
        done
    done < <(sed -n 's/^OPTION([a-z_0-9]*, "\([^"]*\)".*/\1/p' "$root/src/cli/options.def")
    [ "$n_words" -ge 10 ]
}

@test "no cell of a table is wider than its column" {
    awk -F ' Ta ' '/^\.Bl -column/ { split($0, widths, "\"") }
        /^\.It .* Ta / { gsub(/^\.It |Sy /, ""); gsub(/\\\(em/, "--")
            for (i = 1; i < NF; i++) if (length($i) > length(widths[2 * i])) print $i }' "$root"/man/*.[15] >wide
    cat wide
    [ ! -s wide ]
}

@test "irrun-formats has a section for each format, with the right endings" {
    { irrun "$data/sum.xml" --random -o - || irrun "$data/sum.xml" -i -; } 2>&1 |
        sed -n 's/.*with one of: //p' | tr ' ' '\n' | sort -u >formats
    [ "$(wc -l <formats)" -ge 8 ]
    sed -n '/^\.Sh FORMATS/,/^\.Sh [^F]/s/^\.Ss //p' "$root/man/irrun-formats.5" | sort | diff - formats
    sed -n '/^\.It Sy format/,/^\.El/s/^\.It \([a-z0-9]*\) Ta.*/\1/p' "$root/man/irrun-formats.5" | sort | diff - formats
    local format read written ending
    while read -r format read written; do
        for ending in ${read//—/}; do
            run_apart irrun "$data/sum.xml" -i "missing$ending" -o none:
            [ "$status" -eq 66 ]
        done
        for ending in ${written//—/}; do
            run_apart irrun "$data/sum.xml" --random=ones -o "a$ending" --axis=0 --rate=1 # wav needs it
            [ "$status" -eq 0 ]
            run_apart irrun "$data/sum.xml" --random=ones -o "$format:b" --axis=0 --rate=1
            cmp "a$ending" b
        done
    done < <(sed -n '/^\.It Sy format/,/^\.El/s/^\.It \([a-z0-9]*\) Ta \(.*\) Ta \(.*\) Ta .* Ta .* Ta.*/\1 \2\t\3/p' \
        "$root/man/irrun-formats.5" | sed 's/\\(em/—/g; s/ \.\([a-z]*\)\t/ .\1 /' | awk '{ print $1, $2, $NF }')
}

@test "the environment that irrun reads is the one the manual names" {
    grep -rhoE 'getenv\("[A-Z_]+"|"IRRUN_[A-Z_]+"' "$root/src" | sed 's/.*"\(.*\)".*/\1/' | sort -u >variables
    grep -q IRRUN_GEMM variables
    diff variables <(sed -n '/^\.Sh ENVIRONMENT/,/^\.Sh EXIT/s/^\.It Ev //p' "$root/man/irrun.1" | sort -u)
}

@test "the exit statuses of the manual are those of irrun.h" {
    sed -n 's/^    IRRUN_[A-Z_]* = \([0-9]*\).*/\1/p' "$root/include/irrun.h" | sort -n >codes
    [ "$(wc -l <codes)" -ge 10 ]
    # These two need their options.
    grep -q '^OPTION(checkpoint,' "$root/src/cli/options.def" || sed -i '/^75$/d' codes
    grep -q '^OPTION(timeout,' "$root/src/cli/options.def" || sed -i '/^124$/d' codes
    sed -n '/^\.Sh EXIT/,/^\.Sh EXAMPLES/s/^\.It \([0-9]*\)$/\1/p' "$root/man/irrun.1" | sort -n | diff - codes
}

# ---- scripts/check-man.sh -------------------------------------------------------------------------

# A page with one example; what it shows is on standard input.
write_page() {
    {
        printf '.Dd November 21, 2026\n.Dt IRRUN 1\n.Os\n.Sh NAME\n.Nm irrun\n.Nd runs models\n'
        printf '.Sh EXAMPLES\n.Bd -literal -offset indent\n'
        cat
        printf '.Ed\n'
    } >page.1
}

checked() { # failures, then words that are said
    run "$root/scripts/check-man.sh" "$PWD/page.1"
    echo "$output"
    [[ ${lines[-1]} == *" passed, $1 failed, 0 skipped" ]]
    [[ $output == *"$2"* ]]
    [ "$status" -eq $(($1 > 0)) ]
}

@test "check-man: an example that does what it says passes" {
    write_page <<<$'$ seq 2 | irrun sum.xml -i csv:- -o csv:-\n1\n3'
    checked 0 "2 passed"
    write_page <<<$'$ printf \'a\\en*\\en\'\na\n*\n$ printf \'%s\\en\' 1 \\e\n>     2 3\n1\n\\&...\n$ :'
    checked 0 "4 passed"
}

@test "check-man: another output, one that is not shown, one that does not come" {
    write_page <<<$'$ seq 2 | irrun sum.xml -i csv:- -o csv:-\n1\n4'
    checked 1 "page.1:9: exit status 0: seq 2"
    write_page <<<$'$ seq 2 | irrun sum.xml -i csv:- -o csv:-\n1'
    checked 1 "    > 3"
    write_page <<<$'$ seq 2 | irrun sum.xml -i csv:- -o csv:-'
    checked 1 "    > 1"
    write_page <<<$'$ irrun sum.xml --random -o none:\n1'
    checked 1 "    < 1"
    write_page <<<$'$ echo abc\na*'
    checked 1 "    > abc"
    write_page <<<$'$ :\n$ echo 1\n2\n$ echo 3\n4'
    checked 2 "page.1:12"
}

@test "check-man: an example that fails, also within a pipeline" {
    write_page <<<$'$ irrun missing.xml --random 2>/dev/null'
    checked 1 "exit status 66"
    write_page <<<$'$ irrun missing.xml --random 2>/dev/null | cat'
    checked 1 "exit status 66"
}

@test "check-man: a display that is not an example, and one without end" {
    write_page <<<$'irrun sum.xml\n$ irrun -V'
    checked 1 "page.1:9: this display does not begin"
    write_page </dev/null
    checked 2 "an empty display"
}

@test "check-man: a block of sh in Markdown is an example, others are not" {
    local fence='```'
    document() { # a command, what it prints
        printf '%s\n' '# Title' "${fence}sh" "$ $1" "$2" "$fence" "${fence}python" 'x = 1' "$fence" >page.md
        run "$root/scripts/check-man.sh" "$PWD/page.md"
        echo "$output"
    }
    document "seq 2 | irrun sum.xml -i csv:- -o csv:- | tail -n 1" 3
    [ "$status" -eq 0 ]
    [ "$output" = "1 passed, 0 failed, 0 skipped" ]
    document "echo 1" 2
    [ "$status" -eq 1 ]
    [[ $output == *"page.md:3: exit status 0: echo 1"* ]]
    document "irrun missing.xml --random 2>/dev/null" ""
    [[ $output == *"page.md:3: exit status 66"* ]]
}

@test "the cookbook has 25 commands and more, and each of its pages is linked" {
    local page
    [ "$(grep -c '^\$ ' "$root/docs/cookbook.md")" -ge 25 ]
    for page in cookbook from-benchmark_app from-python from-onnx performance scaling; do
        grep -qF "(docs/$page.md)" "$root/README.md"
    done
}

@test "check-man: what mandoc says is a failure" {
    write_page <<<$'$ :'
    echo '.Frobnicate' >>page.1
    checked 1 "mandoc reports errors"
}

@test "the pages are those of this version" {
    local page version
    version=$(irrun --version | head -n 1)
    for page in "$root"/man/*; do
        grep -qxF ".Os \"$version\"" "$page"
    done
}
