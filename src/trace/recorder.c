/* recorder.c - see recorder.h.
 * It takes what the lanes bring in the order it happened, and writes it down. Replay's ticks come at their instants, real
 * ones a little behind: what happened between the two belongs before the tick, and is written with its instant. So a
 * note waits until it is known when the tick before it came.
 *
 * Outcomes may stand anywhere in a trace and are written at once; all else goes by its instant, and waits while the users
 * of the beginning are being written. They are read page by page while the service goes on, so they may know already
 * what happens in the trace's first moments: done once more, that changes nothing.
 *
 * A crash here costs the record a new beginning, and nobody else anything. */
#include "recorder.h"

#include "actor/pipe.h"
#include "base/array.h"
#include "base/map.h"
#include "daily/daily_messages.h"
#include "obs/log.h"
#include "recorder_file.h"
#include "recorder_lines.h"
#include "recorder_notes.h"
#include "recorder_order.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORDER_BEAT = MSG_OWN, /* beside RECORD_NOTES */
    RECORDER_ASK,
    BEAT_MS = 500,
    ASK_MS = 500, /* until it is asked again who did not answer */
    CALL_MS = 10000,
    PAGE_USERS = 1024,
    LANE_LATE_MS = 2000, /* a lane that says nothing for so long is not waited for */
    TICK_LATE_MS = 1000, /* nor is a tick */
    AGAIN_MS = 10000,    /* behind a file that could not be written */
    CLOCKS_APART_MS = 250,
    HELD_MAX = 64 << 20,
    TICKS = 512, /* of the shortest, longer than anything is waited for */
};
static_assert((int)RECORD_NOTES != (int)RECORDER_BEAT && (int)RECORD_NOTES != (int)RECORDER_ASK &&
                  (int)RECORD_NOTES < (int)MSG_OWN && (int)RECORD_NOTES != (int)MSG_KV_ANSWER,
              "kinds of one actor");

struct dn_recorder {
    dn_recorder_config config;
    record_notes       notes;
    dn_child_spec      children[1 + RECORD_LANES];
    dn_supervisor_spec supervisor;
    dn_child_spec      child;
    bool               has_begun; /* a trace, in this life of the process. Of the recorder's loop */
};

typedef enum state_of {
    IDLE,   /* there is no trace: one begins with the next tick, if it may */
    USERS,  /* it has begun, and its users are being written */
    WRITES, /* it is whole */
} state_of;

typedef struct recording {
    dn_recorder *shared;
    record_file  file;
    record_order order;
    record_words words;
    state_of     state;

    /* When the next trace may begin. */
    bool    wanted;   /* because there is none, or this one has its size */
    int64_t from_ms;  /* not before that tick, by the wall clock: it is one of which all is known */
    int64_t again_ns; /* nor before that */
    int64_t users_bytes;
    bool    full;  /* the store is: what a user will be is not to be read from it now */
    bool    first; /* it begins with the first tick of this life */
    int64_t first_ms;

    /* The ticks that were planned last: the instant each belongs to, and when it came. */
    struct {
        int64_t at_ms, came_ms;
    } ticks[TICKS];
    uint64_t ticks_len;
    int64_t  tick_ms; /* that was found last; the next one is mostly sought in the same */

    /* The trace that has begun. Instants in it are steady; the wall clock is that and the steps. */
    int64_t start_ms, steps_ms, last_ms; /* last: of a line with an instant */
    int64_t covered_ms;                  /* so far it is known what happened */
    int64_t base_ms, base_ns;            /* one instant by both clocks */
    int64_t full_ms;
    bool    to_flush;

    /* Lines with an instant, while the users are being written. */
    char      *held;
    size_t     held_len, held_cap;
    dn_kv_list page;
    dn_call_id call; /* 0: none */

    /* Attempts are counted from its beginning. Of a trace that began in the middle of a life: how many a user's open day
     * had before, by n. */
    bool   in_the_middle;
    dn_map before;

    bool     troubled; /* and that was said */
    uint64_t dropped;
} recording;

static int  recorder_init(dn_self *self, void *state, const void *config);
static int  recorder_on_notes(dn_self *self, void *state, const dn_msg *msg);
static int  recorder_on_users(dn_self *self, void *state, const dn_msg *msg);
static int  recorder_on_call_failed(dn_self *self, void *state, const dn_msg *msg);
static int  recorder_on_ask(dn_self *self, void *state, const dn_msg *msg);
static int  recorder_on_beat(dn_self *self, void *state, const dn_msg *msg);
static int  recorder_on_down(dn_self *self, void *state, const dn_msg *msg);
static void recorder_terminate(dn_self *self, void *state);

static const dn_handler recorder_handlers[] = {
    {RECORD_NOTES, recorder_on_notes},             /* lanes -> what happened */
    {MSG_KV_ANSWER, recorder_on_users},            /* kv    -> a page of users */
    {RECORDER_BEAT, recorder_on_beat},             /* timer: on to the disk */
    {DN_MSG_CALL_FAILED, recorder_on_call_failed}, /* kv is not there, or has much to do */
    {RECORDER_ASK, recorder_on_ask},               /* timer: once more */
    {DN_MSG_DOWN, recorder_on_down},               /* queue: has forgotten all it knew */
};

static const dn_class recorder_class = {
    .name = "recorder",
    .state_size = sizeof(recording),
    .init = recorder_init,
    .handlers = DN_SLICE(recorder_handlers),
    .terminate = recorder_terminate,
    .mailbox_max = 256, /* 16 MiB of notes */
    .drains = true,     /* the lanes have said their last words before */
};

static void file_release(void *file) { record_file_give_up(file); }
static void map_release(void *map) { dn_map_done(map); }
static void held_release(void *state) {
    recording *r = state;

    free(r->held);
    r->held = NULL;
}

/* The last one that ticks fall on. */
static int64_t tick_before(recording *r, int64_t wall_ms) {
    const int64_t every_ms = r->shared->config.service->tick_ms;

    if (wall_ms < r->tick_ms || wall_ms >= r->tick_ms + every_ms) {
        const int64_t past_ms = wall_ms % every_ms;
        r->tick_ms = wall_ms - (past_ms < 0 ? past_ms + every_ms : past_ms);
    }
    return r->tick_ms;
}

/* What is under way already belongs to no trace, or to this one: the next tick's is the first of another. */
static void want(const dn_self *self, recording *r) {
    r->wanted = true;
    r->from_ms = tick_before(r, dn_now_ms(self)) + r->shared->config.service->tick_ms;
}

static int recorder_init(dn_self *self, void *state, const void *config) {
    recording *r = state;

    r->shared = (dn_recorder *)(uintptr_t)config; /* its own, though every config is const */
    record_file_init(&r->file, r->shared->config.path, r->shared->config.files);
    dn_own(self, &r->file, file_release);
    dn_own(self, r, held_release);
    dn_own(self, &r->before, map_release);
    r->first = !r->shared->has_begun;
    if (!r->first) want(self, r);
    dn_timer_after(self, BEAT_MS, RECORDER_BEAT, 0);
    return DN_OK;
}

/* ---- Trouble ---- */

/* The trace ends where it was whole; the next one begins with all users, and is right again. */
static void give_up(dn_self *self, recording *r, int64_t again_ms, const char *why) {
    if (r->call) dn_call_cancel(self, r->call);
    r->call = 0;
    record_file_give_up(&r->file);
    r->state = IDLE;
    r->held_len = 0;
    r->again_ns = dn_mono_ns(self) + again_ms * 1000000;
    r->first = false;
    want(self, r);
    if (!r->troubled)
        dn_log(DN_LOG_WARN, "recorder.failed",
               "%s: %s; the daemon keeps running, and a new trace begins as soon as possible",
               r->shared->config.path, why);
    r->troubled = true;
}

static void file_failed(dn_self *self, recording *r) {
    give_up(self, r, AGAIN_MS, strerror(r->file.error));
}

static void well(recording *r) {
    if (r->troubled)
        dn_log(DN_LOG_INFO, "recorder.well",
               "%s: began a new trace; %" PRIu64 " events are missing from all traces",
               r->shared->config.path, r->dropped);
    r->troubled = false;
    r->dropped = 0;
}

/* ---- Lines ---- */

static void line_out(dn_self *self, recording *r, const char *line, size_t len) {
    r->to_flush = true;
    if (record_file_add(&r->file, line, len) < 0) file_failed(self, r);
}

/* One with an instant. */
static void line_in_order(dn_self *self, recording *r, const char *line, size_t len) {
    if (r->state == WRITES) {
        line_out(self, r, line, len);
        return;
    }
    if (r->held_len + len > HELD_MAX ||
        DN_ARRAY_RESERVE(r->held, r->held_cap, r->held_len + len) < 0) {
        give_up(self, r, 0, "too much happened while it began");
        return;
    }
    memcpy(r->held + r->held_len, line, len);
    r->held_len += len;
}

static void flush(dn_self *self, recording *r, int64_t end_ms) {
    char end[DN_INSTANT_TEXT];

    if (end_ms <= r->start_ms) end_ms = r->start_ms + 1;
    dn_instant_write(end_ms, end);
    r->to_flush = false;
    if (record_file_flush(&r->file, end, DN_INSTANT_TEXT - 1) < 0) file_failed(self, r);
}

/* ---- A trace begins ---- */

static void ask_for_users(dn_self *self, recording *r) {
    r->call = 0;
    if (dn_call(self, dn_name(self, ACTOR_KV), MSG_KV_LIST, &r->page, sizeof r->page, CALL_MS,
                &r->call) < 0)
        dn_timer_after(self, ASK_MS, RECORDER_ASK, 0);
}

/* The life before ended when its last trace does. Replay is down as long as nothing was planned. */
static bool was_before(const recording *r, int64_t now_ms, int64_t *out_end_ms) {
    char   first[RECORD_LINE_MAX];
    size_t len = 0;

    return record_file_first(r->shared->config.path, first, sizeof first, &len) == 0 &&
           record_header_end(first, len, out_end_ms) && *out_end_ms <= now_ms;
}

static void begin(dn_self *self, recording *r, int64_t at_ms, const record_note *n) {
    char    line[RECORD_LINE_MAX];
    size_t  end_at, len;
    int64_t before_ms;

    if (r->state == WRITES) flush(self, r, at_ms);
    const bool after_a_life = r->first && was_before(r, at_ms, &before_ms);
    r->state = USERS;
    r->in_the_middle = !r->first;
    dn_map_done(&r->before);
    r->first = r->wanted = false;
    r->shared->has_begun = true;
    r->start_ms = r->last_ms = after_a_life ? before_ms : at_ms;
    r->covered_ms = at_ms;
    r->steps_ms = 0;
    r->base_ms = n->at_ms;
    r->base_ns = n->mono_ns;
    r->held_len = 0;
    len = record_line_header(line, &r->shared->config, r->start_ms, at_ms + 1, &end_at);
    if (record_file_begin(&r->file, line, len, end_at) < 0) {
        file_failed(self, r);
        return;
    }
    if (after_a_life)
        line_in_order(self, r, line,
                      record_line_crash(&r->words, line, r->start_ms, at_ms - r->start_ms));
    (void)dn_monitor(self, dn_name(self, ACTOR_QUEUE), 0);
    r->page = (dn_kv_list){.due_to = DN_DAY_MINUTES - 1, .max = PAGE_USERS};
    ask_for_users(self, r);
}

static void is_whole(dn_self *self, recording *r) {
    const char *held = r->held, *end = r->held + r->held_len;

    r->state = WRITES;
    while (held < end && r->state == WRITES) {
        const char *next = (const char *)memchr(held, '\n', (size_t)(end - held)) + 1;
        line_out(self, r, held, (size_t)(next - held));
        held = next;
    }
    r->held_len = 0;
    if (r->state != WRITES) return;
    flush(self, r, r->covered_ms + 1);
    if (r->state == WRITES && record_file_complete(&r->file) < 0) file_failed(self, r);
    if (r->state != WRITES) return;
    r->users_bytes = r->file.bytes;
    well(r);
}

static int recorder_on_users(dn_self *self, void *state, const dn_msg *msg) {
    recording               *r = state;
    const dn_kv_list_answer *a = dn_msg_body_borrow(msg);
    char                     line[RECORD_LINE_MAX];

    if (r->state != USERS || dn_msg_call(msg) != r->call) return DN_OK;
    r->call = 0;
    if (a->status < 0) {
        dn_timer_after(self, ASK_MS, RECORDER_ASK, 0);
        return DN_OK;
    }
    for (uint32_t i = 0; i < a->len && r->state == USERS; i++)
        line_out(self, r, line, record_line_begin_with(&r->words, line, r->start_ms, &a->users[i]));
    if (r->state != USERS) return DN_OK;
    if (!a->more) {
        is_whole(self, r);
        return DN_OK;
    }
    r->page.after_len = a->last_len;
    memcpy(r->page.after, a->last, a->last_len);
    ask_for_users(self, r);
    return DN_OK;
}

static int recorder_on_ask(dn_self *self, void *state, const dn_msg *msg) {
    recording *r = state;

    (void)msg;
    if (r->state == USERS && !r->call) ask_for_users(self, r);
    return DN_OK;
}

static int recorder_on_call_failed(dn_self *self, void *state, const dn_msg *msg) {
    recording *r = state;

    if (DN_BODY(dn_call_failed, msg)->id != r->call) return DN_OK;
    r->call = 0;
    dn_timer_after(self, ASK_MS, RECORDER_ASK, 0);
    return DN_OK;
}

/* ---- Instants ---- */

/* Told before its turn, so that what happened before it came can be told from what did behind it. */
static void tick_is_known(recording *r, const record_note *n) {
    if (r->ticks_len == 0) r->first_ms = n->at_ms;
    r->ticks[r->ticks_len % TICKS].at_ms = tick_before(r, n->at_ms);
    r->ticks[r->ticks_len % TICKS].came_ms = n->at_ms;
    r->ticks_len++;
}

static bool is_before_its_tick(const recording *r, int64_t wall_ms, int64_t at_ms) {
    const uint64_t oldest = r->ticks_len > TICKS ? r->ticks_len - TICKS : 0;

    for (uint64_t i = r->ticks_len; i > oldest && r->ticks[(i - 1) % TICKS].at_ms >= at_ms; i--)
        if (r->ticks[(i - 1) % TICKS].at_ms == at_ms)
            return wall_ms < r->ticks[(i - 1) % TICKS].came_ms;
    return false;
}

static bool is_of_ticks(const record_note *n) {
    return n->kind == DN_HAPPENED_TICK_BEGINS || n->kind == DN_HAPPENED_TICK;
}

static bool tick_is_waited_for(recording *r, const record_note *n, int64_t now_ns) {
    const int64_t newest_ms = r->ticks[(r->ticks_len - 1) % TICKS].came_ms;

    return !is_of_ticks(n) && tick_before(r, n->at_ms) > newest_ms &&
           now_ns - n->mono_ns < (int64_t)TICK_LATE_MS * 1000000;
}

/* A wall instant on the trace's steady line. What has seen a step before the tick told of it goes by the steady clock. */
static int64_t steady_ms(const recording *r, int64_t wall_ms, int64_t mono_ns) {
    const int64_t by_wall_ms = wall_ms - r->steps_ms;
    const int64_t by_steady_ms = r->base_ms + (mono_ns - r->base_ns) / 1000000;
    const int64_t apart_ms = by_wall_ms - by_steady_ms;

    return apart_ms < -CLOCKS_APART_MS || apart_ms > CLOCKS_APART_MS ? by_steady_ms : by_wall_ms;
}

/* Whether it matters that something happened before a tick that came behind it. Of a job it does at a cutoff, which is at a
 * minute; and of who failed and is tried again by that tick. Else the instant of a success is its user's, and what began
 * behind the tick's instant cannot stop at it. */
static bool order_matters(const record_note *n, int64_t tick_ms) {
    if (n->kind != DN_HAPPENED_STOPPED || tick_ms % DN_MINUTE_MS == 0) return true;
    return n->outcome != DN_OUTCOME_OK && n->at_ms - n->ms <= tick_ms;
}

static int64_t instant_of(recording *r, const record_note *n) {
    const int64_t tick_ms = tick_before(r, n->at_ms);
    const bool    before = order_matters(n, tick_ms) && is_before_its_tick(r, n->at_ms, tick_ms);

    return steady_ms(r, before ? tick_ms : n->at_ms, n->mono_ns);
}

/* Of a line with one: they never fall. */
static int64_t in_order_ms(recording *r, int64_t at_ms) {
    if (at_ms > r->last_ms) r->last_ms = at_ms;
    return r->last_ms;
}

/* ---- What happened ---- */

/* Replay knows of no attempts before its beginning. What is kept of a user goes with a success; that of the others
 * is as much as kv keeps of them. */
static uint32_t attempt_of(recording *r, const record_note *n) {
    if (!r->in_the_middle) return n->attempt;
    const uint64_t *known = dn_map_find(&r->before, n->n);
    const bool      same_day = known && (dn_day)(*known >> 32) == n->day;
    const uint32_t  before = same_day ? (uint32_t)*known : n->attempt - 1U;

    if ((dn_outcome)n->outcome == DN_OUTCOME_OK) (void)dn_map_remove(&r->before, n->n);
    else if (dn_map_put(&r->before, n->n, (uint64_t)(uint32_t)n->day << 32 | before) < 0)
        dn_fail_code(DN_ENOMEM, "no memory for the attempts");
    return n->attempt > before ? n->attempt - before : n->attempt;
}

/* In replay a job begins at its tick. One that had to wait for a slot did not begin at one. */
static void on_stopped(dn_self *self, recording *r, const record_note *n, int64_t at_ms) {
    const int64_t began_ms = n->at_ms - n->ms, tick_ms = tick_before(r, began_ms);
    const int64_t from_ms =
        tick_ms > r->first_ms ? tick_ms : r->first_ms; /* as the first one does */
    const int64_t behind_ms = began_ms - from_ms;
    const int64_t took_ms = n->ms + (behind_ms > 0 && behind_ms <= TICK_LATE_MS ? behind_ms : 0);
    char         *line = record_file_room(&r->file, RECORD_LINE_MAX);

    if (!line) {
        file_failed(self, r);
        return;
    }
    record_file_take(&r->file, record_line_outcome(&r->words, line, at_ms - r->start_ms, took_ms,
                                                   attempt_of(r, n), n));
    r->to_flush = true;
}

static void on_store_well(dn_self *self, recording *r, int64_t at_ms) {
    char          line[RECORD_LINE_MAX];
    const int64_t from_ms = in_order_ms(r, r->full_ms);

    r->full = false;
    if (at_ms > from_ms)
        line_in_order(self, r, line,
                      record_line_store_fails(&r->words, line, from_ms, at_ms - from_ms));
}

static void write_down(dn_self *self, recording *r, const record_note *n) {
    const int64_t at_ms = instant_of(r, n);
    char          line[RECORD_LINE_MAX];

    /* Before it is planned it is not known what it makes of its users. */
    if (n->kind == DN_HAPPENED_TICK_BEGINS) return;
    if (at_ms > r->covered_ms) r->covered_ms = at_ms;
    switch ((dn_happening_kind)n->kind) {
    case DN_HAPPENED_STOPPED: on_stopped(self, r, n, at_ms); return;
    case DN_HAPPENED_SET:
        line_in_order(self, r, line, record_line_user(&r->words, line, in_order_ms(r, at_ms), n));
        return;
    case DN_HAPPENED_REMOVED:
        line_in_order(self, r, line, record_line_remove(&r->words, line, in_order_ms(r, at_ms), n));
        return;
    case DN_HAPPENED_CLOCK:
        line_in_order(self, r, line,
                      record_line_clock(&r->words, line, in_order_ms(r, at_ms), (int64_t)n->n));
        r->steps_ms += (int64_t)n->n;
        return;
    case DN_HAPPENED_STORE_WELL: on_store_well(self, r, at_ms); return;
    default: r->to_flush = true; return; /* a tick: so far it is known */
    }
}

/* True: a trace begins with the tick before this, and what comes from here on is in it. */
static bool begins_here(const dn_self *self, const recording *r, const record_note *n) {
    if (r->full || dn_mono_ns(self) < r->again_ns) return false;
    return r->first || (r->wanted && n->at_ms >= r->from_ms);
}

static void take(dn_self *self, recording *r, const record_note *n) {
    if (n->kind == DN_HAPPENED_CLOCK && r->wanted) want(self, r);
    if (n->kind == DN_HAPPENED_STORE_FAILED) {
        r->full = true;
        r->full_ms = instant_of(r, n);
    }
    if (r->state == IDLE && n->kind == DN_HAPPENED_STORE_WELL) r->full = false;
    if (begins_here(self, r, n))
        begin(self, r, r->first ? r->first_ms : tick_before(r, n->at_ms), n);
    if (r->state == IDLE) r->dropped += !is_of_ticks(n);
    else write_down(self, r, n);
}

static void take_all(dn_self *self, recording *r, int64_t now_ns) {
    const record_note *n;

    if (r->ticks_len == 0 && now_ns != INT64_MAX) return; /* it is not known yet when all begins */
    const int64_t before_ns = now_ns - (int64_t)LANE_LATE_MS * 1000000;
    while ((n = record_order_first(&r->order, before_ns))) {
        if (now_ns != INT64_MAX && tick_is_waited_for(r, n, now_ns)) return;
        take(self, r, n);
        dn_msg *read = record_order_next(&r->order);
        if (read) dn_msg_free(self, read);
    }
}

static void note_ticks(recording *r, const record_packet *p) {
    const char *at = (const char *)(p + 1), *end = at + p->len;

    while (p->lane == RECORD_MAIN && at < end) {
        const record_note *n = (const record_note *)(const void *)at;
        if (n->kind == DN_HAPPENED_TICK_BEGINS) tick_is_known(r, n);
        at += dn_pipe_stride(sizeof *n + n->id_len);
    }
}

static int recorder_on_notes(dn_self *self, void *state, const dn_msg *msg) {
    recording           *r = state;
    const record_packet *p = dn_msg_body_borrow(msg);

    dn_require(dn_msg_size(msg) == sizeof *p + p->len && p->lane < RECORD_LANES);
    note_ticks(r, p);
    dn_msg   *kept = dn_msg_keep(self, msg);
    const int rc = record_order_add(&r->order, p, kept);
    if (p->dropped > 0 || rc < 0) {
        r->dropped += p->dropped + (rc < 0 ? record_packet_notes(p) : 0);
        give_up(self, r, 0, "too many events at once");
    }
    if (rc != DN_OK) dn_msg_free(self, kept);
    take_all(self, r, dn_mono_ns(self));
    return DN_OK;
}

static int recorder_on_beat(dn_self *self, void *state, const dn_msg *msg) {
    recording *r = state;

    (void)msg;
    dn_timer_after(self, BEAT_MS, RECORDER_BEAT, 0);
    take_all(self, r, dn_mono_ns(self));
    if (r->state == WRITES && r->to_flush) flush(self, r, r->covered_ms + 1);
    if (r->state == WRITES && !r->wanted &&
        r->file.bytes - r->users_bytes > r->shared->config.bytes_max)
        want(self, r);
    return DN_OK;
}

/* What the queue remembered is gone, throttles too; those of a replay would hold on. */
static int recorder_on_down(dn_self *self, void *state, const dn_msg *msg) {
    recording *r = state;

    (void)msg;
    if (r->state != IDLE) want(self, r);
    return DN_OK;
}

/* All who told have ended. */
static void recorder_terminate(dn_self *self, void *state) {
    recording *r = state;

    if (r->ticks_len > 0) take_all(self, r, INT64_MAX);
    if (r->state == WRITES && r->full) on_store_well(self, r, r->covered_ms + 1);
    if (r->state == WRITES) flush(self, r, r->covered_ms + 1);
    if (r->state == WRITES) record_file_close(&r->file);
    else if (r->state == USERS)
        give_up(self, r, 0, "the daemon stopped before all users were written");
}

/* ---- As a child ---- */

static void fill_children(dn_recorder *d) {
    const dn_backoff backoff = {.min_ms = 100, .max_ms = 10000, .stable_ms = 60000};

    d->children[0] = (dn_child_spec){.name = DN_RECORDER,
                                     .actor_class = &recorder_class,
                                     .config = d,
                                     .loop = "record",
                                     .shutdown_ms = 10000,
                                     .backoff = backoff};
    for (int i = 0; i < RECORD_LANES; i++)
        d->children[1 + i] = (dn_child_spec){.name = record_lane_names[i],
                                             .actor_class = &record_lane_class,
                                             .config = &d->notes.lanes[i],
                                             .loop = record_lane_loops[i],
                                             .backoff = backoff};
    d->supervisor =
        (dn_supervisor_spec){.strategy = DN_ONE_FOR_ONE, .intensity = 10, .period_ms = 60000};
    d->supervisor.children.rows = d->children;
    d->supervisor.children.len = 1 + RECORD_LANES;
    d->child = dn_supervisor_child("witness", &d->supervisor);
}

int dn_recorder_check(const char *path, char why[DN_RECORDER_WHY]) {
    return record_file_check(path, "{\"trace\":1,", why, DN_RECORDER_WHY);
}

int dn_recorder_new(const dn_recorder_config *config, dn_recorder **out_recorder) {
    dn_recorder *d = calloc(1, sizeof *d);

    if (!d) return DN_ENOMEM;
    d->config = *config;
    record_notes_init(&d->notes);
    fill_children(d);
    *out_recorder = d;
    return DN_OK;
}

void dn_recorder_free(dn_recorder *recorder) {
    if (!recorder) return;
    record_notes_done(&recorder->notes);
    free(recorder);
}

const dn_journal *dn_recorder_journal_borrow(const dn_recorder *recorder) {
    return &recorder->notes.journal;
}

const dn_child_spec *dn_recorder_child_borrow(const dn_recorder *recorder) {
    return &recorder->child;
}
