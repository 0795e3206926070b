#!/bin/sh
# Writes the completion of a shell to standard output: the template, filled with the rows of the list of options, with
# the formats and with the SIMD levels. The C preprocessor reads the lists, as it does for irrun itself.
#
#   scripts/make-completion.sh src/cli/options.def src/formats/formats.def completions/irrun.bash LEVEL...   (or irrun.zsh, irrun.fish)
#
# Environment: CC.
# SPDX-License-Identifier: Apache-2.0
set -eu

list=$1 formats=$2 template=$3
shift 3
words="auto|$(echo "$*" | tr ' ' '|')" # of --simd

# name letter argument value, for each option
rows=$(
    {
        echo '#define OPTION(id, name, letter, argument, value, ...) @ name letter argument value'
        cat "$list"
    } | ${CC:-cc} -E -P -x c - | tr -s '\n@' ' \n' |
        sed -n "s/^ \"\([a-z-]*\)\" '*\([a-zA-Z0]\)'* \([A-Z]*\) \"\([^\"]*\)\" *\$/    '\1 \2 \3 \4'/p" |
        sed -e "s/^\(    '[a-z-]*\) 0 /\1 - /" -e "s/^\(    'simd .*\) LEVEL'/\1 $words'/"
)
if [ "$(echo "$rows" | grep -c .)" -ne "$(grep -c '^OPTION(' "$list")" ]; then
    echo "make-completion: $list has a row that cannot be parsed" >&2
    exit 1
fi

# paths PROPERTY ENDINGS: the formats that have it, those of them that can have the path -, the endings of their files
paths() {
    {
        echo '#define FORMAT(name, read, write, ...) @name read write __VA_ARGS__'
        cat "$formats"
    } | ${CC:-cc} -E -P -x c - | awk -v RS=@ -v property="$1" -v which="$2" '
        index($0, "." property " ") && !/is_generated/ {
            split($0, quoted, "\"")
            names = names " " $1
            endings = endings (quoted[which] == "" ? "" : " ") quoted[which]
            if ((property == "can_read" || /can_pipe/) && $1 != "none")
                streams = streams " " $1
        }
        END { printf "\047%s\047 \047%s\047%s", substr(names, 2), substr(streams, 2), endings }'
}
sources=$(paths can_read 2) destinations=$(paths can_write 4)

while IFS= read -r line; do
    case $line in
    '# @OPTIONS@') echo "$rows" | sed 's/^ */set -a rows /' ;; # fish has no lists of several lines
    *'# @OPTIONS@') echo "$rows" ;;
    *@SRC@*) printf '%s\n' "${line%@SRC@*}$sources${line#*@SRC@}" ;;
    *@DST@*) printf '%s\n' "${line%@DST@*}$destinations${line#*@DST@}" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$template"
