/*
 * usher_spawn: start a program that holds a seat itself. The child signs the row of the seat for
 * itself, checks that its parent lives, and calls exec.
 *
 * The check after the signature closes the only gap. A scan takes the seat away if it finds the
 * parent dead and the row still signed by it. If the parent lives after the signature, no scan can
 * have found it dead before, and later scans find the child's signature. If the parent does not
 * live, the seat may be gone: the child ends without running the program.
 *
 * Until exec the child has a copy of the parent's descriptors, and so the lock of the row: no other
 * process can own the row meanwhile, whatever scans find.
 */
#include "os/os_spawn.h"
#include "pool/pool.h"

#include <errno.h>
#include <unistd.h>

/* How far the child is. It writes, in the parent's memory; the parent reads when the child has
   called exec or ended. */
enum stage {
    STAGE_NONE,    /* the seat is the parent's */
    STAGE_SIGNING, /* the row changes between the two: its signature tells */
    STAGE_SIGNED,  /* the seat is the child's */
    STAGE_BACK     /* the seat is the parent's again */
};

struct spawn {
    struct usher_pool *pool;
    const struct usher_command *command;
    uint32_t row, cycle; /* of the seat */
    pid_t parent;
    volatile enum stage stage;
};

static void sign_for_parent(const struct spawn *spawn)
{
    const struct os_self *self = &spawn->pool->self;
    usher__guest_sign(spawn->pool, spawn->row, &self->identity, FORMAT_BY_LOCK, self->pid);
}

/* Without an identity the child's death can be seen by the lock alone. */
static void sign_for_child(const struct spawn *spawn, const struct os_identity *identity)
{
    usher__guest_sign(spawn->pool, spawn->row, identity, FORMAT_ASSIGNED | FORMAT_BY_LOCK,
                      (uint32_t)getpid());
}

/* In the child. */
static int begin(void *context)
{
    struct spawn *spawn = context;
    const struct usher_command *command = spawn->command;
    struct os_identity identity;
    int error = os_keep_open(spawn->pool->fd);
    error = error != 0 ? error : os_identify(getpid(), &identity);
    if (error != 0) {
        return error;
    }
    spawn->stage = STAGE_SIGNING;
    sign_for_child(spawn, &identity);
    spawn->stage = STAGE_SIGNED;
    if (getppid() != spawn->parent) {
        return -ESRCH;
    }
    error = command->prepare == NULL ? 0 : command->prepare(command->context);
    return error < 0 ? error : 0;
}

/* In the child: give the seat back to the parent before this process ends, or a scan would free it.
   */
static void failed(void *context)
{
    struct spawn *spawn = context;
    if (spawn->stage != STAGE_NONE) {
        spawn->stage = STAGE_SIGNING;
        sign_for_parent(spawn);
        spawn->stage = STAGE_BACK;
    }
}

/* The child was killed while it signed. A scan frees the seat only if the child's signature was
   complete; then it first ends the row's cycle, and clears the signature after that. */
static bool is_unsigned(const struct spawn *spawn)
{
    uint64_t owner = atomic_load(&spawn->pool->rows[spawn->row].owner);
    uint64_t word = usher__row_word(spawn->pool, spawn->row);
    return !(format_owner_flags(owner) & FORMAT_ASSIGNED) && core_row_state(word) != CORE_IDLE &&
           core_row_cycle(word) == spawn->cycle;
}

/* The seat is this process's again. If the thread that acquired it has ended meanwhile, its end
   takes effect now. */
static void take_back(struct usher_pool *pool, struct guest *guest, uint64_t request)
{
    (void)pthread_mutex_lock(&pool->mutex);
    bool ended = atomic_load(&guest->state) == GUEST_ORPHAN;
    pool->orphans -= ended;
    guest->taken = 0;
    atomic_store(&guest->state, request);
    (void)pthread_mutex_unlock(&pool->mutex);
    if (ended && !(pool->flags & USHER_PROCESS_SEATS)) {
        usher__pool_leave(pool, guest);
        usher__guest_left(pool, guest);
    }
}

static int start(struct usher_pool *pool, const struct usher_command *command, uint32_t row,
                 pid_t *pid)
{
    struct spawn spawn = {.pool = pool,
                          .command = command,
                          .row = row,
                          .cycle = core_row_cycle(usher__row_word(pool, row)),
                          .parent = getpid()};
    struct os_spawn how = {.file = command->file != NULL ? command->file : command->argv[0],
                           .argv = command->argv,
                           .envp = command->envp,
                           .begin = begin,
                           .failed = failed,
                           .context = &spawn};
    int error = os_spawn(&how, pid);
    if (error != 0 || spawn.stage == STAGE_SIGNED ||
        (spawn.stage == STAGE_SIGNING && !is_unsigned(&spawn))) {
        return error;
    }
    sign_for_parent(&spawn);
    os_await(*pid);
    return -ESRCH;
}

static bool acceptable(const struct usher_pool *pool, const struct usher_command *command)
{
    uint64_t rest = 0;
    for (unsigned i = 0; i < sizeof command->reserved / sizeof command->reserved[0]; i++) {
        rest |= command->reserved[i];
    }
    return pool->shared && rest == 0 && command->argv != NULL && command->argv[0] != NULL;
}

int usher_spawn(struct usher_pool *pool, struct usher_seat *seat,
                const struct usher_command *command, pid_t *pid)
{
    int error;
    if (pool->generation != *usher__generation) {
        return -USHER_EFORKED;
    }
    if (pool->module != NULL) {
        return -EOPNOTSUPP;
    }
    if (!acceptable(pool, command)) {
        return -EINVAL;
    }
    int cancel = os_cancel_off();
    struct guest *guest = usher__take_over(pool, seat, &error);
    usher__take_over_done(pool, guest, GUEST_AWAY);
    if (guest != NULL) {
        pid_t child;
        error = start(pool, command, guest->row, &child);
        if (error == 0) {
            *pid = child;
        } else {
            take_back(pool, guest, seat->request);
        }
    }
    os_cancel_restore(cancel);
    return error;
}
