#!/bin/sh
# Writes the completion of a shell to standard output: the template, filled with the rows of the list of options and
# with the SIMD levels. The C preprocessor reads the list, as it does for irrun itself.
#
#   scripts/make-completion.sh src/cli/options.def completions/irrun.bash LEVEL...   (or irrun.zsh, irrun.fish)
#
# Environment: CC.
# SPDX-License-Identifier: Apache-2.0
set -eu

list=$1 template=$2
shift 2
levels=$*

# name letter argument value, for each option
rows=$(
    {
        echo '#define OPTION(id, name, letter, argument, value, ...) @ name letter argument value'
        cat "$list"
    } | ${CC:-cc} -E -P -x c - | tr -s '\n@' ' \n' |
        sed -n "s/^ \"\([a-z-]*\)\" '*\([a-zA-Z0]\)'* \([A-Z]*\) \"\([^\"]*\)\" *\$/    '\1 \2 \3 \4'/p" |
        sed -e "s/^\(    '[a-z-]*\) 0 /\1 - /"
)
if [ "$(echo "$rows" | grep -c .)" -ne "$(grep -c '^OPTION(' "$list")" ]; then
    echo "make-completion: $list has a row that cannot be parsed" >&2
    exit 1
fi
while IFS= read -r line; do
    case $line in
    '# @OPTIONS@') echo "$rows" | sed 's/^ */set -a rows /' ;; # fish has no lists of several lines
    *'# @OPTIONS@') echo "$rows" ;;
    *' auto @LEVELS@ '*) printf '%s\n' "${line%@LEVELS@*}$levels${line#*@LEVELS@}" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$template"
