# Completes irrun's command line in fish: options, their words, files.
# scripts/make-completion.sh replaces @OPTIONS@ by the rows of options.def.
# SPDX-License-Identifier: Apache-2.0

# name, letter or -, FLAG VALUE or MAYBE, metavar
set -l rows
# @OPTIONS@
for row in $rows
    set -l fields (string split -n ' ' -- $row)
    set -l options -c irrun -l $fields[1]
    if test $fields[2] != -
        set -a options -s $fields[2]
    end
    if test $fields[3] = FLAG
        complete $options
    else if string match -qr '^[a-z0-9.]+\|' -- $fields[4]
        # Words in lower case are literal.
        set -l words (string match -r '^[a-z].*' -- (string split '|' -- $fields[4]))
        complete $options -x -a "$words"
    else if test $fields[3] = VALUE
        complete $options -r
    else
        complete $options
    end
end
