/* own_dir.h - a file in the working directory, which is a new one of the test's own, and gone at its end. */
#ifndef DIURNAL_TESTS_CLI_OWN_DIR_H
#define DIURNAL_TESTS_CLI_OWN_DIR_H

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char        own_dir[] = "/tmp/diurnal-cli-XXXXXX";
static const char *own_file; /* the one there is */

static inline void own_dir_leave(void) {
    (void)unlink(own_file);
    (void)chdir("/");
    (void)rmdir(own_dir);
}

/* Of the same name each time. */
static inline void own_file_write(const char *name, const char *bytes, size_t len) {
    if (!own_file) {
        CHECK(mkdtemp(own_dir) && chdir(own_dir) == 0);
        (void)atexit(own_dir_leave);
        own_file = name;
    }
    FILE *const file = fopen(name, "w");
    CHECK(file);
    CHECK(fwrite(bytes, 1, len, file) == len);
    CHECK(fclose(file) == 0);
}

#endif
