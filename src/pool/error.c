/* What each error of the library means, and what to do about it. */
#include "usher.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

static const struct {
    int error;
    const char *meaning;
} meanings[] = {
    {0, "no error"},
    {EAGAIN, "no seat is free, or somebody who came before is waiting"},
    {ETIMEDOUT, "no seat was had in time"},
    {ECANCELED, "the wait was cancelled"},
    {EPERM, "that seat is not held here: it was given back already, or is somebody else's"},
    {ESTALE, "the pool was opened before fork: open it again in the child"},
    {EIDRM, "the pool has been removed: open it again to make a new one"},
    {EUSERS, "the pool's guest table is full: wait, or make a pool with more guests"},
    {EDOM, "the pool has another number of seats: leave the number out, or resize the pool"},
    {ERANGE, "more seats or guests than the pool has room for"},
    {EINVAL, "not a valid name, option or argument"},
    {ENAMETOOLONG, "the name is too long"},
    {ENOENT, "there is no such pool, or no directory for it"},
    {EEXIST, "there is a pool of that name already"},
    {EACCES,
     "no permission to use the pool's file or directory; on ZooKeeper: set USHER_ZK_AUTH to "
     "the USER:PASSWORD that it was made with"},
    {EBUSY, "the pool is in use"},
    {ELOOP, "the pool's file is a symbolic link: give the path of the file itself"},
    {ENODEV, "not a pool: not a regular file"},
    {EKEYREJECTED, "the file or directory belongs to another user: use one of your own"},
    {ENODATA, "not a pool: the file is empty; remove it if nobody needs it"},
    {EMSGSIZE, "the pool's file has been cut short: remove it and make a new one"},
    {EBADMSG, "not a pool: the file holds something else; choose another name"},
    {EPROTONOSUPPORT, "made by another version of usher: use that version, or, when nobody uses "
                      "the pool, remove it by force"},
    {EUCLEAN, "the pool's file is damaged: remove it and make a new one"},
    {ENOLCK, "the file system has no locks: put the pool elsewhere, such as /dev/shm"},
    {ENOSPC, "no space left for the pool's file"},
    {EROFS, "the file system is read-only"},
    {ESRCH, "there is no such process"},
    {EKEYEXPIRED, "the pool's servers have not been heard from for too long: the seat or the place "
                  "in line is lost; open the pool again"},
    {EKEYREVOKED,
     "the ticket was deleted on the servers by somebody else: the seat or the place in "
     "line is lost; ask again, and see who deletes nodes below the pool"},
    {ENOTCONN, "the pool's servers do not answer: see that they run and that the address is right"},
    {EHOSTUNREACH, "the address of the pool's servers cannot be found"},
    {ELIBACC,
     "pools on ZooKeeper need usher-zk.so and the client library: install libzookeeper-st2"},
    {ENOPKG, "the ZooKeeper client library here was built without TLS: unset USHER_ZK_TLS, and use "
             "a tunnel such as stunnel(8)"},
    {ELIBBAD, "usher-zk.so is of another version than this library: install both anew"},
    {EOPNOTSUPP, "pools on ZooKeeper do not have that"},
    {EOVERFLOW,
     "the pool has had 2^34 tickets since one of the first was granted, which is held yet: "
     "have it given back"},
    {ENOSYS, "this kernel cannot prove the death of another process (Linux 6.9 can), or refuses "
             "membarrier(2)"},
};

const char *usher_strerror(int error)
{
    error = error < 0 && error != INT_MIN ? -error : error;
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].error == error) {
            return meanings[i].meaning;
        }
    }
    const char *name = strerrordesc_np(error); /* static, unlike strerror's */
    return name != NULL ? name : "unknown error";
}
