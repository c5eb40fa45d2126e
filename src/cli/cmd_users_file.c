/* cmd_users_file.c - whole files of users, in and out. Only a page of them is ever in memory. */
#include "client.h"
#include "progress.h"
#include "text.h"

#include "api/control.h"
#include "api/userfile.h"
#include "api/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FAULTS_SAID = 100, /* the others are counted */
    BATCH_BYTES = DN_CONTROL_LINE_MAX - 4096,
    USER_BYTES_MAX = 2 * DN_ID_MAX + 64, /* as JSON: each byte of an id may get a \ */
    PAGE = 500,
};

/* ---- import ---- */

typedef struct import {
    const call *call;
    client     *client;
    json_t     *batch, *faults;
    uint64_t    lines[DN_CONTROL_SETS_MAX]; /* of the users of the batch */
    size_t      bytes;
    uint64_t    accepted, rejected, tomorrow;
    FILE       *file;
    progress    progress;
    int         exit_code;
} import;

static void import_fault(import *im, uint64_t line, const char *sentence) {
    im->rejected++;
    if (im->rejected > FAULTS_SAID) return;
    progress_end(&im->progress);
    if (!im->call->json)
        (void)fprintf(stderr, "%s:%llu: %s\n", im->call->operands[0], (unsigned long long)line,
                      sentence);
    (void)json_array_append_new(
        im->faults, json_pack("{s:I, s:s}", "line", (json_int_t)line, "detail", sentence));
}

static int import_on_fault(void *context, const char *sentence, uint64_t line) {
    import_fault(context, line, sentence);
    return DN_OK;
}

/* DN_EIO: the daemon did not take them; it has been complained of. */
static int import_send(import *im) {
    const size_t len = json_array_size(im->batch);

    if (len == 0) return DN_OK;
    json_t *answer = client_ask(
        im->client, json_pack("{s:s, s:O}", "op", "set", "users", im->batch), &im->exit_code);
    if (!answer) return DN_EIO;
    const json_t *items = json_object_get(answer, "items");
    for (size_t i = 0; i < len; i++) {
        const json_t *item = json_array_get(items, i);
        const char   *fault = json_string_value(json_object_get(item, "error"));
        if (fault) import_fault(im, im->lines[i], fault);
        else im->accepted++;
        if (json_is_true(json_object_get(item, "tomorrow"))) im->tomorrow++;
    }
    json_decref(answer);
    (void)json_array_clear(im->batch);
    im->bytes = 0;
    progress_at(&im->progress, ftello(im->file), (int64_t)im->accepted, "users");
    return DN_OK;
}

static int import_on_user(void *context, const dn_userfile_user *u, uint64_t line) {
    import *im = context;
    char    due[DN_DUE_TEXT], day[DN_DAY_TEXT];
    json_t *item;

    dn_due_write(u->due, due);
    item = json_pack("{s:s%, s:s}", "id", u->id, u->id_len, "due", due);
    if (item && u->starts_today) (void)json_object_set_new(item, "starts_on", json_string("today"));
    if (item && !u->starts_today && u->starts_on != DN_DAY_NONE) {
        dn_day_write(u->starts_on, day);
        (void)json_object_set_new(item, "starts_on", json_string(day));
    }
    im->lines[json_array_size(im->batch)] = line;
    if (!item || json_array_append_new(im->batch, item) < 0) return DN_ENOMEM;
    im->bytes += USER_BYTES_MAX - 2 * DN_ID_MAX + 2 * u->id_len;
    if (json_array_size(im->batch) < DN_CONTROL_SETS_MAX &&
        im->bytes + USER_BYTES_MAX < BATCH_BYTES)
        return DN_OK;
    return import_send(im);
}

static int import_say(import *im) {
    const bool bad = im->rejected > 0;
    char       users[DN_WORDS], lines[DN_WORDS];

    progress_end(&im->progress);
    if (im->call->json) {
        const int code =
            print_json(json_pack("{s:I, s:I, s:O}", "accepted", (json_int_t)im->accepted,
                                 "rejected", (json_int_t)im->rejected, "errors", im->faults));
        return code != DN_EXIT_DONE ? code : bad ? DN_EXIT_FAILED : DN_EXIT_DONE;
    }
    if (im->rejected > FAULTS_SAID)
        (void)fprintf(stderr, "and %llu more\n", (unsigned long long)im->rejected - FAULTS_SAID);
    printf("%s registered, %s refused\n", dn_words_count(im->accepted, "user", users),
           dn_words_count(im->rejected, "line", lines));
    if (im->tomorrow > 0)
        printf("%llu of them %s tomorrow, because today's cutoff has passed; starts_on today would "
               "have made today their first day\n",
               (unsigned long long)im->tomorrow, im->tomorrow == 1 ? "begins" : "begin");
    return bad ? DN_EXIT_FAILED : DN_EXIT_DONE;
}

static bool format_read(const char *word, dn_userfile_format *out_format) {
    if (!word) return true;
    if (strcmp(word, "csv") == 0) *out_format = DN_USERFILE_CSV;
    else if (strcmp(word, "ndjson") == 0) *out_format = DN_USERFILE_NDJSON;
    else return false;
    return true;
}

static int import_run(import *im, dn_userfile_format format) {
    const dn_userfile_sink sink = {import_on_user, import_on_fault, im};
    struct stat            about = {0};

    progress_begin(&im->progress, fstat(fileno(im->file), &about) == 0 && S_ISREG(about.st_mode)
                                      ? about.st_size
                                      : 0);
    im->batch = json_array();
    im->faults = json_array();
    if (!im->batch || !im->faults) return complain(DN_EXIT_FAILED, "out of memory");
    im->exit_code = DN_EXIT_DONE;
    int rc = dn_userfile_read(im->file, format, &sink);
    if (rc == DN_OK) rc = import_send(im);
    progress_end(&im->progress);
    if (rc == DN_OK) return import_say(im);
    if (im->exit_code == DN_EXIT_DONE)
        (void)complain(DN_EXIT_FAILED, "%s: it could not be read to its end: %s",
                       im->call->operands[0], dn_error_text(rc));
    (void)complain(DN_EXIT_FAILED,
                   "%llu users were registered before; the same file may be imported again",
                   (unsigned long long)im->accepted);
    return DN_EXIT_FAILED;
}

int cmd_users_import(const call *c) {
    const char        *name = c->operands[0];
    const bool         from_stdin = strcmp(name, "-") == 0;
    dn_userfile_format format = dn_userfile_format_of(name);
import im = {.call = c };

    if (!format_read(call_flag(c, "format"), &format))
        return complain(DN_EXIT_USAGE, "--format: csv or ndjson");
    im.file = from_stdin ? stdin : fopen(name, "re");
    if (!im.file) return complain(DN_EXIT_FAILED, "%s: %s", name, text_of_errno(errno));
    DN_AUTO(client) asked = client_of(c, &im.exit_code);
    im.client = asked;
    const int code = asked ? import_run(&im, format) : im.exit_code;
    json_decref(im.batch);
    json_decref(im.faults);
    if (!from_stdin) (void)fclose(im.file);
    return code;
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
    const char        *after = NULL;
    bool               more = true;

    if (!format_read(call_flag(c, "format"), &format))
        return complain(DN_EXIT_USAGE, "--format: csv or ndjson");
    DN_AUTO(client) asked = client_of(c, &exit_code);
    if (!asked) return exit_code;
    rc = dn_userfile_write_header(stdout, format);
    while (more && rc == DN_OK) {
        json_t *next = client_ask(
            asked, json_pack("{s:s, s:s?, s:i}", "op", "list", "after", after, "max", PAGE),
            &exit_code);
        json_decref(page);
        page = next;
        if (!page) return exit_code;
        const json_t *items = json_object_get(page, "items");
        for (size_t i = 0; i < json_array_size(items) && rc == DN_OK; i++)
            rc = export_user(json_array_get(items, i), format);
        more = json_is_true(json_object_get(page, "more"));
        after = json_string_value(json_object_get(page, "last"));
    }
    json_decref(page);
    if (rc < 0)
        return complain(DN_EXIT_FAILED, "the users could not be written: %s", dn_error_text(rc));
    return DN_EXIT_DONE;
}
