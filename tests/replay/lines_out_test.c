/* lines_out_test.c - what goes in as lines comes out as the same bytes, however they lie in the buffer; and a file takes
 * no more of a disk than it has bytes. */
#define _GNU_SOURCE /* fallocate */
#include "replay/lines_out.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 40 * LINES_OUT_BYTES };

static void put(lines_out *o, const char *line, size_t len) {
    memcpy(o->at, line, len);
    lines_out_line(o, o->at + len);
}

/* Lines of any length; returns how many bytes they have, and has them in wanted. */
static size_t put_lines(lines_out *o, uint64_t *random, char *wanted) {
    size_t len = 0;

    while (len < BYTES) {
        const size_t line =
            1 + test_random(random) % (test_random(random) % 2 ? 200 : LINES_OUT_LINE);
        for (size_t i = 0; i < line; i++) wanted[len + i] = (char)('a' + (len + i) % 23);
        wanted[len + line - 1] = '\n';
        put(o, wanted + len, line);
        len += line;
    }
    return len;
}

TEST(lines_come_out_as_they_went_in_however_they_lie_in_the_buffer) {
    uint64_t   random = test_seed();
    FILE      *file = tmpfile();
    lines_out *o = malloc(sizeof *o);
    char      *wanted = malloc(BYTES + LINES_OUT_LINE), *there = malloc(BYTES + LINES_OUT_LINE);
    int        code = -1;

    CHECK(file && o && wanted && there);
    lines_out_begin(o, fileno(file));
    const size_t len = put_lines(o, &random, wanted);
    CHECK_INT(lines_out_end(o, &code), DN_OK);
    CHECK_INT(code, 0);
    rewind(file);
    CHECK_UINT(fread(there, 1, BYTES + LINES_OUT_LINE, file), len);
    CHECK(memcmp(there, wanted, len) == 0);
    free(there);
    free(wanted);
    free(o);
    (void)fclose(file);
}

TEST(the_room_that_was_asked_for_ahead_and_not_needed_is_given_back) {
    uint64_t    random = test_seed();
    FILE       *file = tmpfile();
    lines_out  *o = malloc(sizeof *o);
    char       *wanted = malloc(BYTES + LINES_OUT_LINE);
    int         code = 0;
    struct stat st;

    CHECK(file && o && wanted);
    lines_out_begin(o, fileno(file));
    const size_t len = put_lines(o, &random, wanted);
    CHECK_INT(lines_out_end(o, &code), DN_OK);
    CHECK_INT(fstat(fileno(file), &st), 0);
    CHECK_INT(st.st_size, (int64_t)len);
    CHECK_MSG(st.st_blocks * 512 < (int64_t)len + (1 << 20), "%lld blocks for %zu bytes",
              (long long)st.st_blocks, len);
    free(wanted);
    free(o);
    (void)fclose(file);
}

/* A pipe has no blocks, and cannot be asked for any: that is no failure. */
TEST(what_is_no_file_on_a_disk_takes_lines_too) {
    lines_out *o = malloc(sizeof *o);
    char      *line = malloc(LINES_OUT_LINE), *there = malloc(LINES_OUT_BYTES);
    int        ends[2], code = 0;
    size_t     put_in = 0, came = 0;

    CHECK(o && line && there && pipe(ends) == 0);
    CHECK(fcntl(ends[1], F_SETPIPE_SZ, 2 * LINES_OUT_BYTES) >= 2 * LINES_OUT_BYTES);
    memset(line, 'x', LINES_OUT_LINE);
    lines_out_begin(o, ends[1]);
    for (; put_in < LINES_OUT_BYTES + LINES_OUT_LINE; put_in += LINES_OUT_LINE)
        put(o, line, LINES_OUT_LINE);
    CHECK_INT(lines_out_end(o, &code), DN_OK);
    (void)close(ends[1]);
    for (ssize_t n; (n = read(ends[0], there, LINES_OUT_BYTES)) > 0;) came += (size_t)n;
    CHECK_UINT(came, put_in);
    (void)close(ends[0]);
    free(there);
    free(line);
    free(o);
}

TEST(a_disk_that_is_full_is_told_once_and_what_comes_behind_is_let_go) {
    uint64_t   random = test_seed();
    lines_out *o = malloc(sizeof *o);
    char      *wanted = malloc(BYTES + LINES_OUT_LINE);
    const int  fd = open("/dev/full", O_WRONLY);
    int        code = 0;

    CHECK(o && wanted && fd >= 0);
    lines_out_begin(o, fd);
    (void)put_lines(o, &random, wanted);
    CHECK_INT(lines_out_end(o, &code), DN_EIO);
    CHECK_INT(code, ENOSPC);
    free(wanted);
    free(o);
    (void)close(fd);
}
