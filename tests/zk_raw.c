/* ZooKeeper without usher. zk_raw.h is the contract. */
#include "zk_raw.h"

#include "test.h"

#include <poll.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

struct zk_raw {
    zhandle_t *zh;
    int unanswered; /* requests without an answer */
    int rc;         /* the first result other than ZOK */
    char *text;
    size_t room, length;
    int count;
    char youngest[64]; /* the listed name with the highest sequence number */
};

static void ignore(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)zh;
    (void)type;
    (void)state;
    (void)path;
    (void)context;
}

static void say_nothing(const char *message)
{
    (void)message;
}

static void step(struct zk_raw *raw)
{
    int fd = -1;
    int interest = 0;
    struct timeval tv = {0, 0};
    (void)zookeeper_interest(raw->zh, &fd, &interest, &tv);
    struct pollfd polled = {fd,
                            (short)((interest & ZOOKEEPER_READ ? POLLIN : 0) |
                                    (interest & ZOOKEEPER_WRITE ? POLLOUT : 0)),
                            0};
    (void)poll(&polled, 1, (int)(tv.tv_sec * 1000 + tv.tv_usec / 1000) + 1);
    int events = (polled.revents & (POLLIN | POLLHUP | POLLERR) ? ZOOKEEPER_READ : 0) |
                 (polled.revents & POLLOUT ? ZOOKEEPER_WRITE : 0);
    (void)zookeeper_process(raw->zh, events);
}

/* Wait for the request that was just sent; rc != ZOK: it could not be sent. */
static int finish(struct zk_raw *raw, int rc)
{
    EXPECT_EQ(rc, ZOK);
    raw->rc = ZOK;
    for (raw->unanswered = 1; raw->unanswered > 0;) {
        step(raw);
    }
    return raw->rc;
}

struct zk_raw *zk_raw_open(int port, const char *auth)
{
    char host[32];
    struct zk_raw *raw = calloc(1, sizeof *raw);
    EXPECT(raw != NULL);
    (void)snprintf(host, sizeof host, "127.0.0.1:%d", port);
    raw->zh = zookeeper_init2(host, ignore, 60000, NULL, NULL, 0, say_nothing);
    EXPECT(raw->zh != NULL);
    if (auth != NULL) {
        EXPECT_EQ(zoo_add_auth(raw->zh, "digest", auth, (int)strlen(auth), NULL, NULL), ZOK);
    }
    while (zoo_state(raw->zh) != ZOO_CONNECTED_STATE) {
        step(raw);
    }
    return raw;
}

void zk_raw_close(struct zk_raw *raw)
{
    (void)zookeeper_close(raw->zh);
    free(raw);
}

static void answered(struct zk_raw *raw, int rc)
{
    raw->rc = raw->rc == ZOK ? rc : raw->rc;
    raw->unanswered--;
}

static void on_data(int rc, const char *text, int length, const struct Stat *stat, const void *raw_)
{
    struct zk_raw *raw = (struct zk_raw *)(uintptr_t)raw_;
    (void)stat;
    if (rc == ZOK && raw->room > 0) {
        (void)snprintf(raw->text, raw->room, "%.*s", length < 0 ? 0 : length, text);
    }
    answered(raw, rc);
}

static void on_stat(int rc, const struct Stat *stat, const void *raw)
{
    (void)stat;
    answered((struct zk_raw *)(uintptr_t)raw, rc);
}

static void on_done(int rc, const void *raw)
{
    answered((struct zk_raw *)(uintptr_t)raw, rc);
}

static void on_name(int rc, const char *name, const void *raw)
{
    (void)name;
    answered((struct zk_raw *)(uintptr_t)raw, rc);
}

static void on_names(int rc, const struct String_vector *names, const void *raw_)
{
    struct zk_raw *raw = (struct zk_raw *)(uintptr_t)raw_;
    const char *highest = "";
    raw->youngest[0] = '\0';
    for (int32_t n = 0; rc == ZOK && n < names->count; n++) {
        size_t length = strlen(names->data[n]);
        const char *sequence = names->data[n] + (length < 10 ? 0 : length - 10);
        raw->length += length;
        if (strcmp(sequence, highest) > 0) {
            highest = sequence;
            (void)snprintf(raw->youngest, sizeof raw->youngest, "%s", names->data[n]);
        }
    }
    raw->count = rc == ZOK ? names->count : 0;
    answered(raw, rc);
}

int zk_raw_get(struct zk_raw *raw, const char *path, char *text, size_t room)
{
    raw->text = text;
    raw->room = room;
    return finish(raw, zoo_aget(raw->zh, path, 0, on_data, raw));
}

int zk_raw_set(struct zk_raw *raw, const char *path, const char *text)
{
    return finish(raw, zoo_aset(raw->zh, path, text, (int)strlen(text), -1, on_stat, raw));
}

int zk_raw_delete(struct zk_raw *raw, const char *path)
{
    return finish(raw, zoo_adelete(raw->zh, path, -1, on_done, raw));
}

int zk_raw_restrict(struct zk_raw *raw, const char *path)
{
    struct ACL ours = ZOO_CREATOR_ALL_ACL.data[0];
    ours.perms = ZOO_PERM_ALL & ~ZOO_PERM_ADMIN;
    struct ACL_vector acl = {1, &ours};
    return finish(raw, zoo_aset_acl(raw->zh, path, -1, &acl, on_done, raw));
}

int zk_raw_list(struct zk_raw *raw, const char *path, size_t *length)
{
    raw->length = 0;
    int rc = finish(raw, zoo_aget_children(raw->zh, path, 0, on_names, raw));
    *length = raw->length;
    return rc == ZOK ? raw->count : rc;
}

int zk_raw_delete_youngest(struct zk_raw *raw, const char *path)
{
    size_t length;
    char ticket[256];
    EXPECT(zk_raw_list(raw, path, &length) > 0);
    (void)snprintf(ticket, sizeof ticket, "%s/%s", path, raw->youngest);
    return zk_raw_delete(raw, ticket);
}

int zk_raw_tickets(struct zk_raw *raw, const char *prefix, int count)
{
    enum { AT_ONCE = 500 };
    raw->rc = ZOK;
    raw->unanswered = 0;
    for (int sent = 0; sent < count || raw->unanswered > 0;) {
        for (; sent < count && raw->unanswered < AT_ONCE; sent++, raw->unanswered++) {
            EXPECT_EQ(zoo_acreate(raw->zh, prefix, "", 0, &ZOO_OPEN_ACL_UNSAFE,
                                  ZOO_EPHEMERAL_SEQUENTIAL, on_name, raw),
                      ZOK);
        }
        step(raw);
    }
    return raw->rc;
}
