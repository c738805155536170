/* What the oracle finds for each state, by the definitions: see oracle.h. */
#include "check/decide/oracle.h"

#include <string.h>

void oracle_close(const struct oracle *oracle, struct oracle_steps *steps)
{
    size_t words = (oracle->states + 63) / 64;
    memset(steps->reach, 0, sizeof steps->reach[0] * oracle->states);
    for (uint32_t s = 0; s < oracle->states; s++) {
        for (unsigned i = 0; i < oracle->n; i++) {
            uint32_t to = oracle->at[s].next[i];
            if (steps->may[s][i]) {
                steps->reach[s][to / 64] |= 1ULL << to % 64;
            }
        }
    }
    for (uint32_t middle = 0; middle < oracle->states; middle++) {
        for (uint32_t from = 0; from < oracle->states; from++) {
            if (steps->reach[from][middle / 64] >> middle % 64 & 1) {
                for (size_t w = 0; w < words; w++) {
                    steps->reach[from][w] |= steps->reach[middle][w];
                }
            }
        }
    }
}

bool oracle_reaches(const struct oracle_steps *steps, uint32_t from, uint32_t to)
{
    return from == to || (steps->reach[from][to / 64] >> to % 64 & 1);
}

bool oracle_laps(const struct oracle *oracle, const struct oracle_steps *steps, uint32_t state,
                 unsigned everyone)
{
    if (!(steps->reach[state][state / 64] >> state % 64 & 1)) {
        return false;
    }
    for (unsigned j = 0; j < oracle->n; j++) {
        bool steps_on_the_way = !oracle_has(everyone, j);
        for (uint32_t a = 0; a < oracle->states && !steps_on_the_way; a++) {
            steps_on_the_way = steps->may[a][j] && oracle_reaches(steps, state, a) &&
                               oracle_reaches(steps, oracle->at[a].next[j], state);
        }
        if (!steps_on_the_way) {
            return false;
        }
    }
    return true;
}

/* P_i is Z-enabled in q if every schedule with infinitely many steps of i takes it to Z: search for
   a schedule that does not, and in which the supervisor does not stop. */
static void learn_z_enabled(struct oracle *o, unsigned i, enum step_region zone)
{
    static struct oracle_steps outside;
    static bool laps[ORACLE_STATES];
    for (uint32_t s = 0; s < o->states; s++) {
        for (unsigned p = 0; p < o->n; p++) {
            outside.may[s][p] = !oracle_has(o->at[s].in[zone], i) &&
                                !oracle_has(o->at[o->at[s].next[p]].in[zone], i);
        }
    }
    oracle_close(o, &outside);
    for (uint32_t s = 0; s < o->states; s++) {
        laps[s] = oracle_laps(o, &outside, s, 1U << i | o->supervisor);
    }
    for (uint32_t q = 0; q < o->states; q++) {
        bool enabled = true;
        for (uint32_t s = 0; s < o->states && enabled; s++) {
            enabled = !(laps[s] && oracle_reaches(&outside, q, s));
        }
        if (enabled) {
            *(zone == STEP_CRITICAL ? &o->at[q].c_enabled : &o->at[q].r_enabled) |= 1U << i;
        }
    }
}

/* P_i is critical-enabled (remainder-enabled) at q if, after any schedule without i, its next step
   leads to C (to R). */
static void learn_1979(struct oracle *o, unsigned i)
{
    static struct oracle_steps others;
    for (uint32_t s = 0; s < o->states; s++) {
        for (unsigned p = 0; p < o->n; p++) {
            others.may[s][p] = p != i;
        }
    }
    oracle_close(o, &others);
    for (uint32_t q = 0; q < o->states; q++) {
        bool critical = true;
        bool remainder = true;
        for (uint32_t s = 0; s < o->states; s++) {
            if (oracle_reaches(&others, q, s)) {
                const struct oracle_state *then = &o->at[o->at[s].next[i]];
                critical = critical && oracle_has(then->in[STEP_CRITICAL], i);
                remainder = remainder && oracle_has(then->in[STEP_REMAINDER], i);
            }
        }
        o->at[q].cen |= (unsigned)critical << i;
        o->at[q].ren |= (unsigned)remainder << i;
    }
}

/* can[G][q]: in some schedule from q all of G step, and only `crossers` go from `from` to `to`.
   Sets G in increasing order, each to its fixed point. */
static void learn_spoilers(const struct oracle *o, enum step_region from, enum step_region to,
                           unsigned crossers, bool can[ORACLE_SETS][ORACLE_STATES])
{
    for (unsigned group = 0; group < 1U << o->n; group++) {
        bool changed = true;
        for (uint32_t q = 0; q < o->states; q++) {
            can[group][q] = group == 0;
        }
        while (changed) {
            changed = false;
            for (uint32_t q = 0; q < o->states; q++) {
                for (unsigned p = 0; p < o->n && !can[group][q]; p++) {
                    uint32_t there = o->at[q].next[p];
                    bool crosses =
                        oracle_has(o->at[q].in[from], p) && oracle_has(o->at[there].in[to], p);
                    bool allowed = !crosses || oracle_has(crossers, p);
                    can[group][q] = allowed && can[group & ~(1U << p)][there];
                    changed = changed || can[group][q];
                }
            }
        }
    }
}

/* G is group-enabled if in every schedule in which all of G step |G| different processes cross:
   that is, if fewer than |G| crossers are not enough for such a schedule. */
static void learn_allocation(struct oracle *o, enum step_region from, enum step_region to)
{
    static bool spoiled[ORACLE_SETS][ORACLE_STATES];
    static bool can[ORACLE_SETS][ORACLE_STATES];
    memset(spoiled, 0, sizeof spoiled);
    for (unsigned crossers = 0; crossers < 1U << o->n; crossers++) {
        learn_spoilers(o, from, to, crossers, can);
        for (unsigned group = 0; group < 1U << o->n; group++) {
            for (uint32_t q = 0; q < o->states; q++) {
                spoiled[group][q] |= oracle_size(crossers) < oracle_size(group) && can[group][q];
            }
        }
    }
    for (uint32_t q = 0; q < o->states; q++) {
        unsigned most = 0;
        for (unsigned group = 0; group < 1U << o->n; group++) {
            bool members = (group & ~o->at[q].in[from]) == 0;
            if (members && !spoiled[group][q] && oracle_size(group) > most) {
                most = oracle_size(group);
            }
        }
        *(from == STEP_TRYING ? &o->at[q].c_allocation : &o->at[q].r_allocation) = most;
    }
}

static void learn_distances(struct oracle *o)
{
    bool changed = true;
    for (uint32_t q = 0; q < o->states; q++) {
        o->at[q].distance = q == 0 ? 0 : ORACLE_NEVER;
    }
    while (changed) {
        changed = false;
        for (uint32_t q = 0; q < o->states; q++) {
            for (unsigned p = 0; p < o->n && o->at[q].distance != ORACLE_NEVER; p++) {
                size_t *there = &o->at[o->at[q].next[p]].distance;
                if (o->at[q].distance + 1 < *there) {
                    *there = o->at[q].distance + 1;
                    changed = true;
                }
            }
        }
    }
}

/* What the machine itself says of each state: whether it is wrong, and which processes are in the
   waiting room. */
static void learn_judgements(struct oracle *o, const struct check_graph *graph)
{
    const struct step_system *system = graph->system;
    const struct step_machine *machine = system->machine;
    uint64_t words[STEP_MAX_SHARED_WORDS];
    _Alignas(8) unsigned char states[ORACLE_PROCESSES * STEP_MAX_PRIVATE_BYTES];
    o->states_invariant = machine->wrong != NULL;
    o->tells_rooms = machine->waiting_room != NULL;
    for (uint32_t s = 0; s < o->states; s++) {
        check_seen_get(&graph->seen, s, words, states);
        o->at[s].wrong = o->states_invariant && machine->wrong(system, words, states) != NULL;
        for (unsigned i = 0; i < system->workers && o->tells_rooms; i++) {
            const void *state = step_state_of(system, states, i);
            o->at[s].rooms |= (unsigned)machine->waiting_room(system, state) << i;
        }
    }
}

/* P_i rests in a state that its steps alone lead back to. */
static void learn_rests(struct oracle *o, unsigned i)
{
    for (uint32_t s = 0; s < o->states; s++) {
        uint32_t at = s;
        bool back = false;
        for (uint32_t steps = 0; steps < o->states && oracle_has(o->at[at].in[STEP_TRYING], i);
             steps++) {
            at = o->at[at].next[i];
            back = back || at == s;
        }
        o->at[s].rests |= (unsigned)back << i;
    }
}

bool oracle_learn(struct oracle *o, const struct check_graph *graph)
{
    memset(o, 0, sizeof *o);
    o->n = graph->system->n;
    o->k = graph->system->k;
    o->r = graph->system->robustness;
    o->supervisor = graph->system->machine->supervised ? 1U << (o->n - 1) : 0;
    o->states = check_states(graph);
    if (o->n > ORACLE_PROCESSES || o->states > ORACLE_STATES) {
        return false;
    }
    for (uint32_t s = 0; s < o->states; s++) {
        for (unsigned i = 0; i < o->n; i++) {
            o->at[s].next[i] = check_edge(graph, s, i);
            o->at[s].in[check_region(graph, s, i)] |= 1U << i & ~o->supervisor;
        }
    }
    for (unsigned i = 0; i < graph->system->workers; i++) {
        learn_z_enabled(o, i, STEP_CRITICAL);
        learn_z_enabled(o, i, STEP_REMAINDER);
        learn_1979(o, i);
        learn_rests(o, i);
    }
    learn_allocation(o, STEP_TRYING, STEP_CRITICAL);
    learn_allocation(o, STEP_EXIT, STEP_REMAINDER);
    learn_distances(o);
    learn_judgements(o, graph);
    for (uint32_t s = 0; s < o->states; s++) {
        struct oracle_state *q = &o->at[s];
        q->t_waiting = q->in[STEP_TRYING] & ~q->c_enabled;
        q->e_waiting = q->in[STEP_EXIT] & ~q->r_enabled;
        q->waiting = (q->in[STEP_TRYING] & ~q->cen) | (q->in[STEP_EXIT] & ~q->ren);
    }
    return true;
}
