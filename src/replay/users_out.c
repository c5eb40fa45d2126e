/* users_out.c - see users_out.h. */
#include "users_out.h"

#include "text_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 1024, LINE_ROOM = 2048 };

/* Most users have the same days: they are written out once. */
typedef struct day_text {
    dn_day day; /* DN_DAY_NONE: null */
    char   text[DN_DAY_TEXT + 2];
} day_text;

/* Likewise the date of most instants. */
typedef struct instant_text {
    dn_day day; /* DN_DAY_NONE: of no instant yet */
    char   text[DN_INSTANT_TEXT + 2];
} instant_text;

typedef struct day_texts {
    day_text     last, first;
    instant_text run;
} day_texts;

static char *put_day(char *at, dn_day day, day_text *last) {
    if (day != last->day) {
        last->day = day;
        if (day == DN_DAY_NONE) {
            memcpy(last->text, "null", sizeof "null");
        } else {
            last->text[0] = '"';
            dn_day_write(day, last->text + 1);
            memcpy(last->text + DN_DAY_TEXT, "\"", sizeof "\"");
        }
    }
    return text_out_words(at, last->text);
}

static char *put_instant(char *at, int64_t ms, instant_text *last) {
    if (ms == INT64_MIN) return text_out_words(at, "null");
    const dn_day day = dn_day_of_ms(ms);
    if (day == last->day) {
        text_out_time(last->text + sizeof "\"YYYY-MM-DDT" - 1,
                      (uint32_t)(ms - dn_day_start_ms(day)));
    } else {
        last->day = day;
        last->text[0] = '"';
        dn_instant_write(ms, last->text + 1);
        memcpy(last->text + DN_INSTANT_TEXT, "\"", sizeof "\"");
    }
    return text_out_words(at, last->text);
}

static bool put_user(FILE *file, const dn_user *u, day_texts *days) {
    const char *status = dn_daily_status_text(u->status);
    char        line[LINE_ROOM], due[DN_DUE_TEXT], *at = text_out_words(line, "{\"id\":");

    at = text_out_id(at, u->id, u->id_len);
    dn_due_write(u->due, due);
    at = text_out_words(at, ",\"due\":\"");
    at = text_out_words(at, due);
    at = text_out_words(at, "\",\"last_date\":");
    at = put_day(at, u->last_day, &days->last);
    at = text_out_words(at, ",\"status\":");
    at = u->last_day == DN_DAY_NONE || !status ? text_out_words(at, "null")
                                               : text_out_string(at, status, strlen(status));
    at = text_out_words(at, ",\"last_run_at\":");
    at = put_instant(at, u->last_run_ms, &days->run);
    at = text_out_words(at, ",\"context_epoch\":");
    at = text_out_number(at, u->context_epoch);
    at = text_out_words(at, ",\"starts_on\":");
    at = put_day(at, u->starts_on, &days->first);
    at = text_out_words(at, "}\n");
    return fwrite(line, 1, (size_t)(at - line), file) == (size_t)(at - line);
}

/* file: NULL for none. *out_errno is set by the first write that fails. */
static int write_users(dn_store *store, FILE *file, users_look *look, void *context,
                       int *out_errno) {
    dn_user       *users = malloc(PAGE * sizeof *users);
    dn_user_filter filter = {.due_to = DN_DAY_MINUTES - 1};
    dn_user        last;
    day_texts      days = {
             .last = {DN_DAY_NONE, "null"}, .first = {DN_DAY_NONE, "null"}, .run = {.day = DN_DAY_NONE}};
    bool more = true;
    int  rc = users ? DN_OK : DN_ENOMEM;

    while (rc == DN_OK && more) {
        size_t len = 0;
        rc = dn_store_list(store, &filter, users, PAGE, &len, &more, &last);
        for (size_t i = 0; file && i < len; i++)
            if (!put_user(file, &users[i], &days) && *out_errno == 0)
                *out_errno = errno ? errno : EIO;
        look(context, users, len);
        filter.after_id = last.id;
        filter.after_len = last.id_len;
    }
    free(users);
    return rc;
}

int users_out_look(dn_store *store, users_look *look, void *context) {
    int none = 0;

    return write_users(store, NULL, look, context, &none);
}

int users_out_write(dn_store *store, FILE *file, users_look *look, void *context, int *out_errno) {
    *out_errno = 0;
    const int rc = write_users(store, file, look, context, out_errno);
    if (rc < 0) return rc;
    if (fflush(file) != 0 && *out_errno == 0) *out_errno = errno;
    return *out_errno ? DN_EIO : DN_OK;
}
