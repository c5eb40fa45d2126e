/* cmd_users_file.c - imports and exports files of users. Only a piece of a file is in memory at a time. */
#include "cli_text.h"
#include "client.h"
#include "progress.h"

#include "api/userfile.h"
#include "api/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 500 };

/* ---- import ---- */

/* Sends the file unchanged: the daemon parses it, and reports errors by line. */
typedef struct upload {
    int      fd;
    int64_t  sent, lines;
    progress progress;
} upload;

static ssize_t import_read(void *context, char *bytes, size_t max) {
    upload *up = context;
    ssize_t got;

    do got = read(up->fd, bytes, max);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return got;
    for (const char *at = bytes, *end = bytes + got; (at = memchr(at, '\n', (size_t)(end - at)));
         at++)
        up->lines++;
    up->sent += got;
    progress_at(&up->progress, up->sent, up->lines, "lines");
    return got;
}

static uint64_t count(const json_t *answer, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(answer, key));
}

static int import_say(const call *c, const json_t *answer) {
    const uint64_t rejected = count(answer, "rejected"), tomorrow = count(answer, "begin_tomorrow");
    const json_t  *errors = json_object_get(answer, "errors");
    char           users[DN_WORDS], lines[DN_WORDS];

    for (size_t i = 0; i < json_array_size(errors); i++) {
        const json_t *e = json_array_get(errors, i);
        const char   *detail = json_string_value(json_object_get(e, "detail"));
        (void)fprintf(stderr, "%s:%llu: %s\n", c->operands[0], (unsigned long long)count(e, "line"),
                      detail ? detail : "invalid line");
    }
    if (rejected > json_array_size(errors))
        (void)fprintf(stderr, "and %llu more lines\n",
                      (unsigned long long)rejected - json_array_size(errors));
    printf("%s registered, %s refused\n", dn_words_count(count(answer, "accepted"), "user", users),
           dn_words_count(rejected, "line", lines));
    if (tomorrow > 0)
        printf("%llu of them %s tomorrow, because today's cutoff has passed; starts_on today makes "
               "today the first day\n",
               (unsigned long long)tomorrow, tomorrow == 1 ? "begins" : "begin");
    return DN_EXIT_DONE;
}

static bool format_read(const char *word, dn_userfile_format *out_format) {
    if (!word) return true;
    if (strcmp(word, "csv") == 0) *out_format = DN_USERFILE_CSV;
    else if (strcmp(word, "ndjson") == 0) *out_format = DN_USERFILE_NDJSON;
    else return false;
    return true;
}

static const char *type_of(dn_userfile_format format) {
    switch (format) {
    case DN_USERFILE_CSV: return "text/csv";
    case DN_USERFILE_NDJSON: return "application/x-ndjson";
    case DN_USERFILE_ANY: break;
    }
    return "application/octet-stream"; /* the daemon decides by the first byte */
}

/* A pipe may be slow and the daemon has a timeout, so the whole input is gathered in a file before it is sent. */
static int gather(const call *c, upload *up, FILE **out_file) {
    static char bytes[1 << 16];
    ssize_t     got = 0;
    bool        kept = true;

    *out_file = tmpfile();
    if (!*out_file)
        return complain(DN_EXIT_FAILED, "%s: cannot create a temporary file: %s", c->operands[0],
                        strerror(errno));
    progress_begin(&up->progress, 0);
    while (kept && (got = import_read(up, bytes, sizeof bytes)) > 0)
        kept = fwrite(bytes, 1, (size_t)got, *out_file) == (size_t)got;
    progress_end(&up->progress);
    if (got < 0) return complain(DN_EXIT_FAILED, "%s: %s", c->operands[0], text_of_errno(errno));
    if (!kept || fflush(*out_file) != 0)
        return complain(DN_EXIT_FAILED, "%s: cannot write the temporary file: %s", c->operands[0],
                        strerror(errno));
    (void)lseek(fileno(*out_file), 0, SEEK_SET);
    *up = (upload){.fd = fileno(*out_file)};
    return DN_EXIT_DONE;
}

/* True if the transfer broke off or the daemon failed. A refused request is refused before any line is read. */
static bool may_have_begun(int status, int64_t sent) {
    return status >= 500 || (status == 0 && sent > 0);
}

static int import_run(const call *c, client *asked, upload *up, dn_userfile_format format) {
    struct stat about = {0};
    int         exit_code = DN_EXIT_DONE;

    progress_begin(&up->progress, fstat(up->fd, &about) == 0 ? about.st_size : 0);
    const wire_body body = {.type = type_of(format), .read = import_read, .context = up};
    json_t         *answer =
        client_upload(asked, "/api/v1/daily/users:import", &body, "accepted", &exit_code);
    progress_end(&up->progress);
    if (!answer && may_have_begun(client_status(asked), up->sent))
        return complain(
            exit_code, "some users of %s may be registered; importing the whole file again is safe",
            c->operands[0]);
    if (!answer) return exit_code;
    const bool bad = count(answer, "rejected") > 0;
    exit_code = c->json ? print_json(json_incref(answer)) : import_say(c, answer);
    json_decref(answer);
    return exit_code == DN_EXIT_DONE && bad ? DN_EXIT_FAILED : exit_code;
}

int cmd_users_import(const call *c) {
    const char        *name = c->operands[0], *fault = NULL;
    const bool         from_stdin = strcmp(name, "-") == 0;
    dn_userfile_format format = dn_userfile_format_of(name);
    FILE              *file = stdin;
    int                exit_code = DN_EXIT_DONE;

    if (!format_read(call_flag(c, "format"), &format))
        return complain(DN_EXIT_USAGE, "--format: use csv or ndjson");
    if (!from_stdin && text_open(name, &file, &fault) < 0)
        return complain(DN_EXIT_FAILED, "%s: %s", name, fault ? fault : "out of memory");
    DN_AUTO(client) asked = client_of(c, &exit_code);
    upload      up = {.fd = fileno(file)};
    struct stat about;
    FILE       *gathered = NULL;
    if (asked && (fstat(up.fd, &about) < 0 || !S_ISREG(about.st_mode)))
        exit_code = gather(c, &up, &gathered);
    if (asked && exit_code == DN_EXIT_DONE) exit_code = import_run(c, asked, &up, format);
    if (gathered) (void)fclose(gathered);
    if (!from_stdin) (void)fclose(file);
    return exit_code;
}

/* ---- export ---- */

static int export_user(const json_t *user, dn_userfile_format format) {
    const json_t    *id = json_object_get(user, "id");
    const char      *due = json_string_value(json_object_get(user, "due"));
    const char      *day = json_string_value(json_object_get(user, "starts_on"));
    dn_userfile_user u = {
        .id = json_string_value(id), .id_len = json_string_length(id), .starts_on = DN_DAY_NONE};

    if (!u.id || !due || dn_due_read(due, strlen(due), &u.due) < 0) return DN_EINVAL;
    if (day && dn_day_read(day, strlen(day), &u.starts_on) < 0) return DN_EINVAL;
    return dn_userfile_write(stdout, format, &u);
}

int cmd_users_export(const call *c) {
    dn_userfile_format format = DN_USERFILE_CSV;
    int                exit_code = DN_EXIT_DONE, rc = DN_OK;
    json_t            *page = NULL;
    const char        *cursor = NULL;

    if (!format_read(call_flag(c, "format"), &format))
        return complain(DN_EXIT_USAGE, "--format: use csv or ndjson");
    DN_AUTO(client) asked = client_of(c, &exit_code);
    if (!asked) return exit_code;
    rc = dn_userfile_write_header(stdout, format);
    do {
        json_t *next = client_get(asked, "/api/v1/daily/users",
                                  json_pack("{s:s?, s:i}", "cursor", cursor, "limit", PAGE),
                                  "items", &exit_code);
        json_decref(page);
        page = next;
        if (!page) return exit_code;
        const json_t *items = json_object_get(page, "items");
        for (size_t i = 0; i < json_array_size(items) && rc == DN_OK; i++)
            rc = export_user(json_array_get(items, i), format);
        cursor = json_string_value(json_object_get(page, "next_cursor"));
    } while (cursor && rc == DN_OK);
    json_decref(page);
    if (rc < 0) return complain(DN_EXIT_FAILED, "cannot write the users: %s", dn_error_text(rc));
    return DN_EXIT_DONE;
}
