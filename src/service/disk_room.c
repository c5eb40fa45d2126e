/* disk_room.c - see disk_room.h. */
#define _GNU_SOURCE /* fallocate */
#include "disk_room.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

enum { LEAST = 1 << 20, MOST = 1 << 24 };

/* In memory there are no blocks, and what is asked for ahead is cleared twice. */
static bool is_in_memory(int fd) {
    struct statfs at;

    return fstatfs(fd, &at) == 0 && at.f_type == TMPFS_MAGIC;
}

void dn_disk_room_begin(dn_disk_room *room, int fd) {
    *room = (dn_disk_room){.asks = !is_in_memory(fd)};
}

/* As much again as it has: a small file takes little, and of a large one it is asked rarely. */
void dn_disk_room_ask_slow_(dn_disk_room *room, int fd, int64_t bytes) {
    const int64_t more = bytes < LEAST ? LEAST : bytes > MOST ? MOST : bytes;

    room->asks = fallocate(fd, FALLOC_FL_KEEP_SIZE, room->asked, bytes + more - room->asked) == 0;
    if (room->asks) room->asked = bytes + more;
}

int dn_disk_room_end(dn_disk_room *room, int fd, int64_t bytes) {
    const bool was_asked = room->asked > 0;

    *room = (dn_disk_room){0};
    return was_asked && ftruncate(fd, bytes) < 0 ? DN_EIO : DN_OK;
}
