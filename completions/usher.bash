# bash completion for usher(1): verbs, their options, pools; after the pool of run, commands.
# It needs only bash; if the package bash-completion is loaded, commands use their own completions.

# The directories of pools that are named without a slash, one on each line.
_usher_directories() {
    if [[ -n ${USHER_DIR-} ]]; then
        printf '%s\n' "$USHER_DIR"
    else
        printf '%s\n' "/run/usher/$EUID" "/dev/shm/usher-$EUID" /run/usher/shared
    fi
}

# The pools that begin with $1; files, if $1 is a path. ZooKeeper servers are not asked.
_usher_pools() {
    local directory file name
    if [[ $1 == zk:* ]]; then
        return
    elif [[ $1 == */* ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$1")
        return
    fi
    while IFS= read -r directory; do
        for file in "$directory"/*; do
            name=${file##*/}
            if [[ -f $file && -w $file && $name == "$1"* ]]; then
                COMPREPLY+=("$(printf '%q' "$name")")
            fi
        done
    done < <(_usher_directories)
}

_usher_options() {
    case $1 in
    run) echo "-k --seats -n --nonblock -w --wait -E --conflict-exit-code -c --command --labels --env
               --warn-only -v --verbose -q --quiet --guests --mode --" ;;
    acquire) echo "-k --seats -n --nonblock -w --wait -E --conflict-exit-code -v --verbose -q --quiet
                   --for --export --signal --guests --mode" ;;
    release) echo "--for" ;;
    status) echo "--json" ;;
    create) echo "-k --seats --labels --guests --mode --group --define --all" ;;
    remove) echo "--force" ;;
    esac
}

# Complete the value of option $1 that begins with $2.
_usher_value() {
    case $1 in
    --for) mapfile -t COMPREPLY < <(cd /proc && compgen -G "$2*" | grep -x '[0-9]*') ;;
    --env) mapfile -t COMPREPLY < <(compgen -v -W CUDA_VISIBLE_DEVICES -- "$2" | sort -u) ;;
    --signal) mapfile -t COMPREPLY < <(compgen -A signal -- "SIG${2#SIG}") ;;
    --group) mapfile -t COMPREPLY < <(compgen -g -- "$2") ;;
    --mode) mapfile -t COMPREPLY < <(compgen -W '600 660 666' -- "$2") ;;
    esac
}

# Complete the command line from word $1 on as a command of its own.
_usher_command() {
    if ((COMP_CWORD == $1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}" | sort -u)
        if [[ ${COMP_WORDS[COMP_CWORD]} == */* ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        fi
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}

_usher() {
    local current=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]-} operands=0 at
    local option over='' line='' # over: no more options; line: -c was given
    local verbs="run acquire release status top create resize remove doctor help"
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$current")
        return
    fi
    for ((at = 2; at < COMP_CWORD; at++)); do
        case $over${COMP_WORDS[at]} in
        --)
            over=yes:
            ;;
        -k | -w | -E | -c | --seats | --wait | --conflict-exit-code | --command | --labels | --env | \
            --for | --signal | --guests | --mode | --group)
            option=${COMP_WORDS[at]}
            [[ $option == -c || $option == --command ]] && line=yes
            [[ ${COMP_WORDS[at + 1]-} == = ]] && ((at++)) # bash cuts --mode=660 in three
            ((at++))
            if ((at >= COMP_CWORD)); then
                [[ $current == = ]] && current=
                _usher_value "$option" "$current"
                return
            fi
            ;;
        -*) ;;
        *)
            ((operands++))
            if [[ $verb == run && $operands -eq 2 ]]; then
                _usher_command "$at"
                return
            fi
            ;;
        esac
    done
    if [[ $verb == help ]]; then
        ((operands == 0)) && mapfile -t COMPREPLY < <(compgen -W "${verbs% help} exit" -- "$current")
    elif [[ $current == -* && -z $over ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_usher_options "$verb")" -- "$current")
    elif ((operands == 0)) || [[ $verb == status || $verb == top ]]; then
        _usher_pools "$current"
    elif [[ $verb == run && -z $line ]]; then
        _usher_command "$COMP_CWORD"
    fi
}

complete -F _usher usher
