/* disk_room_test.c - blocks that are asked for ahead are there, change no length, and go when they were not needed. */
#define _GNU_SOURCE /* fallocate */
#include "base/preallocate.h"
#include "test.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

/* Where the system can, it is to be asked: a file system in memory, a disk that is nearly full are not. */
static bool can_be_asked(void) {
    FILE         *file = tmpfile();
    struct statfs at;

    CHECK(file);
    CHECK_INT(fstatfs(fileno(file), &at), 0);
    const bool can = at.f_type != TMPFS_MAGIC &&
                     (int64_t)at.f_bavail * (int64_t)at.f_bsize > INT64_C(2048) * MIB &&
                     fallocate(fileno(file), FALLOC_FL_KEEP_SIZE, 0, MIB) == 0;
    (void)fclose(file);
    return can;
}

static int64_t blocks_of(int fd) {
    struct stat st;

    CHECK_INT(fstat(fd, &st), 0);
    return (int64_t)st.st_blocks * 512;
}

static int64_t length_of(int fd) {
    struct stat st;

    CHECK_INT(fstat(fd, &st), 0);
    return st.st_size;
}

TEST(what_is_asked_for_is_there_before_it_is_written_and_what_is_not_written_goes) {
    dn_preallocation room;
    FILE            *file = tmpfile();

    CHECK(file);
    const int fd = fileno(file);
    dn_preallocate_begin(&room, fd);
    dn_preallocate_ask(&room, fd, 3 * MIB);
    CHECK_INT(length_of(fd), 0);
    CHECK(room.asks == can_be_asked());
    if (room.asks) CHECK_MSG(blocks_of(fd) >= 3 * MIB, "%lld", (long long)blocks_of(fd));
    CHECK_INT(pwrite(fd, "x", 1, 5000), 1);
    CHECK_INT(dn_preallocate_end(&room, fd, 5001), DN_OK);
    CHECK_INT(length_of(fd), 5001);
    CHECK_MSG(blocks_of(fd) < MIB, "%lld", (long long)blocks_of(fd));
    (void)fclose(file);
}

TEST(of_a_file_that_grows_it_is_asked_some_times_and_at_most_sixteen_mebibytes_ahead) {
    dn_preallocation room;
    FILE            *file = tmpfile();
    int              asked = 0;

    CHECK(file);
    const int fd = fileno(file);
    dn_preallocate_begin(&room, fd);
    for (int64_t bytes = 4096; bytes < 128 * MIB; bytes += 4096) {
        const int64_t before = room.asked;
        dn_preallocate_ask(&room, fd, bytes);
        asked += room.asked != before;
        if (room.asks) CHECK(room.asked >= bytes && room.asked <= bytes + 16 * MIB);
    }
    CHECK(room.asks == can_be_asked());
    if (room.asks) CHECK_MSG(asked > 3 && asked < 20, "asked %d times", asked);
    CHECK_INT(dn_preallocate_end(&room, fd, 0), DN_OK);
    CHECK_INT(blocks_of(fd), 0);
    (void)fclose(file);
}

TEST(what_has_no_blocks_is_asked_for_none_any_more_and_that_is_no_failure) {
    dn_preallocation room;
    int              ends[2];

    CHECK_INT(pipe(ends), 0);
    dn_preallocate_begin(&room, ends[1]);
    dn_preallocate_ask(&room, ends[1], MIB);
    CHECK(!room.asks);
    CHECK_INT(dn_preallocate_end(&room, ends[1], MIB), DN_OK);
    (void)close(ends[0]);
    (void)close(ends[1]);
}
