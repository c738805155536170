/* The version, and a sentence for each error of the library that says what to do. */
#include "usher.h"

#include "os/compat.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

static const struct {
    int error;
    const char *meaning;
} meanings[] = {
    {0, "no error"},
    {EAGAIN, "no seat is free, or others are waiting"},
    {ETIMEDOUT, "no seat became free in time"},
    {ECANCELED, "the wait was cancelled"},
    {EPERM, "this process does not hold that seat, or may not do that"},
    {USHER_EFORKED, "the pool was opened before fork: open it again in the child"},
    {USHER_EREMOVED, "the pool has been removed: open it again to make a new one"},
    {USHER_EFULL, "the pool's guest table is full: wait, or make a pool with more guests"},
    {USHER_ESEATS, "the pool has another number of seats: leave the number out, or resize the "
                   "pool"},
    {ERANGE, "more seats or guests than the pool has room for"},
    {EINVAL, "not a valid name, option or argument"},
    {ENAMETOOLONG, "the name is too long"},
    {ENOENT, "there is no such pool, or no directory for it"},
    {ENOTDIR, "a part of the path is not a directory"},
    {EEXIST, "there is a pool of that name already"},
    {EACCES,
     "no permission to use the pool's file or directory; on ZooKeeper: set USHER_ZK_AUTH to "
     "the USER:PASSWORD that it was made with"},
    {EBUSY, "the pool is in use"},
    {ELOOP, "the pool's file is a symbolic link: give the path of the file itself"},
    {ENODEV, "not a pool: not a regular file"},
    {USHER_EUNTRUSTED, "the file or directory belongs to another user: use one of your own"},
    {USHER_EEMPTY, "not a pool: the file is empty; remove it if nobody needs it"},
    {USHER_ETRUNCATED, "the pool's file has been cut short: remove it and make a new one"},
    {USHER_ENOTPOOL, "not a pool: the file holds something else; choose another name"},
    {USHER_EFORMAT, "made by another version of usher: use that version, or, when nobody uses the "
                    "pool, remove it by force"},
    {USHER_EDAMAGED, "the pool's file is damaged: remove it and make a new one"},
    {USHER_ETWICE, "two pools have this name: remove one of them by its path, or give a path"},
    {USHER_EDELETED,
     "the pool's file was deleted while processes use the pool: let them finish, or "
     "end them"},
    {USHER_EDEFINITION, "the definition of the pool is wrong: correct it"},
    {ENOLCK, "the file system has no locks: put the pool elsewhere, such as /dev/shm"},
    {ENOSPC, "no space left for the pool's file"},
    {EROFS, "the file system is read-only"},
    {ENOMEM, "not enough memory"},
    {EMFILE, "too many open files in this process: close some, or raise its limit"},
    {ENFILE, "too many open files on this machine"},
    {ESRCH, "there is no such process"},
    {USHER_ELOST, "the pool's servers have not answered for too long: the seat or the place in "
                  "line is lost; open the pool again"},
    {USHER_EREVOKED,
     "another client deleted the ticket on the servers: the seat or the place in line is lost; "
     "ask again, and find out who deletes nodes below the pool"},
    {USHER_ENOSERVER,
     "the pool's servers do not answer: check that they run and that the address is right"},
    {USHER_ENOHOST, "the address of the pool's servers cannot be found"},
    {USHER_ENOMODULE,
     "pools on ZooKeeper need usher-zk.so and the client library: install libzookeeper-st2"},
    {USHER_ENOTLS,
     "the ZooKeeper client library here was built without TLS: unset USHER_ZK_TLS, and use "
     "a tunnel such as stunnel(8)"},
    {USHER_EMISMATCH, "usher-zk.so is of another version than this library: install both again"},
    {EOPNOTSUPP, "pools on ZooKeeper do not have that"},
    {USHER_ETICKETS, "the pool has issued 2^34 tickets since the oldest one that is still held: "
                     "have its seat released"},
    {ENOSYS, "the death of that process could not be proved here: mount a /proc of this pid "
             "namespace that shows the process; or the kernel refuses membarrier(2)"},
};

const char *usher_strerror(int error)
{
    error = error < 0 && error != INT_MIN ? -error : error;
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].error == error) {
            return meanings[i].meaning;
        }
    }
    const char *name = compat_errno_text(error);
    return name != NULL ? name : "unknown error";
}

int usher_version(void)
{
    return USHER_VERSION;
}
