/* disk_room.c - see disk_room.h. */
#define _GNU_SOURCE /* fallocate */
#include "preallocate.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* SPARE: so many times what is asked for is to be free, or the last blocks of a disk would be taken from who needs them. */
enum { LEAST = 1 << 20, MOST = 1 << 24, SPARE = 64 };

/* In memory there are no blocks, and what is asked for ahead is cleared twice. */
static bool is_in_memory(const struct statfs *at) { return at->f_type == TMPFS_MAGIC; }

static bool has_plenty(const struct statfs *at, int64_t bytes) {
    return (int64_t)at->f_bavail > bytes * SPARE / (int64_t)at->f_bsize;
}

void dn_preallocate_begin(dn_preallocation *room, int fd) {
    struct statfs at;

    *room = (dn_preallocation){.asks = fstatfs(fd, &at) == 0 && !is_in_memory(&at)};
}

void dn_preallocate_give_back(int fd) {
    struct stat file;

    if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode)) return;
    /* Not where there is none: it would count as written just now. */
    if ((int64_t)file.st_blocks * 512 > file.st_size + file.st_blksize)
        (void)!ftruncate(fd, file.st_size);
}

/* As much again as it has: a small file takes little, and of a large one it is asked rarely. */
void dn_preallocate_ask_slow_(dn_preallocation *room, int fd, int64_t bytes) {
    const int64_t more = bytes < LEAST ? LEAST : bytes > MOST ? MOST : bytes;
    struct statfs at;

    room->asks = fstatfs(fd, &at) == 0 && has_plenty(&at, more);
    if (!room->asks) return;
    room->asks = fallocate(fd, FALLOC_FL_KEEP_SIZE, room->asked, bytes + more - room->asked) == 0;
    if (room->asks) room->asked = bytes + more;
    else dn_preallocate_give_back(fd); /* a part of it may be there */
}

int dn_preallocate_end(dn_preallocation *room, int fd, int64_t bytes) {
    const bool was_asked = room->asked > 0;

    *room = (dn_preallocation){0};
    return was_asked && ftruncate(fd, bytes) < 0 ? DN_EIO : DN_OK;
}
