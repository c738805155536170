/*
 * The Colored Ticket Algorithm (1989, Figs 2, 4, 6, 7, misprints corrected) for Spin, to compare with
 * our checker. Each start .. finish is one d_step, and a process in its remainder has no ticket. So
 * the states are those of usher-lab's `colored`. (Spin counts one more: the state before init.)
 *
 *     spin -a -DN=5 -DK=3 colored.pml && cc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m100000
 */
#ifndef N
#define N 5
#endif
#ifndef K
#define K 3
#endif
#define M (1 + (N > 2 * K -> N - K : K))

#define LEADS(av, ac, bv, bc) ((ac == bc && av >= bv) || (ac != bc && av < bv))
#define IS_VALID(v, c)                                                                       \
    ((c == valid_c && v <= valid_v) ||                                                       \
     (c != valid_c && (c != issue_c || LEADS(valid_v, valid_c, issue_v, issue_c))))

byte issue_v, issue_c, valid_v = K, valid_c, inside, new;
byte quant[K + 1];

inline new_color()
{
    new = 0;
    do
    :: quant[new] > 0 -> new++
    :: else -> break
    od
}

#define REMAINDER 0
#define TRYING 1
#define CRITICAL 2

inline enter_if_valid()
{
    if
    :: IS_VALID(value, color) -> region = CRITICAL; inside++; assert(inside <= K)
    :: else -> region = TRYING
    fi
}

proctype process()
{
    byte region, value, color;
    do
    :: d_step { /* start; TICKET := TAKE_NEXT_TICKET; ... */
        region == REMAINDER ->
        if
        :: issue_v < M - 1 -> issue_v++
        :: else ->
            if
            :: LEADS(issue_v, issue_c, valid_v, valid_c) -> new_color(); issue_c = new; new = 0
            :: else -> issue_c = valid_c
            fi;
            issue_v = 0
        fi;
        value = issue_v;
        color = issue_c;
        enter_if_valid()
    }
    :: d_step { /* ... wait until IS_VALID(TICKET); finish */
        region == TRYING -> enter_if_valid()
    }
    :: d_step { /* start; VALIDATE_NEXT_TICKET(TICKET); finish */
        region == CRITICAL ->
        if
        :: valid_v < M - 1 -> valid_v++
        :: else ->
            if
            :: LEADS(valid_v, valid_c, issue_v, issue_c) -> new_color(); valid_c = new; new = 0
            :: else -> valid_c = issue_c
            fi;
            valid_v = 0
        fi;
        quant[valid_c]++;
        quant[color]--;
        inside--;
        region = REMAINDER;
        value = 0;
        color = 0
    }
    od
}

init {
    byte i;
    atomic {
        quant[0] = K;
        for (i : 1 .. N) {
            run process()
        }
        i = 0
    }
}
