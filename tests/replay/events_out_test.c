/* events_out_test.c - a line of events.ndjson is that of its event, whatever the lines before it were. Much of a line is taken from
 * the one before of its kind: so here neighbours differ in one thing at most, and each line is made anew beside it. */
#include "replay/events_out.h"
#include "test.h"

#include "base/civil.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS = 20000, LINE_MAX = 512 };

static const char *const classes[] = {"", "req", "llm", "parse", "unknown"};

/* ,"attempt":…,"result":…,"error_class":…,"duration_ms":… */
static void put_stop(char *out, size_t size, const dn_happening *h) {
    const char *class = h->outcome == DN_OUTCOME_ERROR ? classes[h->error_class] : NULL;
    const char *result = h->outcome == DN_OUTCOME_OK      ? "ok"
                         : h->outcome == DN_OUTCOME_ERROR ? "error"
                                                          : "timeout";

    (void)snprintf(out, size,
                   ",\"attempt\":%u,\"result\":\"%s\",\"error_class\":%s%s%s,\"duration_ms\":%lld",
                   h->attempt, result, class ? "\"" : "", class ? class : "null", class ? "\"" : "",
                   (long long)h->duration_ms);
}

static void line_of(char *out, size_t size, const event *e) {
    const dn_happening *h = e->h;
    const char         *name = "enqueue";
    char                rest[LINE_MAX] = "", instant[DN_INSTANT_TEXT], day[DN_DAY_TEXT];

    if (h->kind == DN_HAPPENED_STARTED) {
        name = "start";
        (void)snprintf(rest, sizeof rest, ",\"attempt\":%u", h->attempt);
    } else if (h->kind == DN_HAPPENED_STOPPED) {
        name = "stop";
        put_stop(rest, sizeof rest, h);
    } else if (h->kind == DN_HAPPENED_FINALIZED) {
        name = "finalize";
        (void)snprintf(rest, sizeof rest, ",\"status\":\"%s\",\"due_bucket\":%u",
                       h->status == DN_DAILY_SUCCESS ? "success" : "cutoff_reached", h->due);
    }
    dn_instant_write(e->t_ms, instant);
    dn_day_write(h->day, day);
    (void)snprintf(out, size, "{\"t\":\"%s\",\"ev\":\"%s\",\"user\":\"%.*s\",\"day\":\"%s\"%s}\n",
                   instant, name, h->id_len, h->id, day, rest);
}

/* One thing of it becomes another, most often. */
static void change(dn_happening *h, int64_t *t_ms, uint64_t *random) {
    static const dn_happening_kind kinds[] = {DN_HAPPENED_ENQUEUED, DN_HAPPENED_STARTED,
                                              DN_HAPPENED_STOPPED, DN_HAPPENED_FINALIZED};
    static const char *const       ids[] = {"u1", "ada", "user-number-17", "u1000000", "x"};
    const uint64_t                 which = test_random(random) % 16;

    switch (which) {
    case 0: h->day += (dn_day)(test_random(random) % 3) - 1; break;
    case 1: h->due = (uint32_t)(test_random(random) % 1440); break;
    case 2: h->attempt = (uint32_t)(test_random(random) % 70000); break;
    case 3: h->status = test_random(random) % 2 ? DN_DAILY_SUCCESS : DN_DAILY_CUTOFF; break;
    case 4: h->outcome = (dn_outcome)(DN_OUTCOME_OK + test_random(random) % 3); break;
    case 5: h->error_class = (dn_error_class)(DN_CLASS_REQ + test_random(random) % 4); break;
    case 6: h->duration_ms = (int64_t)(test_random(random) % 100000000); break;
    case 7: *t_ms += (int64_t)(test_random(random) % 100000000) - 20000000; break;
    case 8: h->id = ids[test_random(random) % 5]; break;
    default: h->kind = kinds[which % 4]; break;
    }
    h->id_len = (uint8_t)strlen(h->id);
}

TEST(a_line_is_that_of_its_event_whatever_the_lines_before_it_were) {
    uint64_t     random = test_seed();
    FILE        *file = tmpfile();
    events_out  *out = events_out_new(file);
    dn_happening h = {.kind = DN_HAPPENED_ENQUEUED,
                      .id = "ada",
                      .id_len = 3,
                      .day = 20513,
                      .attempt = 1,
                      .status = DN_DAILY_SUCCESS,
                      .outcome = DN_OUTCOME_OK,
                      .error_class = DN_CLASS_REQ};
    int64_t      t_ms = dn_day_start_ms(20513);
    char        *wanted = malloc((size_t)EVENTS * LINE_MAX), *end = wanted;
    int          code = 0;

    CHECK(out && wanted);
    for (int i = 0; i < EVENTS; i++) {
        const event e = {.kind = h.kind, .t_ms = t_ms, .h = &h};
        line_of(end, LINE_MAX, &e);
        end += strlen(end);
        events_out_tell(out, &e);
        change(&h, &t_ms, &random);
    }
    CHECK_INT(events_out_end(out, &code), DN_OK);
    rewind(file);
    for (const char *at = wanted; at < end;) {
        const char *next = strchr(at, '\n') + 1;
        char        line[LINE_MAX], want[LINE_MAX];
        CHECK(fgets(line, sizeof line, file));
        (void)snprintf(want, sizeof want, "%.*s", (int)(next - at), at);
        CHECK_STR(line, want);
        at = next;
    }
    CHECK(fgetc(file) == EOF);
    events_out_free(out);
    free(wanted);
    (void)fclose(file);
}

TEST(events_out_reports_the_first_write_that_a_full_disk_refuses) {
    FILE              *file = fopen("/dev/full", "w");
    events_out        *out = file ? events_out_new(file) : NULL;
    const dn_happening h = {.kind = DN_HAPPENED_ENQUEUED, .id = "ada", .id_len = 3, .day = 20513};
    const event        e = {.kind = h.kind, .h = &h};
    int                code = 0;

    CHECK(out);
    for (int i = 0; i < EVENTS; i++) events_out_tell(out, &e);
    CHECK_INT(events_out_end(out, &code), DN_EIO);
    CHECK_INT(code, ENOSPC);
    events_out_free(out);
    (void)fclose(file);
}
