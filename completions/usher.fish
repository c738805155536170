# fish completion for usher(1): verbs, their options, pools; after the pool of run, commands.

# The directories of pools that are named without a slash, one on each line.
function __usher_directories
    if test -n "$USHER_DIR"
        echo $USHER_DIR
    else
        printf '%s\n' /run/usher/(id -u) /dev/shm/usher-(id -u) /run/usher/shared
    end
end

function __usher_pools
    if string match -q 'zk:*' -- (commandline -ct)
        return
    else if string match -q '*/*' -- (commandline -ct)
        __fish_complete_path (commandline -ct)
        return
    end
    for directory in (__usher_directories)
        for file in $directory/*
            test -f $file; and test -w $file; and basename -- $file
        end
    end
end

# The words before the one at the cursor, without usher, the options and their values: the verb, the
# pool, and from there on the command.
function __usher_operands
    set -l words (commandline -opc)
    set -l operands
    set -l over no
    set -e words[1]
    while set -q words[1]
        set -l word $words[1]
        set -e words[1]
        if test "$operands[1]" = run; and test (count $operands) -ge 3
            set -a operands $word
        else if test $over = no; and test "$word" = --
            set over yes
        else if test $over = yes
            set -a operands $word
        else if contains -- $word -k -w -E -c --seats --wait --conflict-exit-code --command --labels --env --for --signal --guests --mode --group
            contains -- $word -c --command; and set -a operands run-a-line
            set -e words[1]
        else if not string match -q -- '-*' $word
            set -a operands $word
        end
    end
    string escape -- $operands
end

function __usher_no_verb
    test -z "$(__usher_operands)"
end

# One of these verbs, followed by `many` operands (any number, if empty).
function __usher_verb --argument-names verbs many
    set -l operands (__usher_operands)
    contains -- "$operands[1]" (string split , -- $verbs)
    and begin
        test -z "$many"; or test (count $operands) -eq (math 1 + $many)
    end
end

# Complete the words of the command of run, up to the cursor.
function __usher_command
    set -l operands (__usher_operands)
    complete --do-complete=(string join ' ' -- $operands[3..-1] (commandline -ct))
end

function __usher_has_pool
    set -l operands (__usher_operands)
    test "$operands[1]" = run; and test (count $operands) -ge 2; and not contains run-a-line $operands
    and begin
        test (count $operands) -ge 3; or not string match -q -- '-*' (commandline -ct)
    end
end

# Options belong to usher as long as there is no command.
function __usher_option --argument-names verbs
    __usher_verb $verbs
    and not begin
        __usher_verb run; and test (count (__usher_operands)) -ge 3
    end
end

complete -c usher -f
complete -c usher -n __usher_no_verb -l help -d 'List the verbs'
complete -c usher -n __usher_no_verb -l version -d 'Print the version'
complete -c usher -n __usher_no_verb -a run -d 'Wait for a seat, run a command, release the seat'
complete -c usher -n __usher_no_verb -a acquire -d 'Get a seat for the calling shell and print its number'
complete -c usher -n __usher_no_verb -a release -d 'Release the seats that the calling shell acquired'
complete -c usher -n __usher_no_verb -a status -d 'Show the holders and waiters of pools'
complete -c usher -n __usher_no_verb -a top -d 'Show pools live'
complete -c usher -n __usher_no_verb -a create -d 'Create a pool before its first use'
complete -c usher -n __usher_no_verb -a resize -d 'Change the number of seats; 0 drains the pool'
complete -c usher -n __usher_no_verb -a remove -d 'Remove a pool'
complete -c usher -n __usher_no_verb -a doctor -d 'Check a pool and clean up after dead processes'
complete -c usher -n __usher_no_verb -a help -d 'The help of a verb, or the exit codes'
complete -c usher -n '__usher_verb help 0' -a 'run acquire release status top create resize remove doctor exit'

complete -c usher -n '__usher_verb run,acquire,release,create,resize,remove,doctor 0' -a '(__usher_pools)' -d Pool
complete -c usher -n '__usher_verb status,top' -a '(__usher_pools)' -d Pool
complete -c usher -n __usher_has_pool -a '(__usher_command)'

complete -c usher -n '__usher_option run,acquire,create' -s k -l seats -x -d 'The number of seats'
complete -c usher -n '__usher_option run,acquire' -s n -l nonblock -d 'Do not wait'
complete -c usher -n '__usher_option run,acquire' -s w -l wait -x -d 'Wait at most this long: 1.5, 30s, 5m, 1h'
complete -c usher -n '__usher_option run,acquire' -s E -l conflict-exit-code -x -d 'Exit code if no seat became free in time'
complete -c usher -n '__usher_option run' -s c -l command -x -d 'Run a line of shell'
complete -c usher -n '__usher_option run,create' -l labels -x -d 'Names for seats 0, 1, ..'
complete -c usher -n '__usher_option run' -l env -x -a '(set --names --export) CUDA_VISIBLE_DEVICES' -d 'Set this variable to the label or the number'
complete -c usher -n '__usher_option run' -l warn-only -d 'zk:// only: if the seat is lost, let the command run'
complete -c usher -n '__usher_option run,acquire' -s v -l verbose -d 'Print the seat, the time waited and the time held'
complete -c usher -n '__usher_option run,acquire' -s q -l quiet -d 'Print nothing while waiting'
complete -c usher -n '__usher_option run,acquire,create' -l guests -x -d 'New pool: maximum number of holders and waiters'
complete -c usher -n '__usher_option run,acquire,create' -l mode -x -a '600 660 666' -d 'New pool: permissions'
complete -c usher -n '__usher_verb create' -l group -x -a '(__fish_complete_groups)' -d 'For the members of this group'
complete -c usher -n '__usher_verb create' -l define -d 'Also write a definition of the pool'
complete -c usher -n '__usher_verb create' -l all -d 'Create all pools that have a definition and are missing'
complete -c usher -n '__usher_verb acquire,release' -l for -x -a '(__fish_complete_pids)' -d 'The process that holds it'
complete -c usher -n '__usher_verb acquire' -l export -d 'Print a line for eval: USHER_SEAT, USHER_FENCE and so on'
complete -c usher -n '__usher_verb acquire' -l signal -x -a '(kill -l | string split " ")' -d 'zk:// only: send this before the seat is lost'
complete -c usher -n '__usher_verb status' -l json -d 'Print one JSON document per pool'
complete -c usher -n '__usher_verb remove' -l force -d 'Remove it even if it is in use'
