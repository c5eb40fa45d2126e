/* cli_text.c - text and files, for all commands. */
#include "cli_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *text_of_errno(int code) {
    switch (code) {
    case ENOENT: return "there is no such file";
    case ENOTDIR: return "a part of its path is not a directory";
    case EISDIR: return "it is a directory, not a file";
    case EACCES:
    case EPERM: return "this user may not read it";
    case ELOOP: return "its symbolic links form a loop";
    case EMFILE:
    case ENFILE: return "too many files are open";
    default: return "it cannot be read";
    }
}

int text_open(const char *path, FILE **out_file, const char **out_fault) {
    const int   fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat about;
    FILE       *file;

    if (fd < 0) {
        *out_fault = text_of_errno(errno);
        return DN_EINVAL;
    }
    if (fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) {
        (void)close(fd);
        *out_fault = text_of_errno(EISDIR);
        return DN_EINVAL;
    }
    file = fdopen(fd, "r");
    if (!file) {
        (void)close(fd);
        return DN_ENOMEM;
    }
    *out_file = file;
    return DN_OK;
}

char *text_copy(const char *bytes, size_t len) {
    char *const copy = malloc(len + 1);

    if (!copy) return NULL;
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

bool text_whole(const char *text, const char *end_text, uint64_t *out_number) {
    char *end = NULL;

    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *out_number = strtoull(text, &end, 0);
    return errno == 0 && strcmp(end, end_text) == 0;
}
