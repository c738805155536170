/*
 * (n,k)-GTEX, the group tournament (Omori, Obokata, Motegi, Igarashi, 2002, section 5). The shared
 * variables are the registers level(i) and turn(x,q) (levels.h).
 *
 * The processes are at the leaves of a binary tree, k+1 to 2k+2 at each leaf. The levels of EXCL at
 * a leaf leave k winners. At an inner node the winners of its two sons, at most 2k, compete at k
 * more levels. The k winners at the root are in C.
 *
 *     property                 promised   decided for all k < n <= 4, k <= 3, and n = 5, k = 1
 *     at most k in C           yes        holds
 *     progress, k-1 stopped    yes        holds
 *     lockout avoidance        yes        holds, with any k-1 stopped
 *     starvation               yes        holds
 *     these four if only some  yes        hold for some 3 and 4 of n = 6, k = 2 and n = 8, k = 1,
 *       processes take part               and some 3 of n = 7, k = 1
 *     avoidance of k-deadlock  no         violated
 *     FIFO enabling            no         violated
 *     overtakings              no         n = 2: at most 1; n >= 3: no bound
 *     prompt                   no         n < 2k+2: as EXCL; n = 4 and 5, k = 1: no bound
 *     any initial turn         yes        n = 3 and 4, k = 1: holds
 *     steps to enter if only   -          the sum, over its competitions, of the size of the group
 *       k processes take part             plus 2: n <= 4; n = 5, k = 1
 *     shared values            the product of |G_x| over all turn(x,q) and of the number of levels
 *                              of each process; holds
 *
 * Differences from the print: the paper prints the code for n = 2k 2^t and leaves other n to the
 * reader. Here a leaf of g processes has competitions q = 1..g-k with bound g-q-1, which is
 * (g,k)-EXCL. Inner nodes are as printed: q = 1..k with bound 2k-q-1. For n = 2k 2^t this is the
 * printed code. `gtex-printed` is the printed code at leaves of more than 2k processes: at n = 3, k
 * = 1 two processes are in C after 12 steps.
 *
 * For n < 2k+2 there is one leaf and no tree; then the states are those of EXCL.
 */
#include "papers/levels.h"
#include "papers/papers.h"

#include <math.h>
#include <stdio.h>

/* A level (p,q) is stored as p << Q_BITS | q: levels compare by p, then by q. (0,0) is 0. */
enum { Q_BITS = 8 };

/* A node x of the tournament tree: its depth |x|, x read as a number, and its processes G_x. */
struct node {
    unsigned depth, path;
    unsigned first, past;
};

/* bl(n,k): the largest b with (k+1) 2^b <= n. */
static unsigned depth_of_leaves(const struct step_system *system)
{
    unsigned depth = 0;
    while (system->n >> (depth + 1) >= system->k + 1) {
        depth++;
    }
    return depth;
}

/* The son of a node: 0 is the lower half of its processes, rounded up, 1 the upper half. */
static struct node son_of(struct node node, unsigned son)
{
    unsigned middle = node.first + (node.past - node.first + 1) / 2;
    return (struct node){.depth = node.depth + 1,
                         .path = 2 * node.path + son,
                         .first = son == 0 ? node.first : middle,
                         .past = son == 0 ? middle : node.past};
}

/* g(i,t): the node of depth t whose group contains i. */
static struct node node_of(const struct step_system *system, unsigned process, unsigned depth)
{
    struct node node = {.past = system->n};
    while (node.depth < depth) {
        struct node lower = son_of(node, 0);
        node = process < lower.past ? lower : son_of(node, 1);
    }
    return node;
}

/* The number of competitions at a node: g-k at a leaf of g processes, k at an inner node. */
static unsigned competitions_at(const struct step_system *system, const struct node *node)
{
    bool leaf = node->depth == depth_of_leaves(system) && !LEVELS_HAS(system, LEVELS_PRINTED);
    return leaf ? node->past - node->first - system->k : system->k;
}

/*
 * The word of turn(x,1). The leaves come first, from left to right, with one word for each
 * competition; then the inner nodes, from the root down. As printed, every node has k words.
 */
static unsigned turn_of(const struct step_system *system, const struct node *node)
{
    unsigned leaves = 1U << depth_of_leaves(system);
    unsigned from_root = (1U << node->depth) - 1 + node->path;
    if (LEVELS_HAS(system, LEVELS_PRINTED)) {
        return system->n + system->k * from_root;
    }
    if (node->depth == depth_of_leaves(system)) {
        return system->n + node->first - system->k * node->path;
    }
    return 2 * system->n - system->k * leaves + system->k * from_root;
}

static bool find(const struct step_system *system, unsigned process, unsigned number,
                 struct levels_competition *competition)
{
    unsigned depth = depth_of_leaves(system);
    struct node node = node_of(system, process, depth);
    unsigned at_leaf = competitions_at(system, &node);
    unsigned total = at_leaf + depth * system->k - LEVELS_HAS(system, LEVELS_ONE_FEWER);
    unsigned entrants = node.past - node.first; /* of the first competition */
    unsigned p = 0;
    if (number >= total) {
        return false;
    }
    if (number >= at_leaf) {
        p = 1 + (number - at_leaf) / system->k;
        number = (number - at_leaf) % system->k;
        node = node_of(system, process, depth - p);
    }
    if (p > 0 || LEVELS_HAS(system, LEVELS_PRINTED)) {
        entrants = 2 * system->k; /* k from each son */
    }
    bool all = LEVELS_HAS(system, LEVELS_ALL_COUNT);
    *competition = (struct levels_competition){
        .first = all ? 0 : node.first,
        .past = all ? system->n : node.past,
        .turn = turn_of(system, &node) + number,
        .level = (LEVELS_HAS(system, LEVELS_SAME) ? 0 : p << Q_BITS) | (number + 1),
        .bound = (int)(entrants - number) - 2 + LEVELS_HAS(system, LEVELS_BOUND_MORE)};
    return true;
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (levels_prepare(system, system->n - system->k, why) != 0) {
        return -1;
    }
    return LEVELS_HAS(system, LEVELS_PRINTED)
               ? levels_prepare(system, system->k * ((2U << depth_of_leaves(system)) - 1), why)
               : 0;
}

/* turn(x,q) starts with the first process of G_x. */
static void init(const struct step_system *system, uint64_t *words)
{
    levels_init(system, words);
    for (unsigned i = 0; i < system->n; i++) {
        for (unsigned depth = 0; depth <= depth_of_leaves(system); depth++) {
            struct node node = node_of(system, i, depth);
            for (unsigned q = 0; i == node.first && q < competitions_at(system, &node); q++) {
                words[turn_of(system, &node) + q] = i;
            }
        }
    }
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    levels_step(system, memory, state, process, find);
}

static bool heedless(const struct step_system *system, const void *state, unsigned process)
{
    return levels_heedless(system, state, process, find);
}

/* The node to whose turn registers a word belongs, and q. */
static struct node node_with(const struct step_system *system, unsigned word, unsigned *q)
{
    for (unsigned i = 0; i < system->n; i++) {
        for (unsigned depth = 0; depth <= depth_of_leaves(system); depth++) {
            struct node node = node_of(system, i, depth);
            unsigned turn = turn_of(system, &node);
            if (word >= turn && word < turn + competitions_at(system, &node)) {
                *q = word - turn + 1;
                return node;
            }
        }
    }
    *q = 0;
    return (struct node){0};
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    char name[16] = "top";
    unsigned q;
    if (word < system->n) {
        return snprintf(out, size, "level(%u)=(%u,%u)", word + 1, (unsigned)(value >> Q_BITS),
                        (unsigned)(value & ((1U << Q_BITS) - 1)));
    }
    struct node node = node_with(system, word, &q);
    for (unsigned d = 0; d < node.depth; d++) {
        (void)snprintf(name + d, sizeof name - d, "%u", node.path >> (node.depth - 1 - d) & 1);
    }
    return snprintf(out, size, "turn(%s,%u)=%u", name, q, (unsigned)value + 1);
}

/* turn(x,q) is a process of G_x; level(i) is a competition of i, or (0,0). */
static double bound(const struct step_system *system)
{
    double values = 1;
    for (unsigned i = 0; i < system->n; i++) {
        double levels = 1;
        for (unsigned depth = 0; depth <= depth_of_leaves(system); depth++) {
            struct node node = node_of(system, i, depth);
            unsigned competitions = competitions_at(system, &node);
            levels += competitions;
            for (unsigned q = 0; i == node.first && q < competitions; q++) {
                values *= node.past - node.first;
            }
        }
        values *= levels;
    }
    return values;
}

/* turn(x,q) has |G_x| values; level(i) has one for each competition of i, and (0,0). */
static unsigned bits(const struct step_system *system, unsigned word)
{
    unsigned depth = depth_of_leaves(system);
    unsigned q;
    if (word < system->n) {
        struct node leaf = node_of(system, word, depth);
        return step_bits_of(competitions_at(system, &leaf) + depth * system->k + 1);
    }
    struct node node = node_with(system, word, &q);
    return step_bits_of(node.past - node.first);
}

static double formula(const struct step_system *system)
{
    double n = system->n;
    double k = system->k;
    double sum = n * log2(k * log2(n / k) + 1);
    for (unsigned p = 0; p <= depth_of_leaves(system); p++) {
        sum += k * (1U << p) * log2(n / (1U << p));
    }
    return sum;
}

static const struct step_space space = {
    .bits = bits,
    .formula = formula,
    .says = "n log(k log(n/k)+1) + k sum of 2^p log(n/2^p), p <= bl (2002, section 7)",
    .note = "The formula is for n = 2k 2^t and rounds no register up; the count is right for every "
            "n. The text beside the formula gives turn(x,q) 2^|x| values; it has |G_x|, as in the "
            "formula.",
};

#define GTEX(name_, title_, variant_)                                                              \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .prepare = prepare,             \
        .init = init, .step = step, .region = levels_region, .heedless = heedless,                 \
        .print_word = print_word, .bound = bound, .space = &space,                                 \
        .printed = (variant_) == LEVELS_PRINTED                                                    \
    }

const struct step_machine papers_gtex =
    GTEX("gtex", "(n,k)-GTEX, group tournament (2002, section 5)", 0);

const struct step_machine papers_mutant_gtex_printed =
    GTEX("gtex-printed", "(n,k)-GTEX, the code printed for n = 2k 2^t at any n", LEVELS_PRINTED);

const struct step_machine papers_mutant_gtex_all_count =
    GTEX("mutant-gtex-all-count", "(n,k)-GTEX, processes outside the group are counted too",
         LEVELS_ALL_COUNT);

const struct step_machine papers_mutant_gtex_same =
    GTEX("mutant-gtex-same", "(n,k)-GTEX, a level does not tell its node", LEVELS_SAME);

const struct step_machine papers_mutant_gtex_bound_more =
    GTEX("mutant-gtex-bound-more", "(n,k)-GTEX, bounds one higher", LEVELS_BOUND_MORE);

const struct step_machine papers_mutant_gtex_one_fewer =
    GTEX("mutant-gtex-one-fewer", "(n,k)-GTEX without the last competition", LEVELS_ONE_FEWER);
