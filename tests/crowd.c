/* The board of a crowd, and the ways to acquire. Each entry is checked against the board. */
#include "crowd.h"

#include <sched.h>

struct crowd_board *board;
int crowd_fd;
uint32_t crowd_self;

/* A process that ends with its seat ends with all its threads; their memory is no leak. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0";
}
#endif
#endif

void crowd_map(int fd)
{
    crowd_fd = fd;
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT(board != MAP_FAILED);
}

uint32_t crowd_birth(uint32_t parent)
{
    uint32_t life = atomic_fetch_add(&board->lives, 1) + 1;
    EXPECT(life < CROWD_LIVES);
    atomic_store(&board->life[life].parent, parent);
    return life;
}

void crowd_live(uint32_t life)
{
    crowd_self = life;
    EXPECT(getpid() < CROWD_PIDS);
    atomic_store(&board->life[life].pid, getpid());
    atomic_store(&board->life_of[getpid()], life);
}

void crowd_doom(uint32_t life)
{
    atomic_store(&board->life[life].doomed, 1);
}

void crowd_note_end(pid_t pid)
{
    atomic_store(&board->life[atomic_load(&board->life_of[pid])].ended, 1);
}

static bool is_doomed(uint32_t life)
{
    for (; life != 0; life = atomic_load(&board->life[life].parent)) {
        if (atomic_load(&board->life[life].doomed)) {
            return true;
        }
    }
    return false;
}

static bool is_dead(uint32_t life)
{
    char state = process_state(atomic_load(&board->life[life].pid));
    return state == 0 || state == 'Z' || state == 'X' || atomic_load(&board->life[life].ended);
}

uint64_t crowd_word(uint32_t life, uint32_t thread)
{
    return (uint64_t)life << 32 | thread;
}

/* Record that we hold the seat. If the board names an earlier holder that did not leave, that
   holder must be dead, though perhaps not reported yet, and our acquire must have said so. */
static void enter(const struct visitor *v, const struct usher_seat *seat, uint32_t seats_before)
{
    uint32_t seats_now = atomic_load(&board->seats);
    EXPECT(seat->number < (seats_before > seats_now ? seats_before : seats_now));
    uint64_t before =
        atomic_exchange(&board->owner[seat->number], crowd_word(crowd_self, v->thread));
    if (before != 0) {
        uint32_t life = (uint32_t)(before >> 32);
        EXPECT(is_doomed(life));
        AWAIT(is_dead(life));
        EXPECT((seat->flags & USHER_INHERITED) || atomic_load(&board->life[life].gentle));
    }
    if (atomic_load(&board->one)) {
        uint64_t last = atomic_exchange(&board->last_ticket, seat->ticket);
        EXPECT((int32_t)(seat->ticket - last) > 0);
    }
    EXPECT(seat->ticket < CROWD_TICKETS);
    uint64_t bit = 1ULL << seat->ticket % 64;
    EXPECT((atomic_fetch_or(&board->had[seat->ticket / 64], bit) & bit) == 0);
    atomic_fetch_add(&board->counts.inherited, (seat->flags & USHER_INHERITED) != 0);
    atomic_fetch_add(&board->counts.entries, 1);
}

/* Clear the seat on the board before it is released. */
void crowd_unseat(uint32_t number, uint64_t word)
{
    EXPECT(atomic_compare_exchange_strong(&board->owner[number], &word, 0));
}

/* Check that we overtook no waiter: none of the waiters seen before we came still waits now. A
   wait is identified by its start time, because its ticket changes when waiters before it give
   up. */
static void expect_order(struct usher_pool *pool, const struct usher_guest *waited, int count)
{
    struct usher_guest now[CROWD_LISTED];
    int waiting = usher_inspect(pool, NULL, now, CROWD_LISTED);
    EXPECT(waiting >= 0);
    waiting = waiting < CROWD_LISTED ? waiting : CROWD_LISTED;
    for (int w = 0; w < count; w++) {
        bool known = waited[w].position != 0 && waited[w].since_ns != 0;
        for (int n = 0; known && n < waiting; n++) {
            EXPECT(now[n].position == 0 || now[n].pid != waited[w].pid ||
                   now[n].since_ns != waited[w].since_ns);
        }
    }
    atomic_fetch_add(&board->counts.orders, 1);
}

/* Acquire by one of the ways in. 0 or -errno. */
int crowd_come(struct usher_pool *pool, struct visitor *v, struct usher_seat *seat, bool patient)
{
    uint32_t way = roll(&v->dice, 100);
    uint32_t before = atomic_load(&board->seats);
    struct timespec deadline = after_us(roll(&v->dice, 3000));
    int error;
    if (way < 60 && patient) {
        error = usher_acquire(pool, seat);
        EXPECT(error == 0 || error == -EUSERS);
    } else if (way < 85) {
        error = usher_acquire_until(pool, seat, &deadline);
        EXPECT(error == 0 || error == -ETIMEDOUT || error == -EUSERS);
        atomic_fetch_add(&board->counts.gave_up, error == -ETIMEDOUT);
    } else {
        error = usher_try_acquire(pool, seat);
        EXPECT(error == 0 || error == -EAGAIN || error == -EUSERS);
        atomic_fetch_add(&board->counts.turned_away, error == -EAGAIN);
    }
    EXPECT(error != -EUSERS || atomic_load(&board->tight));
    atomic_fetch_add(&board->counts.full, error == -EUSERS);
    if (error == 0) {
        enter(v, seat, before);
    }
    return error;
}

/* The same, and check that no earlier waiter still waits. */
int crowd_come_in_order(struct usher_pool *pool, struct visitor *v, struct usher_seat *seat)
{
    struct usher_guest waited[CROWD_LISTED];
    int count = usher_inspect(pool, NULL, waited, CROWD_LISTED);
    EXPECT(count >= 0);
    int error = crowd_come(pool, v, seat, true);
    if (error == 0) {
        expect_order(pool, waited, count < CROWD_LISTED ? count : CROWD_LISTED);
    }
    return error;
}

void crowd_stay(struct visitor *v)
{
    for (uint32_t turn = roll(&v->dice, 3); turn > 0; turn--) {
        (void)sched_yield();
    }
    if (roll(&v->dice, 20) == 0) {
        pause_us((long)roll(&v->dice, 500));
    }
}
