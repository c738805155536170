#!/bin/sh
# The commands of usher-lab: documents, exit statuses, errors. usage: lab_cli.sh BUILD
set -eu
lab=$1/usher-lab
# shellcheck source=tests/checks.sh disable=SC1091
. "$(dirname "$0")/checks.sh"

# one_line: the error is exactly one line that begins with the program's name.
one_line() {
    [ "$(wc -l <"$dir/err")" -eq 1 ] || { cat "$dir/err"; fail "not one line of error"; }
    grep -q '^usher-lab: ' "$dir/err" || fail "the error does not name the program"
}

# check: the document, and the exit status if promises hold and if one is violated
status 0 "$lab" check colored -n 3 -k 1 --json
json '.algorithm == "colored" and .n == 3 and .k == 1 and .states == 186 and .transitions == 558 and .values == 24'
json '[.properties[] | .verdict] | all(. == "holds")'
json '.properties | keys | contains(["exclusion","deadlock","fifo","C1","C2","C4'"'"'","C5'"'"'","C6","lockout","progress","starvation","overtakings"])'
status 0 "$lab" check colored -n 4 -k 2 --json
json '.states == 16311 and .values == 123'
status 1 "$lab" check colored-printed -n 2 -k 1 --json
json '.properties.exclusion == {"verdict":"violated","trace":[1,2]}'
status 0 "$lab" check semaphore -n 2 -k 1 --json # FIFO is violated, but the semaphore never promised it
json '.properties.fifo.trace == [1,2,1,1] and (.claims | index("fifo")) == null'
status 0 "$lab" check bank -n 3 -k 2 --json
json '.properties.deadlock.trace == [1,2] and .properties.deadlock.loop == [2]'
json '.properties.C2.verdict == "violated" and .properties.C2.robust == 1 and .properties.C2.stopped == [1]'
status 0 "$lab" check bank -n 3 -k 2 -r 1 --json
json '.properties.C2.verdict == "holds" and .r == 1'
status 0 "$lab" check queue -n 2 -k 2 --json
json '.properties.exclusion.vacuous == true'
status 0 "$lab" check numbered -n 3 -k 1 --json
json '.values == null'
status 0 "$lab" check colored -n 3 -k 1 --only exclusion --json
json '.properties.exclusion.verdict == "holds" and .properties.fifo.verdict == "not checked"'
status 1 "$lab" check colored-printed -n 2 -k 1 --only exclusion --json
json '.properties.exclusion.trace == [1,2]'

# the core with crashes and giving up; a mutant, with a trace that replays
status 0 "$lab" check pool -n 2 -k 1 --crashes 1 --gives-up 1 --json
json '.properties.invariant.verdict == "holds" and .properties.lockout.verdict == "holds" and .states > 1000'
status 1 "$lab" check mutant-pool-named -n 2 -k 1 --crashes 1 --trace "$dir/pool.trace" --json
json '.properties.invariant.verdict == "violated" and (.properties.invariant.trace | any(. == "1:crash" or . == "2:crash"))'
status 0 "$lab" replay "$dir/pool.trace"
status 64 "$lab" run pool -n 2 -k 1
status 64 "$lab" equal pool pool -n 2 -k 1
status 64 "$lab" check pool -n 20 -k 1
status 64 "$lab" check pool -n 2 -k 1 --line 3
status 64 "$lab" check pool -n 2 -k 1 --tag-bits 7
status 64 "$lab" check pool -n 2 -k 1 --pauses 1
status 0 "$lab" check pool -n 1 -k 1 --tag-bits 1 --pauses 1 --line 1 --cycles 2 --only exclusion
status 1 "$lab" check mutant-pool-scan-k -n 1 -k 1 --tag-bits 1 --pauses 1 --line 1 --cycles 2 --grows 2 --simple 3 --last 1 --trace "$dir/repeat.trace"
status 0 "$lab" replay "$dir/repeat.trace"

# a sweep: the states and verdicts of the whole graph; a mutant; what cannot be swept
decided='.states, .values, (.properties | [.exclusion, .invariant, .lockout, .progress, .starvation])'
for size in "-n 2 -k 1 --cycles 2 --crashes 1" "-n 3 -k 1 --gives-up 1" "-n 2 -k 2 --crashes 1 --shrinks 1"; do
    # shellcheck disable=SC2086
    status 0 "$lab" check pool $size --json
    jq -c "$decided | del(.. | .why?)" "$dir/out" >"$dir/whole"
    # shellcheck disable=SC2086
    status 0 "$lab" check pool $size --sweep --json
    jq -c "$decided | del(.. | .why?)" "$dir/out" >"$dir/swept"
    json '.complete and .properties.solo.verdict == "holds" and (.reduced | not) and .state == null'
    json '.properties.fifo == {"verdict":"not checked","why":"a sweep does not decide it"}'
    json '.sweep.groups > 10 and .sweep.explored <= .states'
    case $size in
    *shrinks*) ;; # exclusion and lockout are not promised: a sweep does not decide them
    *) cmp "$dir/whole" "$dir/swept" || fail "a sweep of $size differs from the whole graph" ;;
    esac
    [ "$(head -n 2 "$dir/whole")" = "$(head -n 2 "$dir/swept")" ] || fail "a sweep of $size has other states"
done
states=$(jq .states "$dir/out")
status 0 "$lab" check pool -n 2 -k 2 --crashes 1 --shrinks 1 --sweep --reduced --threads 1 --json
json ".reduced and .states < $states and .properties.invariant.verdict == \"holds\""
status 0 "$lab" check pool -n 3 -k 1 --crashes 1 --sweep --threads 1 --memory 9M --json # the rest goes to a file
json '.complete and .sweep.spilled > 0 and .sweep.explored < .states'
status 1 "$lab" check mutant-pool-named -n 2 -k 1 --crashes 1 --sweep --json
json '.properties.invariant | .verdict == "violated" and (.why | length > 0) and (has("trace") | not)'
json '(.complete | not) and (.state | length > 5) and .properties.lockout.verdict == "not checked"'
status 1 "$lab" check mutant-pool-finish-i -n 2 -k 1 --crashes 1 --sweep
grep -q '^  lockout       yes       VIOLATED' "$dir/out" || fail "the sweep does not show lockout"
grep -q 'P[12] in T' "$dir/out" || fail "the sweep does not show the state"
status 1 "$lab" check mutant-pool-author-tag -n 2 -k 1 --cycles 2 --crashes 1 --sweep --json
status 71 "$lab" check pool -n 3 -k 1 --sweep --memory 1K
grep -q 'raise --memory' "$dir/err" || fail "no advice about the memory limit of a sweep"
status 73 env TMPDIR="$dir/nowhere" "$lab" check pool -n 2 -k 1 --sweep
one_line
for bad in "colored -n 2 -k 1" "gate -n 2 -k 1" "pool -n 6 -k 1" "pool -n 2 -k 1 --tag-bits 2" \
    "pool -n 2 -k 1 --buffer 1" "pool -n 2 -k 1 --only exclusion" "pool -n 2 -k 1 --trace $dir/no.trace" \
    "pool -n 2 -k 1 --property lockout"; do
    # shellcheck disable=SC2086
    status 64 "$lab" check $bad --sweep
    one_line
done
status 64 "$lab" check colored -n 2 -k 1 --sweep
grep -q 'for pool and its mutants' "$dir/err" || fail "the error does not say what can be swept"
status 64 "$lab" space colored -n 2 -k 1 --sweep

status 0 "$lab" check colored -n 2 -k 1 --json
json '.properties | has("invariant") | not' # the papers' machines state none
json '.properties | has("first-in") | not'  # and this one has no doorway
json '.properties.prompt == {"verdict":"holds","vacuous":true,"most":0,"entries":1}'
status 0 "$lab" check dqb -n 3 -k 1 --json
json '[.properties["overtakings","prompt"] | .most, .entries] == [1,3,0,2]'
status 0 "$lab" check gtex -n 4 -k 1 --property prompt --trace "$dir/gtex.trace" --json
json '.properties.prompt | .most == "unbounded" and .entries == "unbounded" and .trace == [4,3,3]'
status 0 "$lab" replay "$dir/gtex.trace"
status 0 "$lab" check naive -n 3 -k 1 --reduced --json
json '.reduced and .states == 1737 and .values == 129 and .properties.C2.verdict == "not checked"'
json '.properties | .lockout.verdict == "holds" and .prompt.entries == 2'
status 1 "$lab" check gtex-printed -n 3 -k 1 --reduced --trace "$dir/reduced.trace"
status 0 "$lab" replay "$dir/reduced.trace"
status 64 "$lab" check colored -n 3 -k 1 --reduced
one_line
status 0 "$lab" check fife -n 2 -k 2 --json
json '.reduced | not'
json '[.properties["first-in","first-enabled"].verdict] == ["holds","holds"]'
json '.claims | contains(["first-in","first-enabled"])'
status 1 "$lab" check fife-printed -n 2 -k 1 --property first-in --trace "$dir/fife.trace" --json
json '.properties["first-in"].trace == [1,1,1,2,2,2,1,1,1,1,1,1,1]'
status 0 "$lab" replay "$dir/fife.trace"

# a supervisor: S in schedules, traces and pictures, and not among the processes
status 0 "$lab" check bucket -n 2 -k 1 --json
json '.n == 2 and .states == 5116 and .values == 373 and (.claims | contains(["C1","C2","C4'"'"'"]))'
json '.properties.fifo.trace == [1,2,"S","S","S","S","S",2]'
status 1 "$lab" check bucket-printed -n 2 -k 1 -r 2 --property C2 --trace "$dir/bucket.trace" --json
json '.properties.C2 | .trace == [1,"S","S","S","S"] and .stopped == [1] and .loop == ["S"] and .robust == 1'
status 0 "$lab" replay "$dir/bucket.trace"
grep -q '^S	' "$dir/bucket.trace" || fail "the supervisor is not S"
status 0 "$lab" draw "$dir/bucket.trace" -o "$dir/bucket.svg"
grep -q '>S</text>' "$dir/bucket.svg" || fail "the supervisor has no lane"
sed 's/^algorithm .*/algorithm bank/' "$dir/bucket.trace" >"$dir/bank-with-supervisor.trace"
status 1 "$lab" replay "$dir/bank-with-supervisor.trace" # there is no supervisor
one_line
status 64 "$lab" check bucket -n 16 -k 1 # one too many with its supervisor
status 64 "$lab" check bucket -n 4 -k 14
status 0 "$lab" space bucket -n 3 -k 1 --json
json '.values == 650 and .values <= .bound'

# bounded registers: the paper leaves first-enabled open for them
status 0 "$lab" check fife-bounded -n 2 -k 1 --json
json '.states == 78588 and .properties["first-enabled"].verdict == "holds"'
json '.claims | contains(["first-in"]) and (contains(["first-enabled"]) | not)'
status 64 "$lab" check fife-bounded -n 6 -k 1
grep -q 'would have 88 bits' "$dir/err" || fail "it does not say why it takes no more than 5"
status 0 "$lab" space fife-bounded -n 2 -k 1 --json
json '.word_bits == [1,1,9,9,1,1]'
status 0 "$lab" space -n 5 -k 2 --json
json '.algorithms[] | select(.algorithm == "fife-bounded") | .word_bits[5:10] == [61,61,61,61,61]'

# the gate: explored, with sleeping guests, and equivalent to the Colored Ticket Algorithm
status 0 "$lab" check gate -n 4 -k 1 --json
json '.states == 1032 and .values == 40 and ([.properties[] | .verdict] | all(. == "holds"))'
status 0 "$lab" check gate-sleep -n 3 -k 2 --json
json '.properties.lockout.verdict == "holds" and .properties.fifo.verdict == "holds"'
status 1 "$lab" check mutant-gate-wake-last -n 2 -k 1 --property starvation --trace "$dir/gate.trace" --json
json '.properties.starvation.trace == [1,2,2,2,1] and .properties.starvation.loop == [2]'
status 0 "$lab" replay "$dir/gate.trace"
status 0 "$lab" equal gate colored -n 4 -k 1 --json
json '.equivalent == true and .states == 1032'
status 64 "$lab" check gate -n 4 -k 14
status 64 "$lab" check gate-sleep -n 11 -k 1

# a memory limit ends with a message, not with a crash
status 71 "$lab" check colored -n 5 -k 3 --memory 3M
grep -q 'raise --memory' "$dir/err" || fail "no advice about the memory limit"
status 71 "$lab" check colored -n 5 -k 3 --memory 1K

# traces: written, replayed, drawn; damaged ones are refused
status 0 "$lab" check bank -n 3 -k 2 --trace "$dir/bank.trace"
status 0 "$lab" replay "$dir/bank.trace"
status 0 "$lab" replay "$dir/bank.trace" --json
json '.same == true and .property == "deadlock" and .steps == 3'
status 0 "$lab" draw "$dir/bank.trace" -o "$dir/bank.svg"
grep -q '<svg' "$dir/bank.svg" || fail "not a picture"
grep -q 'for ever' "$dir/bank.svg" || fail "the picture does not say that it goes on for ever"
status 1 "$lab" check colored-printed -n 2 -k 1 --trace "$dir/printed.trace"
sed 's/colored-printed/colored/' "$dir/printed.trace" >"$dir/other.trace"
status 1 "$lab" replay "$dir/other.trace" # the corrected algorithm does not behave so
one_line
sed 's/CC$/CT/' "$dir/printed.trace" >"$dir/regions.trace"
status 1 "$lab" replay "$dir/regions.trace"
head -n 3 "$dir/printed.trace" >"$dir/short.trace"
for bad in short empty random; do
    [ "$bad" = empty ] && : >"$dir/empty.trace"
    [ "$bad" = random ] && head -c 300 /dev/urandom >"$dir/random.trace"
    status 65 "$lab" replay "$dir/$bad.trace"
    one_line
done
sed 's/^n 2/n 99/' "$dir/printed.trace" >"$dir/large.trace"
status 65 "$lab" replay "$dir/large.trace"
sed 's/^2	/7	/' "$dir/printed.trace" >"$dir/process.trace"
status 65 "$lab" replay "$dir/process.trace"
sed 's/^property.*/property bogus/' "$dir/printed.trace" >"$dir/property.trace"
status 65 "$lab" replay "$dir/property.trace"
sed '/^end/i n 2' "$dir/printed.trace" >"$dir/late.trace" # a size after the steps
status 65 "$lab" replay "$dir/late.trace"
status 66 "$lab" replay "$dir/nowhere.trace"
status 73 "$lab" draw "$dir/bank.trace" -o "$dir/no/such/directory.svg"
status 73 "$lab" check bank -n 3 -k 2 --trace "$dir/no/such/file"

# equal, space, list, table
status 0 "$lab" equal queue colored -n 3 -k 1 --json
json '.equivalent == true and .trace == null and .states == 186'
status 1 "$lab" equal queue semaphore -n 2 -k 1 --json
json '.equivalent == false and .trace == [1,2,1,1]'
status 0 "$lab" space colored -n 4 -k 1 --json
json '.values > 0 and .bound == 128 and .lower_bound == 3 and .schedules_distinct == true and .values <= .bound'
status 0 "$lab" space semaphore -n 4 -k 1 --json
json '.values == 2 and .bound == 2 and .lower_bound == null and .schedules_distinct == null'
json '.bits == 1 and .words == 1 and .formula_bits == 1 and .note == null and .unbounded == false'
status 0 "$lab" space excl -n 3 -k 1 --json
json '.bits == 10 and .word_bits == [2,2,2,2,2] and .formula_bits == 10 and (.formula | test("2002, section 7"))'
status 0 "$lab" space gtex -n 4 -k 1 --json
json '.word_bits == [2,2,2,2,1,1,2] and .bits == 12 and .formula_bits < 12 and (.note | test("rounds no register up"))'
status 0 "$lab" space fife -n 2 -k 1 --json
json '.unbounded == true and .formula_bits == null and .bits == 130 and .values == null'
status 0 "$lab" space -n 64 -k 4 --json # all, computed
json '.n == 64 and .k == 4 and (.algorithms | map(.algorithm) | contains(["semaphore","colored","excl","gtex","dqb"]))'
json '.algorithms[] | select(.algorithm == "excl") | .bits == 60 * 6 + 64 * 6 and .formula_bits == .bits and (.word_bits | add) == .bits'
json '.algorithms[] | select(.algorithm == "dqb") | has("bits") == false and (.why_not | length > 0)'
status 0 "$lab" space -n 8 -k 2
grep -q '^naive  *14  *42  *42.00  ' "$dir/out" || fail "the table of bits has another naive"
# the lower bounds of 1979: decided, promised, at sizes beyond exploration; and too few values
status 0 "$lab" space bank -n 4 -k 2 --json
json '.lower_1979 | map(.theorem) == ["5.1","5.2","5.3"] and map(.applies) == [true,false,false] and all(.decided)'
json '.lower_1979[0] | .bound == 4 and .states == 4 and .distinct == 4 and .executable and .why_not == null'
json '.lower_1979[2] | .bound == null and (.why_not | test("C2"))'
status 0 "$lab" space queue -n 5 -k 2 --json
json '.lower_1979[1] | .bound == 2 and .states == 4 and .distinct == 4 and .decided'
status 0 "$lab" space bucket-eliminated -n 64 -k 2 --schedules --json
json '.explored == false and .values == null and (.lower_1979[2] | .applies and .bound == 124 and .distinct == 124 and (.decided | not))'
status 0 "$lab" space bucket-eliminated -n 64 -k 2 -r 1 --schedules --json
json '.lower_1979 | all(.applies | not)'
status 0 "$lab" space bucket -n 8 -k 2 --schedules
[ "$(grep -c 'does not apply: it does not cover systems with a supervisor' "$dir/out")" = 3 ] || fail "a theorem covers supervisors"
status 1 "$lab" space mutant-peek-dequeue -n 12 -k 1 --schedules --json
json '.lower_1979[0] | .distinct == 10 and .states == 11 and .violates == "waiting" and .trace[:6] == [1,1,2,1,12,12]'
json '.lower_1979[0].same == [{"held":0,"i":1,"j":0},{"held":0,"i":1,"j":1}] and .lower_1979[1].executable == false'
status 1 "$lab" space mutant-peek-dequeue -n 12 -k 1 --schedules
grep -q 'q(1,0) and q(1,1) have one value: 2 stays in T while 12 enters' "$dir/out" || fail "no word about the two states"
status 1 "$lab" space mutant-m-too-small -n 3 -k 1 --json # by 1989 alone: its promises of 1979 are void
json '.lower_1979 | all(.decided) and (map(.applies) | any | not)'
status 64 "$lab" space colored queue -n 2 -k 1
status 64 "$lab" space -n 8
status 64 "$lab" equal numbered colored -n 17 -k 1
one_line
status 0 "$lab" list --json
json 'map(.name) | contains(["semaphore","bank","queue","numbered","colored-unbounded","colored","colored-printed","colored-1979","fife","fife-bounded","fife-atomic","pool","gate","gate-sleep"])'
status 0 "$lab" table --json
json 'length >= 8'
json 'map(select(.algorithm == "colored"))[0].found | to_entries | all(.value.verdict == "holds")'
json 'map(select(.algorithm == "colored-printed"))[0].found.exclusion | .verdict == "violated" and .trace == [1,2]'
json '.[] | select(.algorithm == "naive").found.lockout | .trace == [1,1,2] and .stopped == [2] and .n == 3 and .k == 2'
json '.[] | select(.algorithm == "gtex-printed").found.exclusion | .promise_broken and (.trace | length == 12)'
json '.[] | select(.algorithm == "fife-printed").found.exclusion | .promise_broken and .trace == [2,2,2,1,1,1,1,1]'
json '.[] | select(.algorithm == "sq2-printed").found.starvation | .promise_broken and (.trace | all(. == 1)) and (.loop | length > 0)'

# run: the same steps on threads and processes
for machine in semaphore bank queue numbered colored-unbounded colored colored-tight colored-1979 gate gate-sleep; do
    status 0 "$lab" run $machine -n 6 -k 2 --seconds 0.2 --json
    json '.most_inside >= 1 and .most_inside <= 2 and .cycles > 0 and .processes == false'
    status 0 "$lab" run $machine -n 6 -k 2 --seconds 0.2 --processes --json
    json '.most_inside >= 1 and .most_inside <= 2 and .cycles > 0 and .processes == true'
    case $machine in semaphore | bank | gate-sleep) ;; *) json '.overtakings == 0' ;; esac
done
for machine in fife fife-bounded fife-atomic; do # overtakings in the doorway are allowed
    for how in "" --processes; do
        # shellcheck disable=SC2086
        status 0 "$lab" run $machine -n 5 -k 2 --seconds 0.3 --json $how
        json '.most_inside >= 1 and .most_inside <= 2 and .cycles > 0 and .stuck == 0'
    done
done
for how in "" --processes; do # with a supervisor, one process more
    # shellcheck disable=SC2086
    status 0 "$lab" run bucket -n 6 -k 2 --seconds 0.2 --json $how
    json '.n == 6 and .most_inside >= 1 and .most_inside <= 2 and .cycles > 0 and .stuck == 0'
done
for how in "" --processes; do # all of its words are one variable
    # shellcheck disable=SC2086
    status 0 "$lab" run bucket-eliminated -n 8 -k 2 --seconds 0.3 --json $how
    json '.most_inside >= 1 and .most_inside <= 2 and .cycles > 0 and .stuck == 0'
done
status 1 "$lab" run mutant-valid-too-far -n 8 -k 1 --seconds 1

# bad input: status 64
for bad in "check nosuch -n 2 -k 1" "check colored -n 0 -k 1" "check colored -n 2 -k 0" \
    "check colored -n 2" "check colored -k 2" "check -n 2 -k 1" "check colored -n x -k 1" \
    "check colored -n -3 -k 1" "check colored-1979 -n 2 -k 2" "check colored -n 60 -k 30" \
    "check colored -n 20 -k 2" "check queue -n 16 -k 1" "check colored -n 99999999999999999999 -k 1" \
    "check colored -n 3 -k 1 --memory lots" "check colored -n 3 -k 1 --nosuch" "check colored extra -n 2 -k 1" \
    "check colored -n 3 -k 1 --property nosuch" "check colored -n 3 -k 1 --only fifo" "check colored -n" \
    "equal queue -n 2 -k 1" "run colored -n 100 -k 1" "run colored -n 2 -k 1 --seconds 0" \
    "run colored -n 2 -k 1 --seconds -1" "draw x.trace" "replay" "nosuch" "help nosuch"; do
    # shellcheck disable=SC2086
    status 64 "$lab" $bad
done
status 64 "$lab"
for command in list check table space equal run compare replay draw; do
    status 0 "$lab" help $command
    grep -q "^usage: usher-lab $command" "$dir/out" || fail "help $command does not begin with its usage"
    [ "$(wc -L <"$dir/out")" -le 80 ] || fail "help $command has lines of more than 80 columns"
done
status 0 "$lab" --version
echo "$checks checks passed"
