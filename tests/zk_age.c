/*
 * Make a node old: change, in the server's own snapshot, the number of nodes ever created below it.
 * ZooKeeper derives sequence numbers from that number. Creating 2^31 nodes for real would take
 * days.
 *
 * A snapshot stores for each node its path, its data and fields of fixed width. Its last 46 bytes
 * are a checksum of all before, a digest, and a second checksum. The checksums are Adler-32 in
 * eight bytes.
 */
#include "zk_server.h"

#include "scene.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEAL = 13, DIGEST = 20, TO_COUNT = 8 + 4 * 8 + 4 };

static void put_number(unsigned char *at, uint64_t number, int bytes)
{
    for (int b = bytes - 1; b >= 0; b--) {
        *at++ = (unsigned char)(number >> 8 * b);
    }
}

static uint32_t sum_of(const unsigned char *from, size_t length)
{
    uint32_t low = 1;
    uint32_t high = 0;
    for (size_t b = 0; b < length; b++) {
        low = (low + from[b]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

/* Find the newest snapshot. Each start of a server writes one. */
static void find_snapshot(const struct zk_server *server, char *path, size_t room)
{
    char directory[160];
    unsigned long long newest = 0;
    (void)snprintf(directory, sizeof directory, "%s/version-2", server->directory);
    DIR *opened = opendir(directory);
    EXPECT(opened != NULL);
    for (struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        if (strncmp(entry->d_name, "snapshot.", 9) == 0) {
            unsigned long long zxid = strtoull(entry->d_name + 9, NULL, 16);
            newest = zxid > newest ? zxid : newest;
        }
    }
    (void)closedir(opened);
    (void)snprintf(path, room, "%s/snapshot.%llx", directory, newest);
}

static void change_count(unsigned char *all, size_t size, const char *path, uint32_t count)
{
    size_t length = strlen(path);
    unsigned char *node = memmem(all, size, path, length);
    EXPECT(node != NULL && size > SEAL + DIGEST + SEAL);
    unsigned char *data = node + length;
    size_t data_length = (size_t)data[2] << 8 | data[3];
    put_number(data + 4 + data_length + TO_COUNT, count, 4);
    size_t first = size - SEAL - DIGEST - SEAL;
    put_number(all + first, sum_of(all, first), 8);
    put_number(all + size - SEAL, sum_of(all, size - SEAL), 8);
}

void zk_server_age(struct zk_server *server, const char *path, uint32_t count)
{
    static unsigned char all[1 << 20];
    char name[256];
    zk_server_kill(server);
    zk_server_restart(server); /* writes a snapshot with everything */
    zk_server_kill(server);
    find_snapshot(server, name, sizeof name);
    FILE *file = fopen(name, "r+");
    EXPECT(file != NULL);
    size_t size = fread(all, 1, sizeof all, file);
    EXPECT(size < sizeof all);
    change_count(all, size, path, count);
    rewind(file);
    EXPECT_EQ(fwrite(all, 1, size, file), size);
    EXPECT_EQ(fclose(file), 0);
    zk_server_restart(server);
}
