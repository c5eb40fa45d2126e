/* planner_index.c - the users in three tables: records by slot, slots by due minute, slots by number.
 * In the row of a minute the users whose day is open stand in front of those whose day is closed. When the
 * window of the next day opens, all are open again, at the cost of one number; a scan looks at the
 * open ones only, and moves behind the others whoever it finds closed. Or unclosed with nothing to be done: its last
 * day ended unseen and is recorded, and its next window is not open. It stands there until the row's day
 * changes, or the clock is set back into the day that ended.
 * A tick goes to those rows only where somebody may be open, and makes those only ready whose day is another one than at
 * the tick before: mostly one, and all of them at midnight. */
#include "planner_index.h"

#include "base/map.h"
#include "base/pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    NO_SLOT = UINT32_MAX,
    ID_CELL_MIN = 4,
    GROWS_BY_HALF = 1 << 20, /* bytes up to which */
    WORD_ROWS = 64,
    /* Records are far off when there are millions: so many places before they are needed they are asked for. */
    FETCH_AHEAD = 12,
    OPEN_WORDS = (DN_DAY_MINUTES + WORD_ROWS - 1) / WORD_ROWS,
};

/* 32 bytes, so that two share a cache line. */
typedef struct record {
    uint64_t n;        /* 0: free */
    dn_day   closed;   /* finalized through this day, or not to begin before the day after it */
    dn_day   recorded; /* the last day with a row in the ledger */
    uint32_t context_epoch;
    uint32_t pos;  /* in the row of its minute; free: the next free slot */
    uint32_t cell; /* of its id, among the ids of the same length */
    uint16_t due;
    uint8_t  id_len;
    uint8_t  status; /* of the day `closed`; DN_DAILY_NONE: that day was not its own */
} record;
_Static_assert(sizeof(record) == 32,
               "ten million users are to fit 640 MB with all that belongs to them");

/* How many ended how on a day; and of the day before, for who looks back at midnight. */
typedef struct tally {
    dn_day   day;
    uint32_t success, cutoff;
} tally;

typedef struct row {
    uint32_t *slots;
    uint32_t  len, cap;
    uint32_t  open;     /* slots[0..open) */
    dn_day    day;      /* for which they are open */
    bool      unclosed; /* there are such among those behind */
    tally     tallies[2];
} row;

/* Ids of one length, end to end. */
typedef struct id_pool {
    char    *cells;
    uint32_t len, cap;
    uint32_t free; /* index + 1 */
} id_pool;

struct dn_planner_index {
    record  *records;
    uint32_t records_len, records_cap;
    uint32_t free;     /* slot + 1 */
    uint64_t greatest; /* number there ever was: they rise, and who is new has a greater one */

    dn_index by_number; /* rows are slot + 1 */

    row      rows[DN_DAY_MINUTES];
    uint64_t maybe_open[OPEN_WORDS]; /* a bit a row; 0: nobody in it is open */

    dn_daily_openings entered; /* by which the rows are of their days */

    dn_map awaiting; /* how many there are of awaiting_key */

    id_pool ids[DN_ID_MAX + 1];
};

/* ---- Growing ---- */

/* Half as many again, of large ones an eighth; DN_ENOMEM, and nothing has changed. */
static int grow(void **memory, uint32_t *cap, size_t size) {
    const uint32_t part = *cap * size < GROWS_BY_HALF ? *cap / 2 : *cap / 8;
    const uint64_t more = (uint64_t)*cap + part + 16;
    void          *grown = more < NO_SLOT ? dn_pages_grow(*memory, *cap * size, more * size) : NULL;

    if (!grown) return DN_ENOMEM;
    *memory = grown;
    *cap = (uint32_t)more;
    return DN_OK;
}

static bool is_sound(const dn_planner_index *r) {
    return dn_index_len(&r->by_number) <= r->records_len && r->records_len <= r->records_cap &&
           r->free <= r->records_len &&
           (r->free == 0) == (dn_index_len(&r->by_number) == r->records_len);
}

/* ---- By number ---- */

/* NULL: there is none of that number. */
static dn_index_cell *cell_of(const dn_planner_index *r, uint64_t n) {
    dn_index_cell *cell = dn_index_find(&r->by_number, n);

    while (cell && r->records[dn_index_row(cell) - 1].n != n)
        cell = dn_index_alike(&r->by_number, cell);
    return cell;
}

/* ---- Ids ---- */

static size_t cell_size(uint8_t len) { return len < ID_CELL_MIN ? ID_CELL_MIN : len; }

static int id_take(dn_planner_index *r, const char *id, uint8_t len, uint32_t *out_cell) {
    id_pool *p = &r->ids[len];

    if (p->free) {
        *out_cell = p->free - 1;
        memcpy(&p->free, p->cells + *out_cell * cell_size(len), sizeof p->free);
    } else {
        void *cells = p->cells;
        if (p->len == p->cap && grow(&cells, &p->cap, cell_size(len)) < 0) return DN_ENOMEM;
        p->cells = cells;
        *out_cell = p->len++;
    }
    memcpy(p->cells + *out_cell * cell_size(len), id, len);
    return DN_OK;
}

static void id_give(dn_planner_index *r, uint8_t len, uint32_t cell) {
    id_pool *p = &r->ids[len];

    memcpy(p->cells + cell * cell_size(len), &p->free, sizeof p->free);
    p->free = cell + 1;
}

static const char *id_of(const dn_planner_index *r, const record *u) {
    return r->ids[u->id_len].cells + u->cell * cell_size(u->id_len);
}

/* ---- Rows ---- */

static void place(dn_planner_index *r, row *w, uint32_t pos, uint32_t slot) {
    w->slots[pos] = slot;
    r->records[slot].pos = pos;
}

/* Exchanges two places of a row. */
static void swap(dn_planner_index *r, row *w, uint32_t a, uint32_t b) {
    const uint32_t slot = w->slots[a];

    place(r, w, a, w->slots[b]);
    place(r, w, b, slot);
}

static int row_reserve(row *w) {
    void *slots = w->slots;

    if (w->len < w->cap) return DN_OK;
    if (grow(&slots, &w->cap, sizeof *w->slots) < 0) return DN_ENOMEM;
    w->slots = slots;
    return DN_OK;
}

static void row_close(dn_planner_index *r, row *w, uint32_t pos) {
    assert(pos < w->open);
    swap(r, w, pos, --w->open);
}

static void row_mark(dn_planner_index *r, uint32_t minute) {
    r->maybe_open[minute / WORD_ROWS] |= UINT64_C(1) << minute % WORD_ROWS;
}

static void row_unmark(dn_planner_index *r, uint32_t minute) {
    r->maybe_open[minute / WORD_ROWS] &= ~(UINT64_C(1) << minute % WORD_ROWS);
}

static void row_open(dn_planner_index *r, row *w, uint32_t pos) {
    assert(pos >= w->open);
    swap(r, w, pos, w->open++);
    row_mark(r, (uint32_t)(w - r->rows));
}

static void row_add(dn_planner_index *r, uint32_t slot) {
    row *w = &r->rows[r->records[slot].due];

    place(r, w, w->len++, slot);
    row_open(r, w, w->len - 1); /* a scan will tell */
}

static void row_drop(dn_planner_index *r, uint32_t slot) {
    const record *u = &r->records[slot];
    row          *w = &r->rows[u->due];

    if (u->pos < w->open) row_close(r, w, u->pos);
    swap(r, w, u->pos, --w->len);
}

/* ---- Tallies ---- */

static tally *tally_of(row *w, dn_day day) {
    tally *t = &w->tallies[(uint32_t)day & 1];

    if (t->day != day) {
        if (t->day > day) return NULL; /* of days long gone nobody asks */
        *t = (tally){.day = day};
    }
    return t;
}

/* Whose first day has nothing of theirs behind it stand here by the day before it and their minute: a glance at a day has
 * none whose first is later. Whoever has begun goes with the first day that ends, so they are few days. */
enum { DUE_BITS = 11 };
_Static_assert(DN_DAY_MINUTES <= 1 << DUE_BITS, "a minute of the day fits");

static bool awaits(const record *u) {
    return u->status == DN_DAILY_NONE && u->closed != DN_DAY_NONE;
}

static uint64_t awaiting_key(const record *u) {
    return ((uint64_t)(uint32_t)u->closed << DUE_BITS | u->due) + 1;
}

/* So that one more of those like it can be counted. */
static int awaiting_reserve(dn_planner_index *r, const record *u) {
    if (!awaits(u) || dn_map_find(&r->awaiting, awaiting_key(u))) return DN_OK;
    return dn_map_put(&r->awaiting, awaiting_key(u), 0);
}

/* One more, for which there is room, or one less: UINT32_MAX. */
static void count(dn_planner_index *r, const record *u, uint32_t one) {
    if (awaits(u)) {
        uint64_t *known = dn_map_find(&r->awaiting, awaiting_key(u));
        *known = (uint32_t)*known + one;
        if (*known == 0) dn_map_drop(&r->awaiting, known);
    }
    if (u->status == DN_DAILY_NONE) return;
    tally *t = tally_of(&r->rows[u->due], u->closed);
    if (!t) return;
    if (u->status == DN_DAILY_SUCCESS) t->success += one;
    else t->cutoff += one;
}

/* ---- Users ---- */

int dn_planner_index_new(dn_planner_index **out_index) {
    dn_planner_index *r = calloc(1, sizeof *r);

    if (!r) return DN_ENOMEM;
    for (int i = 0; i < DN_DAY_MINUTES; i++) {
        r->rows[i].day = DN_DAY_NONE;
        r->rows[i].tallies[0].day = r->rows[i].tallies[1].day = DN_DAY_NONE;
    }
    r->entered.today = DN_DAY_NONE;
    *out_index = r;
    return DN_OK;
}

static size_t row_bytes(const row *w) { return w->cap * sizeof *w->slots; }

static size_t ids_bytes(const dn_planner_index *r, uint8_t len) {
    return r->ids[len].cap * cell_size(len);
}

void dn_planner_index_free(void *planner_index) {
    dn_planner_index *r = planner_index;

    if (!r) return;
    for (int i = 0; i < DN_DAY_MINUTES; i++)
        dn_pages_free(r->rows[i].slots, row_bytes(&r->rows[i]));
    for (int i = 1; i <= DN_ID_MAX; i++) dn_pages_free(r->ids[i].cells, ids_bytes(r, (uint8_t)i));
    dn_pages_free(r->records, r->records_cap * sizeof *r->records);
    dn_map_done(&r->awaiting);
    dn_index_done(&r->by_number);
    free(r);
}

size_t dn_planner_index_len(const dn_planner_index *r) { return dn_index_len(&r->by_number); }

size_t dn_planner_index_bytes(const dn_planner_index *r) {
    size_t bytes = sizeof *r + r->records_cap * sizeof *r->records + dn_index_bytes(&r->by_number) +
                   dn_map_bytes(&r->awaiting);

    for (int i = 0; i < DN_DAY_MINUTES; i++) bytes += row_bytes(&r->rows[i]);
    for (int i = 1; i <= DN_ID_MAX; i++) bytes += ids_bytes(r, (uint8_t)i);
    return bytes;
}

static dn_day before(dn_day day) { return day == DN_DAY_NONE ? DN_DAY_NONE : day - 1; }

static dn_day later(dn_day a, dn_day b) { return a > b ? a : b; }

static void record_set(record *u, const dn_planner_index_user *user) {
    u->closed = later(user->last_day, before(user->starts_on));
    u->recorded = user->recorded;
    u->context_epoch = user->context_epoch;
    u->due = (uint16_t)user->due;
    u->status = (uint8_t)(u->closed == user->last_day ? user->status : DN_DAILY_NONE);
}

/* Room for one more user in every table. */
static int reserve(dn_planner_index *r, const dn_planner_index_user *user) {
    if (row_reserve(&r->rows[user->due]) < 0) return DN_ENOMEM;
    if (!r->free && r->records_len == r->records_cap) {
        void *records = r->records;
        if (grow(&records, &r->records_cap, sizeof *r->records) < 0) return DN_ENOMEM;
        r->records = records;
    }
    return dn_index_reserve(&r->by_number, 1);
}

static int user_add(dn_planner_index *r, const dn_planner_index_user *user) {
    uint32_t cell;

    if (reserve(r, user) < 0 || id_take(r, user->id, user->id_len, &cell) < 0) return DN_ENOMEM;
    record fresh = {.cell = cell, .id_len = user->id_len};
    record_set(&fresh, user);
    if (awaiting_reserve(r, &fresh) < 0) {
        id_give(r, user->id_len, cell);
        return DN_ENOMEM;
    }
    const uint32_t slot = r->free ? r->free - 1 : r->records_len++;
    record        *u = &r->records[slot];
    if (r->free) r->free = u->pos;
    *u = fresh;
    u->n = user->registration;
    dn_index_add(&r->by_number, user->registration, slot + 1);
    if (user->registration > r->greatest) r->greatest = user->registration;
    row_add(r, slot);
    count(r, u, 1);
    assert(is_sound(r));
    return DN_OK;
}

static int user_change(dn_planner_index *r, uint32_t slot, const dn_planner_index_user *user) {
    record *u = &r->records[slot];

    const record was = *u;
    record       fresh = was;

    record_set(&fresh, user);
    if (user->due != u->due && row_reserve(&r->rows[user->due]) < 0) return DN_ENOMEM;
    if (awaiting_reserve(r, &fresh) < 0) return DN_ENOMEM;
    if (user->due != u->due) {
        row_drop(r, slot);
        record_set(u, user);
        row_add(r, slot);
    } else {
        record_set(u, user);
        row *w = &r->rows[u->due];
        if (u->pos < w->open && u->closed >= w->day) row_close(r, w, u->pos);
        else if (u->pos >= w->open && (u->closed < was.closed || u->recorded < was.recorded))
            row_open(r, w, u->pos);
    }
    count(r, u, 1);
    count(r, &was, UINT32_MAX); /* one less, behind it: in between nothing that has room loses it */
    return DN_OK;
}

int dn_planner_index_put(dn_planner_index *r, const dn_planner_index_user *user) {
    assert(user->registration > 0 && user->due < DN_DAY_MINUTES && is_sound(r));
    const dn_index_cell *known =
        user->registration > r->greatest ? NULL : cell_of(r, user->registration);
    if (known) return user_change(r, dn_index_row(known) - 1, user);
    assert(user->id_len <= DN_ID_MAX);
    return user->id_len > 0 ? user_add(r, user) : DN_EDEAD;
}

/* All cells first, then all records: so that none waits for its own cell. */
void dn_planner_index_fetch(const dn_planner_index *r, const uint64_t *n, size_t len) {
    for (size_t i = 0; i < len; i++) dn_index_prefetch(&r->by_number, n[i]);
    for (size_t i = 0; i < len; i++) {
        const dn_index_cell *cell = dn_index_find(&r->by_number, n[i]);
        if (cell) __builtin_prefetch(&r->records[dn_index_row(cell) - 1], /* for writing */ 1);
    }
}

bool dn_planner_index_remove(dn_planner_index *r, uint64_t n) {
    dn_index_cell *found = cell_of(r, n);

    if (!found) return false;
    const uint32_t slot = dn_index_row(found) - 1;
    record        *u = &r->records[slot];
    count(r, u, UINT32_MAX);
    row_drop(r, slot);
    dn_index_drop(&r->by_number, found);
    id_give(r, u->id_len, u->cell);
    u->n = 0;
    u->pos = r->free;
    r->free = slot + 1;
    assert(is_sound(r));
    return true;
}

/* ---- A tick ---- */

void dn_planner_index_scan_begin(dn_planner_index_scan *scan, uint32_t window_minutes,
                                 int64_t now_ms) {
    *scan = (dn_planner_index_scan){.now_ms = now_ms, .window_minutes = window_minutes};
}

/* The row as it has to be when its latest day whose window has opened is that one. */
static void row_enter(dn_planner_index *r, uint32_t minute, dn_day day, dn_day today) {
    row *w = &r->rows[minute];

    /* Backwards those that are closed stay so: what is finalized for a day is for all before it. */
    if (day > w->day || (w->unclosed && !(day == w->day && day < today))) {
        w->open = w->len;
        w->unclosed = false;
        if (w->open > 0) row_mark(r, minute);
    }
    w->day = day;
}

/* Rows first.. up to the last. */
static void rows_enter_some(dn_planner_index *r, const dn_daily_openings *now, int32_t first,
                            int32_t last) {
    if (first < 0) first = 0;
    if (last >= DN_DAY_MINUTES) last = DN_DAY_MINUTES - 1;
    for (int32_t due = first; due <= last; due++)
        row_enter(r, (uint32_t)due,
                  now->today - 1 + (due <= now->due_today) + (due <= now->due_tomorrow),
                  now->today);
}

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

static int32_t most(int32_t a, int32_t b) { return a > b ? a : b; }

/* On the same date a row's day changes only between where the openings were and where they are; and where somebody is
 * unclosed the day is one before the date, and stays so while it is the same. */
static void rows_enter(dn_planner_index *r, const dn_planner_index_scan *s) {
    const dn_daily_openings now = dn_daily_openings_at(s->window_minutes, s->now_ms);
    const dn_daily_openings was = r->entered;

    r->entered = now;
    if (was.today != now.today) {
        rows_enter_some(r, &now, 0, DN_DAY_MINUTES - 1);
        return;
    }
    rows_enter_some(r, &now, least(was.due_tomorrow, now.due_tomorrow) + 1,
                    most(was.due_tomorrow, now.due_tomorrow));
    rows_enter_some(r, &now, least(was.due_today, now.due_today) + 1,
                    most(was.due_today, now.due_today));
}

/* The first row from there on in which somebody may be open; DN_DAY_MINUTES: none. */
static uint32_t row_next(const dn_planner_index *r, uint32_t minute) {
    uint32_t at = minute / WORD_ROWS;

    if (at >= OPEN_WORDS) return DN_DAY_MINUTES;
    uint64_t word = r->maybe_open[at] & UINT64_MAX << minute % WORD_ROWS;
    while (word == 0) {
        if (++at == OPEN_WORDS) return DN_DAY_MINUTES;
        word = r->maybe_open[at];
    }
    return at * WORD_ROWS + (uint32_t)__builtin_ctzll(word);
}

/* False: nothing is to be done for it. */
static bool plan(const dn_planner_index *r, const record *u, const dn_planner_index_scan *s,
                 dn_planner_index_plan *p) {
    const dn_daily_user user = {.due = u->due, .last_day = u->closed, .starts_on = DN_DAY_NONE};
    const dn_daily_plan wanted = dn_daily_decide(&user, s->window_minutes, s->now_ms);
    const dn_day_range  missed = dn_daily_missed(&user, u->recorded, s->now_ms);

    if (wanted.action == DN_DAILY_NOTHING && missed.first > missed.last) return false;
    *p = (dn_planner_index_plan){
        .registration = u->n,
        .due = u->due,
        .context_epoch = u->context_epoch,
        .action = wanted.action,
        .day = wanted.day,
        .missed = missed,
        .id_len = u->id_len,
        .id = id_of(r, u),
    };
    __builtin_prefetch(p->id);
    return true;
}

bool dn_planner_index_plan_of(const dn_planner_index *r, uint64_t n,
                              const dn_planner_index_scan *scan, dn_planner_index_plan *out_plan) {
    const dn_index_cell *found = cell_of(r, n);

    return found && plan(r, &r->records[dn_index_row(found) - 1], scan, out_plan);
}

/* Goes from the end to the front, because a user that is closed changes places with the last open one, which has been
 * looked at. So users may be closed, opened and removed between two slices: of the open ones only the first `at` are
 * still to be looked at. False: the row is not done, and either looks or plans are used up. */
static bool row_scan(dn_planner_index *r, row *w, dn_planner_index_scan *s, uint32_t *looks,
                     dn_planner_index_plan *plans, size_t max, size_t *len) {
    if (s->at > w->open) s->at = w->open; /* some were closed since the last slice */
    for (; s->at > 0; s->at--) {
        if (*looks == 0 || *len == max) return false;
        const record *u = &r->records[w->slots[s->at - 1]];
        if (s->at > FETCH_AHEAD) __builtin_prefetch(&r->records[w->slots[s->at - 1 - FETCH_AHEAD]]);
        --*looks;
        s->scanned++;
        if (plan(r, u, s, &plans[*len])) {
            ++*len;
            continue;
        }
        if (u->closed < w->day) w->unclosed = true;
        row_close(r, w, s->at - 1);
    }
    return true;
}

/* To the first row from that minute on in which somebody may be open. */
static void scan_go_to(const dn_planner_index *r, dn_planner_index_scan *s, uint32_t minute) {
    s->minute = row_next(r, minute);
    s->at = s->minute < DN_DAY_MINUTES ? r->rows[s->minute].open : 0;
}

bool dn_planner_index_scan_on(dn_planner_index *r, dn_planner_index_scan *s, uint32_t looks_max,
                              dn_planner_index_plan *plans, size_t max, size_t *out_len) {
    uint32_t looks = looks_max;

    *out_len = 0;
    if (!s->begun) {
        s->begun = true;
        rows_enter(r, s);
        scan_go_to(r, s, 0);
    }
    while (s->minute < DN_DAY_MINUTES) {
        row *w = &r->rows[s->minute];
        if (!row_scan(r, w, s, &looks, plans, max, out_len)) return true;
        if (w->open == 0) row_unmark(r, s->minute);
        scan_go_to(r, s, s->minute + 1);
    }
    return false;
}

void dn_planner_index_minutes(const dn_planner_index *r, dn_day day,
                              dn_planner_index_minute out[DN_DAY_MINUTES]) {
    for (int i = 0; i < DN_DAY_MINUTES; i++) {
        const tally *t = &r->rows[i].tallies[(uint32_t)day & 1];
        out[i] = (dn_planner_index_minute){.users = r->rows[i].len};
        if (t->day != day) continue;
        out[i].success = t->success;
        out[i].cutoff = t->cutoff;
    }
    dn_map_row awaiting;
    for (size_t at = 0; dn_map_next(&r->awaiting, &at, &awaiting);) {
        const uint64_t key = awaiting.key - 1;
        if ((dn_day)(uint32_t)(key >> DUE_BITS) >= day)
            out[key & ((1 << DUE_BITS) - 1)].users -= (uint32_t)awaiting.value;
    }
}
