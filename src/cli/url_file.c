/* url_file.c - see url_file.h. */
#include "url_file.h"

#include "base/text.h"
#include "cli_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096 + 32 };

static void path_of(const char *data, const char *end, char path[PATH]) {
    (void)snprintf(path, PATH, "%s/url%s", data, end);
}

/* "0.0.0.0:1440" is an address to listen at, not to connect to. */
static void reachable(const char *listens, char out[URL_FILE_LINE]) {
    const char *port = strrchr(listens, ':');

    if (port && strncmp(listens, "0.0.0.0:", 8) == 0)
        (void)snprintf(out, URL_FILE_LINE, "127.0.0.1%s", port);
    else if (port && strncmp(listens, "[::]:", 5) == 0)
        (void)snprintf(out, URL_FILE_LINE, "[::1]%s", port);
    else (void)snprintf(out, URL_FILE_LINE, "%s", listens);
}

/* Writes the file whole or not at all. No sync: after a power failure no daemon runs either. */
int url_file_put(const char *data, const char *listens, const char *sign, const char *pin,
                 char *why) {
    char path[PATH], fresh[PATH], host[URL_FILE_LINE], text[4 * URL_FILE_LINE];

    path_of(data, "", path);
    path_of(data, ".new", fresh);
    reachable(listens, host);
    const int len = snprintf(text, sizeof text, "http%s://%s\n%s\n%s%s", pin ? "s" : "", host, sign,
                             pin ? pin : "", pin ? "\n" : "");
    (void)unlink(fresh);
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool      put = fd >= 0 && write(fd, text, (size_t)len) == len;
    if (fd >= 0) put = close(fd) == 0 && put;
    if (put && rename(fresh, path) == 0) return DN_OK;
    return dn_refuse(DN_EIO, why, URL_FILE_WHY, "%.400s cannot be written: %s", path,
                     strerror(errno));
}

void url_file_remove(const char *data) {
    char path[PATH];

    path_of(data, "", path);
    (void)unlink(path);
}

static void line_read(FILE *file, char line[URL_FILE_LINE]) {
    if (!fgets(line, URL_FILE_LINE, file)) line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

int url_file_get(const char *data, url_file *out, char *why) {
    char        path[PATH];
    struct stat about;

    path_of(data, "", path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE     *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file && errno == ENOENT) return DN_EDEAD;
    if (!file || fstat(fd, &about) < 0) {
        (void)snprintf(why, URL_FILE_WHY, "%.400s: %s", path, text_of_errno(errno));
        if (file) (void)fclose(file);
        else if (fd >= 0) (void)close(fd);
        return DN_EIO;
    }
    out->owner = about.st_uid;
    line_read(file, out->url);
    line_read(file, out->sign);
    line_read(file, out->pin);
    (void)fclose(file);
    return *out->url ? DN_OK : DN_EDEAD;
}
