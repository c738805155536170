/* Requests of a session and their answers. client.h is the contract. */
#include "zk/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int errno_of(int rc)
{
    switch (rc) {
    case ZOK:
        return 0;
    case ZNONODE:
        return -ENOENT;
    case ZNODEEXISTS:
        return -EEXIST;
    case ZNOTEMPTY:
        return -ENOTEMPTY;
    case ZBADVERSION:
        return -ESTALE;
    case ZNOAUTH:
    case ZAUTHFAILED:
    case ZINVALIDACL:
        return -EACCES;
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE:
        return -EKEYEXPIRED;
    case ZNOCHILDRENFOREPHEMERALS:
    case ZBADARGUMENTS:
        return -EINVAL;
    case ZMARSHALLINGERROR:
    case ZSYSTEMERROR:
        return -ENOMEM;
    /* ZRUNTIMEINCONSISTENCY is one of these. The library has opened a new connection and matched
       its first answer with a request of the old one, so the answer to that request is lost. */
    default: /* connection lost, session moved, throttled: the caller must repeat the request */
        return -ECONNRESET;
    }
}

/* Complete a request with the library's result, also if its answer will never come. Only answers
   that need the leader confirm the session: a follower that has lost its leader still answers
   reads. */
static void complete(struct zk_request *request, int rc)
{
    struct zk_exchange *exchange = request->exchange;
    struct zk_client *client = exchange->client;
    bool by_leader = request->kind == ZK_CREATE || request->kind == ZK_SYNC ||
                     request->kind == ZK_DELETE || request->kind == ZK_MULTI;
    request->error = errno_of(rc);
    client->answered_ns = zk_now_ns();
    client->round_trip_ns = client->answered_ns - request->sent_ns;
    client->unanswered--;
    if (by_leader && (rc == ZOK || rc < ZAPIERROR) && request->error != -EKEYEXPIRED &&
        request->error != -ECONNRESET && request->sent_ns > client->confirmed_ns) {
        client->confirmed_ns = request->sent_ns;
    }
    if (--exchange->left == 0) {
        (void)sem_post(&exchange->done);
    }
}

static void store_text(struct zk_request *request, const char *text, size_t length)
{
    request->text = malloc(length + 1);
    if (request->text != NULL) {
        memcpy(request->text, text, length);
        request->text[length] = '\0';
        request->text_length = length;
    }
}

static void on_string(int rc, const char *text, const void *context)
{
    struct zk_request *request = (struct zk_request *)(uintptr_t)context;
    if (rc == ZOK && text != NULL) {
        store_text(request, text, strlen(text));
    }
    complete(request, rc);
}

static void on_data(int rc, const char *text, int length, const struct Stat *stat,
                    const void *context)
{
    struct zk_request *request = (struct zk_request *)(uintptr_t)context;
    if (rc == ZOK) {
        store_text(request, text == NULL ? "" : text, length < 0 ? 0 : (size_t)length);
        request->node_version = stat->version;
        request->created_zxid = (uint64_t)stat->czxid;
        request->created_ms = stat->ctime;
        request->changed_ms = stat->mtime;
    }
    complete(request, rc);
}

static void on_list(int rc, const struct String_vector *names, const struct Stat *stat,
                    const void *context)
{
    struct zk_request *request = (struct zk_request *)(uintptr_t)context;
    if (rc == ZOK) {
        request->names = calloc((size_t)names->count + 1, sizeof *request->names);
        /* cversion counts creations plus deletions, modulo 2^32. */
        request->created_count = ((uint32_t)stat->cversion + (uint32_t)stat->numChildren) / 2;
    }
    for (int32_t n = 0; request->names != NULL && n < names->count; n++) {
        request->names[n] = strdup(names->data[n]);
        request->name_count += request->names[n] != NULL;
        if (request->names[n] == NULL) {
            rc = ZSYSTEMERROR;
            break;
        }
    }
    complete(request, rc);
}

static void on_acl(int rc, struct ACL_vector *acl, struct Stat *stat, const void *context)
{
    struct zk_request *request = (struct zk_request *)(uintptr_t)context;
    (void)stat;
    for (int32_t a = 0; rc == ZOK && a < acl->count; a++) {
        /* "x" hides the hash: we may not read it */
        const char *hash = strrchr(acl->data[a].id.id, ':');
        if (strcmp(acl->data[a].id.scheme, "digest") == 0 && hash != NULL &&
            strcmp(hash, ":x") == 0) {
            rc = ZNOAUTH;
        }
    }
    if (rc == ZOK && !zk__adopt(request->exchange->client, acl)) {
        rc = ZSYSTEMERROR;
    }
    complete(request, rc);
}

static void on_done(int rc, const void *context)
{
    complete((struct zk_request *)(uintptr_t)context, rc);
}

void zk__on_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    struct zk_client *client = context;
    (void)zh;
    if (type == ZOO_SESSION_EVENT) {
        client->connected = state == ZOO_CONNECTED_STATE;
        client->expired = client->expired || state == ZOO_EXPIRED_SESSION_STATE;
        client->refused = client->refused || state == ZOO_AUTH_FAILED_STATE;
        (void)pthread_cond_broadcast(&client->changed);
    }
    for (struct zk_listener *listener = client->listeners; listener != NULL;
         listener = listener->next) {
        if (type == ZOO_SESSION_EVENT || (path != NULL && strcmp(path, listener->path) == 0)) {
            (void)sem_post(&listener->wakeup);
        }
    }
}

static void fill_op(const struct zk_client *client, const struct zk_change *change, zoo_op_t *op)
{
    switch (change->what) {
    case ZK_MAKE:
        zoo_create_op_init(op, change->path, change->data, (int)change->length, client->acl, 0,
                           NULL, 0);
        break;
    case ZK_TICKET:
        zoo_create_op_init(op, change->path, "", 0, client->acl, ZOO_EPHEMERAL_SEQUENTIAL,
                           change->made, (int)change->room);
        break;
    case ZK_SET:
        zoo_set_op_init(op, change->path, change->data, (int)change->length, change->version, NULL);
        break;
    case ZK_DROP:
        zoo_delete_op_init(op, change->path, change->version);
        break;
    case ZK_CHECK:
        zoo_check_op_init(op, change->path, change->version);
        break;
    }
}

static int send_multi(struct zk_client *client, struct zk_request *request)
{
    zoo_op_t *ops = calloc(request->count, sizeof *ops);
    request->results = calloc(request->count, sizeof(zoo_op_result_t));
    if (ops == NULL || request->results == NULL) {
        free(ops);
        return ZSYSTEMERROR;
    }
    for (unsigned c = 0; c < request->count; c++) {
        fill_op(client, &request->changes[c], &ops[c]);
    }
    int rc = zoo_amulti(client->zh, (int)request->count, ops, request->results, on_done, request);
    free(ops);
    return rc;
}

void zk__send(struct zk_client *client, struct zk_request *request)
{
    int rc = ZBADARGUMENTS;
    request->sent_ns = zk_now_ns();
    if (client->unanswered++ == 0) {
        client->answered_ns = request->sent_ns;
    }
    if (client->zh == NULL) {
        complete(request, ZSESSIONEXPIRED);
        return;
    }
    switch (request->kind) {
    case ZK_CREATE:
        rc = zoo_acreate(client->zh, request->path, request->data, (int)request->length,
                         client->acl, ZOO_EPHEMERAL, on_string, request);
        break;
    case ZK_GET:
        rc = zoo_aget(client->zh, request->path, 0, on_data, request);
        break;
    case ZK_GET_WATCH:
        rc = zoo_awget(client->zh, request->path, zk__on_event, client, on_data, request);
        break;
    case ZK_LIST:
        rc = zoo_aget_children2(client->zh, request->path, 0, on_list, request);
        break;
    case ZK_SYNC:
        rc = zoo_async(client->zh, request->path, on_string, request);
        break;
    case ZK_DELETE:
        rc = zoo_adelete(client->zh, request->path, request->version, on_done, request);
        break;
    case ZK_ADOPT:
        rc = zoo_aget_acl(client->zh, request->path, on_acl, request);
        break;
    case ZK_MULTI:
        rc = send_multi(client, request);
        break;
    }
    if (rc != ZOK) { /* then the library calls no callback */
        complete(request, rc);
    }
}

void zk__wake_thread(struct zk_client *client)
{
    uint64_t one = 1;
    (void)!write(client->wake, &one, sizeof one);
}

int zk_client_ask(struct zk_client *client, struct zk_request *requests, unsigned count)
{
    struct zk_exchange exchange = {.client = client, .left = count};
    int error = 0;
    (void)sem_init(&exchange.done, 0, 0);
    (void)pthread_mutex_lock(&client->mutex);
    for (unsigned r = 0; r < count; r++) {
        requests[r].exchange = &exchange;
    }
    for (unsigned r = 0; r < count; r++) {
        zk__send(client, &requests[r]);
    }
    (void)pthread_mutex_unlock(&client->mutex);
    zk__wake_thread(client);
    while (sem_wait(&exchange.done) != 0) {
    }
    /* The thread that posted `done` may still use the exchange. It holds the mutex while it
       does. */
    (void)pthread_mutex_lock(&client->mutex);
    (void)pthread_mutex_unlock(&client->mutex);
    (void)sem_destroy(&exchange.done);
    for (unsigned r = 0; r < count; r++) {
        free(requests[r].results);
        requests[r].results = NULL;
        if (requests[r].error == 0 && requests[r].kind == ZK_LIST && requests[r].names == NULL) {
            requests[r].error = -ENOMEM;
        }
        error = error == 0 ? requests[r].error : error;
    }
    return error;
}

void zk_client_back_off(struct zk_client *client, unsigned tries)
{
    (void)pthread_mutex_lock(&client->mutex);
    uint64_t most = (uint64_t)client->round_trip_ns << (tries < 5 ? tries + 1 : 6);
    (void)pthread_mutex_unlock(&client->mutex);
    most = most > 1 << 29 ? 1 << 29 : most + 1;
    uint64_t now = (uint64_t)zk_now_ns();
    uint64_t ns = (now * 0x9e3779b97f4a7c15U >> 32) % most;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

void zk_request_clear(struct zk_request *requests, unsigned count)
{
    for (unsigned r = 0; r < count; r++) {
        for (size_t n = 0; n < requests[r].name_count; n++) {
            free(requests[r].names[n]);
        }
        free(requests[r].names);
        free(requests[r].text);
        requests[r].names = NULL;
        requests[r].text = NULL;
        requests[r].name_count = 0;
    }
}
