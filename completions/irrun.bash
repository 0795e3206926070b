# shellcheck shell=bash
# Completes irrun's command line in bash: options, their values, names of inputs and outputs, files.
# scripts/make-completion.sh replaces @OPTIONS@ by the rows of options.def, @SRC@ and @DST@ by formats.
# Words may have backslashes, but not quotes.
# SPDX-License-Identifier: Apache-2.0

# name, letter or -, FLAG VALUE or MAYBE, metavar
_irrun_options=(
    # @OPTIONS@
)

# Adds words to $_irrun_found: the first argument, followed by each other one that begins with $_irrun_value.
_irrun_add() {
    local before=$1 word
    shift
    for word; do
        [[ $word != "$_irrun_value"* ]] || _irrun_found+=("$before$word")
    done
}

# Adds directories, and files with one of the endings, or any file if there is none, after the first argument.
_irrun_add_files() {
    local before=$1 path ending
    shift
    while IFS= read -r path; do
        if [ -d "${path/#\~/$HOME}" ]; then
            _irrun_found+=("$before$path/")
            continue
        fi
        [ $# -gt 0 ] || _irrun_found+=("$before$path")
        for ending; do
            [[ ${path,,} != *"$ending" ]] || _irrun_found+=("$before$path")
        done
    done < <(compgen -f -- "$_irrun_value")
}

# Prints the names of the model's inputs or outputs, one per line.
_irrun_names() {
    [ -f "$_irrun_model" ] || return 0
    "$_irrun_program" --inspect -- "$_irrun_model" 2>/dev/null | awk -F '  +' -v wanted="$1:" '
        /^[a-z]+:/ { inside = $1 ~ "^" wanted; next }
        inside {
            print $2
            for (i = 4; i <= NF; i++) {
                sub(/^also: /, "", $i)
                n = split($i, also, ", ")
                for (j = 1; j <= n; j++) print also[j]
            }
        }'
}

# Adds the names of inputs or outputs.
_irrun_add_names() { # inputs or outputs; what follows a name
    local names
    mapfile -t names < <(_irrun_names "$1")
    _irrun_add "$_irrun_before" "${names[@]/%/$2}"
}

# Moves NAME= from the start of $_irrun_value to $_irrun_before; returns 1 if there is none.
_irrun_pass_name() {
    [[ $_irrun_value == *=* ]] || return
    _irrun_before+=${_irrun_value%%=*}=
    _irrun_value=${_irrun_value#*=}
}

# Adds formats, and files. Arguments: the formats, those of them that can have the path -, the endings of files.
_irrun_add_paths() {
    local formats=$1 streams=$2 format=${_irrun_value%%:*}
    shift 2
    if [[ $_irrun_value == *:* && " $formats ark,t " == *" $format "* ]]; then
        _irrun_value=${_irrun_value#*:}
        [[ " $streams " != *" ${format%,t} "* ]] || _irrun_add "$_irrun_before$format:" -
        [ "$format" = none ] || _irrun_add_files "$_irrun_before$format:"
        return
    fi
    # shellcheck disable=SC2086 # words
    _irrun_add "$_irrun_before" ${formats// /: }:
    _irrun_add_files "$_irrun_before" "$@"
}

# Adds values of an option. Arguments: its name and its metavar.
_irrun_add_values() {
    local word words
    case $1 in
    input | random | axis | shape | columns) _irrun_pass_name || _irrun_add_names inputs = ;;
    output | expect | atol | rtol | concat | until) _irrun_pass_name || _irrun_add_names outputs = ;;
    esac
    case $1 in
    random) _irrun_add "$_irrun_before" uniform normal 'int(' zeros ones arange ;;
    reset)
        _irrun_add "$_irrun_before" never sequence iteration if:
        if [[ $_irrun_value == if:* ]]; then
            _irrun_before+=if: _irrun_value=${_irrun_value#if:}
            _irrun_add_names inputs ''
        fi
        ;;
    feed)
        if _irrun_pass_name; then
            _irrun_add_names inputs ''
        else
            _irrun_add_names outputs =
        fi
        ;;
    *)
        case $2 in
        *SRC) _irrun_add_paths @SRC@ ;;
        *DST) _irrun_add_paths @DST@ ;;
        *FILE*) _irrun_add_files "$_irrun_before" ;;
        esac
        # Words in lower case are literal.
        IFS='|' read -ra words <<<"$2"
        for word in "${words[@]}"; do
            [[ $word != [a-z]* ]] || _irrun_add "$_irrun_before" "$word"
        done
        ;;
    esac
}

# Finds the row of a long name or of a letter.
_irrun_find() { # 0: by name, 1: by letter; which
    local row fields
    for row in "${_irrun_options[@]}"; do
        read -ra fields <<<"$row"
        if [ "${fields[$1]}" = "$2" ]; then
            _irrun_row=("${fields[@]}")
            return
        fi
    done
    return 1
}

# Reads the words before the last one: finds the model, counts files, and sets _irrun_row if the last of them is an
# option that needs a value.
_irrun_read_words() {
    local word is_over=false
    _irrun_model='' _irrun_n_files=0 _irrun_row=()
    for word; do
        if [ "${_irrun_row[2]-}" = VALUE ]; then
            _irrun_row=()
        elif [ $is_over = false ] && [ "$word" = -- ]; then
            is_over=true
        elif [ $is_over = false ] && [[ $word == --* ]]; then
            [[ $word == *=* ]] || _irrun_find 0 "${word#--}" || :
        elif [ $is_over = false ] && [[ $word == -?* ]]; then
            # Of several letters in a word, only the last can take the next word as its value.
            _irrun_find 1 "${word: -1}" || :
            [ ${#word} -eq 2 ] || [ "${_irrun_row[2]-}" != VALUE ] || _irrun_row=()
        else
            [ $((_irrun_n_files++)) -gt 0 ] || _irrun_model=${word/#\~/$HOME}
        fi
        [ "${_irrun_row[2]-}" = VALUE ] || _irrun_row=()
    done
    _irrun_is_over=$is_over
}

_irrun_add_options() {
    local row name argument
    for row in "${_irrun_options[@]}"; do
        read -r name _ argument _ <<<"$row"
        [ "$argument" = VALUE ] || _irrun_add '' "--$name"
        [ "$argument" = FLAG ] || _irrun_add '' "--$name="
    done
}

_irrun_complete() { # the words so far; the last one is completed
    local last=${*: -1}
    _irrun_found=() _irrun_before='' _irrun_value=$last
    _irrun_read_words "${@:1:$#-1}"
    if [ ${#_irrun_row[@]} -gt 0 ]; then
        _irrun_add_values "${_irrun_row[0]}" "${_irrun_row[3]}"
    elif [ "$_irrun_is_over" = true ] || [[ $last != -* ]]; then
        case $_irrun_n_files in
        0) _irrun_add_files '' .xml ;;
        1) _irrun_add_files '' .bin ;;
        esac
    elif [[ $last == --*=* ]]; then
        _irrun_before=${last%%=*}= _irrun_value=${last#*=}
        if _irrun_find 0 "${_irrun_before:2:-1}" && [ "${_irrun_row[2]}" != FLAG ]; then
            _irrun_add_values "${_irrun_row[0]}" "${_irrun_row[3]}"
        fi
    elif [[ $last == -[!-]* ]] && _irrun_find 1 "${last:1:1}" && [ "${_irrun_row[2]}" = VALUE ]; then
        _irrun_before=${last:0:2} _irrun_value=${last:2}
        _irrun_add_values "${_irrun_row[0]}" "${_irrun_row[3]}"
    else
        _irrun_add_options
    fi
}

_irrun() {
    local _irrun_program=${1/#\~/$HOME} _irrun_model _irrun_n_files _irrun_row _irrun_is_over
    local _irrun_found _irrun_before _irrun_value words left=${COMP_LINE:0:COMP_POINT} last word
    # COMP_WORDS is also split at = and :. Without -r, read removes backslashes.
    # shellcheck disable=SC2162
    read -a words <<<"$left"
    [[ $left != *[[:blank:]] || $left == *\\[[:blank:]] ]] || words+=('')
    _irrun_complete "${words[@]:1}"
    # Bash replaces what follows the last = or :.
    last=${words[-1]}
    local kept=''
    [[ $last != *[=:]* ]] || kept=${last%"${last##*[=:]}"}
    COMPREPLY=()
    for word in "${_irrun_found[@]}"; do
        printf -v word %q "${word#"$kept"}"
        COMPREPLY+=("$word")
    done
    if [ ${#COMPREPLY[@]} -eq 1 ] && [[ ${COMPREPLY[0]} == *[=:/\(] ]]; then
        compopt -o nospace
    fi
}

complete -F _irrun irrun
