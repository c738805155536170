/* A guest of the crowd: a process with threads that give seats back in every possible way. */
#include "crowd.h"

#include <pthread.h>
#include <sched.h>

static struct usher_pool *common; /* the handle that all threads share */
static unsigned many;             /* number of threads */

static void leave(struct usher_pool *pool, struct visitor *v, struct usher_seat *seat)
{
    crowd_unseat(seat->number, crowd_word(crowd_self, v->thread));
    EXPECT_EQ(usher_release(pool, seat), 0);
    EXPECT_EQ(usher_release(pool, seat), -EPERM);
}

/* Fork. The child gets a life of its own that ends with this one. */
static pid_t fork_life(uint32_t *life)
{
    pid_t parent = getpid();
    *life = crowd_birth(crowd_self);
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        crowd_live(*life);
        if (getppid() != parent) {
            _exit(0);
        }
    }
    return child;
}

static void wait_for(pid_t child, int expected)
{
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, expected);
    crowd_note_end(child);
}

static void end_by_itself(void)
{
    atomic_store(&board->life[crowd_self].gentle, 1);
    crowd_doom(crowd_self);
    _exit(0);
}

/* Assign the seat to another process, which then ends, is killed, or loses the seat again. */
static void assign_to_another(struct usher_pool *pool, struct visitor *v, struct usher_seat *seat)
{
    uint32_t way = roll(&v->dice, 3);
    uint32_t life;
    pid_t heir = fork_life(&life);
    if (heir == 0) {
        pause_us(way == 0 ? (long)roll(&v->dice, 3000) : PATIENCE_S * 1000000L);
        end_by_itself();
    }
    while (atomic_load(&board->life[life].pid) == 0) { /* it may be found dead by its pid */
        (void)sched_yield();
    }
    uint64_t word = crowd_word(crowd_self, v->thread);
    EXPECT(atomic_compare_exchange_strong(&board->owner[seat->number], &word, crowd_word(life, 0)));
    int error = usher_assign(pool, seat, heir);
    EXPECT(error == 0 || (way == 0 && error == -ESRCH));
    if (error != 0) { /* it has ended, and the seat is still ours */
        crowd_unseat(seat->number, crowd_word(life, 0));
        EXPECT_EQ(usher_release(pool, seat), 0);
        wait_for(heir, 0);
        return;
    }
    EXPECT_EQ(usher_release(pool, seat), -EPERM);
    if (way == 1) {
        crowd_stay(v);
        crowd_unseat(seat->number, crowd_word(life, 0));
        EXPECT_EQ(usher_release_for(pool, heir), 1);
    }
    if (way != 0) {
        crowd_doom(life);
        EXPECT_EQ(kill(heir, SIGKILL), 0);
    }
    wait_for(heir, way == 0 ? 0 : SIGKILL);
    atomic_fetch_add(&board->counts.heirs, 1);
}

/* Start a child that also acquires, with a handle of its own. It must not wait long, because it
   may be waiting for us. */
static void start_child(struct visitor *v)
{
    uint32_t life;
    pid_t child = fork_life(&life);
    if (child == 0) {
        struct usher_pool *own = open_pool("pool", 0, 0);
        struct usher_seat seat;
        v->thread = 0;
        if (crowd_come(own, v, &seat, false) == 0) {
            crowd_stay(v);
            leave(own, v, &seat);
        }
        usher_close(own);
        _exit(0);
    }
    wait_for(child, 0);
    atomic_fetch_add(&board->counts.children, 1);
}

/* The end of a thread gives its seat back. */
static void *end_with_a_seat(void *context)
{
    struct visitor *v = context;
    struct usher_seat seat;
    if (crowd_come(common, v, &seat, false) == 0) {
        crowd_unseat(seat.number, crowd_word(crowd_self, v->thread));
        atomic_fetch_add(&board->counts.threads_ended, 1);
    }
    return NULL;
}

static void have_a_thread(struct visitor *v)
{
    pthread_t thread;
    struct visitor other = {v->thread + 1000, v->dice + 1, NULL};
    EXPECT_EQ(pthread_create(&thread, NULL, end_with_a_seat, &other), 0);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
}

/* Two threads give the same seat back at once; exactly one succeeds. */
struct returning {
    struct usher_pool *pool;
    struct usher_seat seat;
    int result;
};

static void *give_back(void *context)
{
    struct returning *returning = context;
    returning->result = usher_release(returning->pool, &returning->seat);
    return NULL;
}

static void leave_with_help(struct usher_pool *pool, struct visitor *v, struct usher_seat *seat)
{
    pthread_t thread;
    struct returning other = {pool, *seat, 1};
    crowd_unseat(seat->number, crowd_word(crowd_self, v->thread));
    EXPECT_EQ(pthread_create(&thread, NULL, give_back, &other), 0);
    int result = roll(&v->dice, 2) == 0 ? -EPERM : usher_release(pool, seat);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT(result == 0 || result == -EPERM);
    EXPECT_EQ(other.result, result == 0 ? -EPERM : 0);
    atomic_fetch_add(&board->counts.by_others, other.result == 0);
}

/* Execute another program: with the seat (kept or assigned by pid) or without it. */
enum exec_way { EXEC_KEPT, EXEC_ASSIGNED, EXEC_LOST, EXEC_WAYS };

static void exec_with(struct visitor *v, struct usher_seat *seat)
{
    char words[6][24];
    enum exec_way way = (enum exec_way)roll(&v->dice, EXEC_WAYS);
    struct usher_pool *pool = common;
    if (way == EXEC_KEPT) { /* release, and acquire again through a handle that is kept */
        struct usher_options keep = {.flags = USHER_KEEP};
        leave(common, v, seat);
        EXPECT_EQ(usher_open(&pool, "pool", &keep), 0);
        if (crowd_come(pool, v, seat, false) != 0) {
            usher_close(pool);
            return;
        }
    }
    if (way == EXEC_ASSIGNED) {
        EXPECT_EQ(usher_assign(pool, seat, getpid()), 0);
    }
    if (way == EXEC_LOST) {
        crowd_unseat(seat->number, crowd_word(crowd_self, v->thread));
    }
    (void)snprintf(words[0], sizeof words[0], "%d", crowd_fd);
    (void)snprintf(words[1], sizeof words[1], "%u", crowd_self);
    (void)snprintf(words[2], sizeof words[2], "%u", (unsigned)way);
    (void)snprintf(words[3], sizeof words[3], "%u", seat->number);
    (void)snprintf(words[4], sizeof words[4], "%u", v->thread);
    (void)snprintf(words[5], sizeof words[5], "%llu", (unsigned long long)v->dice);
    (void)execl("/proc/self/exe", "crowd_test", "exec", words[0], words[1], words[2], words[3],
                words[4], words[5], NULL);
    EXPECT(false);
}

int crowd_execed(int argc, char **argv)
{
    EXPECT_EQ(argc, 8);
    crowd_map(atoi(argv[2]));
    crowd_self = (uint32_t)strtoul(argv[3], NULL, 10);
    enum exec_way way = (enum exec_way)atoi(argv[4]);
    uint32_t number = (uint32_t)strtoul(argv[5], NULL, 10);
    struct visitor v = {(uint32_t)strtoul(argv[6], NULL, 10), strtoull(argv[7], NULL, 10), NULL};
    atomic_fetch_add(&board->counts.execs, 1);
    crowd_stay(&v);
    if (way == EXEC_KEPT) {
        crowd_doom(crowd_self); /* only our death gives it back */
        _exit(0);
    }
    if (way == EXEC_ASSIGNED) {
        struct usher_pool *pool = open_pool("pool", 0, 0);
        crowd_unseat(number, crowd_word(crowd_self, v.thread));
        EXPECT_EQ(usher_release_for(pool, getpid()), 1);
        usher_close(pool);
    }
    crowd_guest(crowd_self, 1, v.dice);
    return 0;
}

/* End with the seat. */
static void end_with_the_seat(void)
{
    crowd_doom(crowd_self);
    atomic_fetch_add(&board->counts.ended, 1);
    _exit(0);
}

/* Closing the handle gives its seats back. */
static void leave_by_closing(struct visitor *v, struct usher_seat *seat)
{
    crowd_unseat(seat->number, crowd_word(crowd_self, v->thread));
    usher_close(v->own);
    v->own = NULL;
}

static void leave_somehow(struct usher_pool *pool, struct visitor *v, struct usher_seat *seat)
{
    uint32_t way = roll(&v->dice, 1000);
    if (way < 20) {
        assign_to_another(pool, v, seat);
        return;
    }
    if (way < 50) {
        leave_with_help(pool, v, seat);
        return;
    }
    if (way < 65 && v->own != NULL) {
        leave_by_closing(v, seat);
        return;
    }
    if (way < 90 && many == 1 && v->own == NULL) {
        exec_with(v, seat);
        return;
    }
    if (way < 92) {
        end_with_the_seat();
    }
    if (way < 105) {
        start_child(v);
    } else if (way < 120) {
        have_a_thread(v);
    }
    leave(pool, v, seat);
}

static void *visit(void *context)
{
    struct visitor *v = context;
    while (atomic_load(&board->stop) == 0) {
        struct usher_seat seat;
        struct usher_pool *pool = v->own != NULL ? v->own : common;
        int error = roll(&v->dice, 64) == 0 ? crowd_come_in_order(pool, v, &seat)
                                            : crowd_come(pool, v, &seat, true);
        if (error == 0) {
            crowd_stay(v);
            leave_somehow(pool, v, &seat);
        }
        if (error == -EUSERS || roll(&v->dice, 8) == 0) {
            pause_us((long)roll(&v->dice, error == -EUSERS ? 20000 : 1000));
        }
        if (roll(&v->dice, 50) == 0) {
            usher_close(v->own);
            v->own = v->own == NULL ? open_pool("pool", 0, 0) : NULL;
            atomic_fetch_add(&board->counts.reopened, 1);
        }
    }
    usher_close(v->own);
    return NULL;
}

void crowd_guest(uint32_t life, unsigned threads, uint64_t dice)
{
    struct visitor visitors[CROWD_THREADS];
    pthread_t others[CROWD_THREADS];
    crowd_live(life);
    many = threads;
    common = open_pool("pool", 0, 0);
    for (unsigned t = 0; t < threads; t++) {
        visitors[t] = (struct visitor){t + 1, dice + t, NULL};
    }
    for (unsigned t = 1; t < threads; t++) {
        EXPECT_EQ(pthread_create(&others[t], NULL, visit, &visitors[t]), 0);
    }
    (void)visit(&visitors[0]);
    for (unsigned t = 1; t < threads; t++) {
        EXPECT_EQ(pthread_join(others[t], NULL), 0);
    }
    usher_close(common);
}
