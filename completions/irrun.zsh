#compdef irrun
# Completes irrun's command line in zsh: options, their words, files.
# scripts/make-completion.sh replaces @OPTIONS@ by the rows of options.def.
# SPDX-License-Identifier: Apache-2.0

_irrun() {
    local row name letter argument value action
    local -a specs fields
    # name, letter or -, FLAG VALUE or MAYBE, metavar
    local -a rows=(
        # @OPTIONS@
    )
    for row in $rows; do
        fields=(${=row})
        name=$fields[1] letter=$fields[2] argument=$fields[3] value=${fields[4]-}
        action=_files
        # Words in lower case are literal.
        [[ $value != [a-z0-9.\|:_-]##\|* && $value != (text|json) ]] || action="(${value//\|/ })"
        value=${${value//:/ }:-value}
        case $argument in
        FLAG) specs+=("*--$name") ;;
        VALUE) specs+=("*--$name=:$value:$action") ;;
        MAYBE) specs+=("*--$name=-::$value:$action" ) ;;
        esac
        [[ $letter == - ]] || case $argument in
        VALUE) specs+=("*-$letter+:$value:$action") ;;
        *) specs+=("*-$letter") ;;
        esac
    done
    _arguments -s -S $specs '1:model:_files -g "*.xml(-.)"' '2:weights:_files -g "*.bin(-.)"'
}

setopt localoptions extendedglob 2>/dev/null
_irrun "$@"
