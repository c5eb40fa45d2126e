/* telemetry.c - the bus: who listens to what, and the calls.
 * Nothing here waits, but for a detach from outside: an event has a bit for each handler that listens. A call first says
 * that it goes into a handler, and then looks whether that is still attached and the event's bit still set; so whoever
 * took the handler away, and after that sees nobody in it, knows that none will come.
 *
 * There are two ways to go in. A thread with a row (thread_row.h) marks the handler there, by a store; a locked
 * instruction would cost more than most handlers do. That the store is seen before the look that follows it is the care of
 * who takes a handler away: it has the kernel put a barrier into every thread of the process that runs (membarrier), and
 * then reads the marks. Threads without a row, all threads where the kernel has no such barrier, and who attaches, count
 * themselves in the word of the handler. Every change of a word or a list that a party then looks past is seq_cst: of
 * two that meet, one sees the other. */
#define _GNU_SOURCE /* syscall */
#include "diurnal/telemetry.h"

#include "log.h"
#include "thread_row.h"

#include <assert.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A slot's word: the calls under way that are counted, two flags, and how often the slot has been taken. */
#define CALLS    UINT64_C(0xffffffff)
#define ATTACHED (UINT64_C(1) << 32) /* calls are let through; the fields below are set */
#define TAKEN    (UINT64_C(1) << 33) /* not to be had */
#define LIFE     (UINT64_C(1) << 34) /* one more life, in all the bits above */

typedef struct slot {
    /* A cache line of its own: loops that emit different events do not meet. */
    _Alignas(64) _Atomic(uint64_t) word;
    /* Written by who has taken the slot and not attached it yet. Read by calls that went in while it is attached. */
    dn_telemetry_fn *fn;
    void            *context;
    char             name[DN_EVENT_NAME_MAX + 1], prefix[DN_EVENT_NAME_MAX + 1];
} slot;

static slot slots[DN_TELEMETRY_HANDLERS_MAX];

/* The handlers a thread with a row is in, a bit each. That thread writes, any thread reads. */
typedef struct mark {
    _Alignas(64) _Atomic(uint32_t) calls;
} mark;

static mark           marks[THREAD_ROWS];
static atomic_bool    marks_count; /* once true, for ever */
static pthread_once_t marks_once = PTHREAD_ONCE_INIT;

/* All events there are, newest first; none ever goes. */
static _Atomic(dn_event *) events;

/* The handlers this thread is in and counted in. */
static _Thread_local uint32_t counted_here;

_Static_assert(DN_TELEMETRY_HANDLERS_MAX <= 32, "an event has a bit for each handler");

static uint32_t bit_of(const slot *s) { return UINT32_C(1) << (s - slots); }

/* ---- Names ---- */

/* Segments of a-z, 0-9 and _, none of them empty. */
static bool name_is_sound(const char *name) {
    size_t len = 0, segment = 0;

    for (; name[len]; len++) {
        const char c = name[len];
        if (len >= DN_EVENT_NAME_MAX) return false;
        if (c == '.' && segment == 0) return false;
        if (c != '.' && c != '_' && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
            return false;
        segment = c == '.' ? 0 : segment + 1;
    }
    return segment > 0;
}

static bool name_begins_with(const char *name, const char *prefix) {
    const size_t len = strlen(prefix);

    if (len == 0) return true;
    return strncmp(name, prefix, len) == 0 && (name[len] == '\0' || name[len] == '.');
}

/* ---- The marks ---- */

static int membarrier(int command) { return (int)syscall(SYS_membarrier, command, 0, 0); }

static void marks_begin(void) {
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
        atomic_store_explicit(&marks_count, true, memory_order_relaxed);
}

/* NULL: be counted. relaxed: until it is seen to be true, that is right too. */
static mark *mark_mine(void) {
    if (!atomic_load_explicit(&marks_count, memory_order_relaxed)) return NULL;
    const int row = thread_row_mine();
    return row == THREAD_ROW_NONE ? NULL : &marks[row];
}

/* Those that went in before this stand in the marks; those that go in behind it see what was taken away before it. */
static void marks_settle(void) {
    if (!atomic_load_explicit(&marks_count, memory_order_relaxed)) return;
    while (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
        assert(errno == ENOMEM); /* the kernel's own, and not for long */
        sched_yield();
    }
}

/* release: pairs with marks_have, which means the calls before it too. */
static void mark_set(mark *m, uint32_t calls) {
    atomic_store_explicit(&m->calls, calls, memory_order_release);
}

/* The handlers this thread is in, whichever way. */
static uint32_t running_here(void) {
    const mark *m = thread_row_here ? &marks[thread_row_here - 1] : NULL;

    return counted_here | (m ? atomic_load_explicit(&m->calls, memory_order_relaxed) : 0);
}

static bool marks_have(uint32_t bit) {
    for (int i = 0; i < THREAD_ROWS; i++)
        if (atomic_load_explicit(&marks[i].calls, memory_order_acquire) & bit) return true;
    return false;
}

/* ---- The words ---- */

/* False: it is not attached, and nothing may be read of it. Either way the caller must leave. */
static bool slot_enter(slot *s) {
    return atomic_fetch_add_explicit(&s->word, 1, memory_order_seq_cst) & ATTACHED;
}

static void slot_leave(slot *s) { atomic_fetch_sub_explicit(&s->word, 1, memory_order_seq_cst); }

static uint64_t slot_look(slot *s) { return atomic_load_explicit(&s->word, memory_order_seq_cst); }

/* Builtins, so that the public header needs no atomic types. */
static void event_hear(dn_event *e, uint32_t bit) {
    __atomic_fetch_or(&e->handlers, bit, __ATOMIC_SEQ_CST);
}
static void event_ignore(dn_event *e, uint32_t bit) {
    __atomic_fetch_and(&e->handlers, ~bit, __ATOMIC_SEQ_CST);
}

/* The caller has gone in and found it attached. A detach that comes in between clears the bits it finds; the bit set
 * after that is cleared here, and as long as the caller is in, nobody else gets the slot. */
static void slot_hear(slot *s, dn_event *e) {
    if (!name_begins_with(e->name, s->prefix)) return;
    event_hear(e, bit_of(s));
    if (!(slot_look(s) & ATTACHED)) event_ignore(e, bit_of(s));
}

static dn_event *events_look(void) { return atomic_load_explicit(&events, memory_order_seq_cst); }

/* Whoever takes the flag away clears the bits, and only then may the slot be had again. False: somebody else did. */
static bool slot_shut(slot *s, uint64_t life) {
    uint64_t word = slot_look(s);

    do {
        if (!(word & ATTACHED) || word / LIFE != life) return false;
    } while (!atomic_compare_exchange_weak_explicit(&s->word, &word, word & ~ATTACHED,
                                                    memory_order_seq_cst, memory_order_seq_cst));
    for (dn_event *e = events_look(); e; e = e->next) event_ignore(e, bit_of(s));
    marks_settle();
    atomic_fetch_and_explicit(&s->word, ~TAKEN, memory_order_seq_cst);
    return true;
}

/* ---- Events ---- */

void dn_event_register_(dn_event *event) {
    assert(name_is_sound(event->name));
    event->next = atomic_load_explicit(&events, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&events, &event->next, event,
                                                  memory_order_seq_cst, memory_order_relaxed)) {}
    for (size_t i = 0; i < DN_TELEMETRY_HANDLERS_MAX; i++) {
        if (slot_enter(&slots[i])) slot_hear(&slots[i], event);
        slot_leave(&slots[i]);
    }
}

const dn_event *dn_event_find(const char *name) {
    const dn_event *e = events_look();

    while (e && strcmp(e->name, name) != 0) e = e->next;
    return e;
}

int dn_event_field(const dn_event *event, const char *name, dn_field_type type) {
    for (size_t i = 0; i < event->fields_len; i++)
        if (event->fields[i].type == type && strcmp(event->fields[i].name, name) == 0)
            return (int)i;
    return DN_EINVAL;
}

/* relaxed: an attach or a detach that nothing orders with this emission is before it or after it, as it pleases. */
static uint32_t event_handlers(const dn_event *e) {
    return __atomic_load_n(&e->handlers, __ATOMIC_RELAXED);
}

bool dn_event_wanted(const dn_event *event) { return event_handlers(event) != 0; }

/* On the emitter's thread, which is in. The bit again: it may have been of somebody else who had the slot before. */
static void slot_call(slot *s, uint32_t bit, const dn_event *event, const dn_value *values) {
    if (!(event_handlers(event) & bit)) return;
    const int rc = s->fn(s->context, event, values);
    /* In is in: the slot cannot have begun another life since. */
    if (rc < 0 && slot_shut(s, slot_look(s) / LIFE))
        dn_log(DN_LOG_WARN, "telemetry.detached",
               "the handler %s failed at %s and is called no more: %s", s->name, event->name,
               dn_error_text(rc));
}

static void emit_counted(uint32_t left, const dn_event *event, const dn_value *values) {
    const uint32_t before = counted_here;

    for (; left; left &= left - 1) {
        slot          *s = &slots[__builtin_ctz(left)];
        const uint32_t bit = left & -left;
        counted_here = before | bit;
        if (slot_enter(s)) slot_call(s, bit, event, values);
        slot_leave(s);
    }
    counted_here = before;
}

static void emit_marked(mark *m, uint32_t left, const dn_event *event, const dn_value *values) {
    const uint32_t before = atomic_load_explicit(&m->calls, memory_order_relaxed);

    for (left &= ~before; left; left &= left - 1) {
        slot          *s = &slots[__builtin_ctz(left)];
        const uint32_t bit = left & -left;
        mark_set(m, before | bit);
        atomic_signal_fence(memory_order_seq_cst); /* pairs with marks_settle */
        if (slot_look(s) & ATTACHED) slot_call(s, bit, event, values);
        mark_set(m, before);
    }
}

/* Who runs on this thread is passed by. Its way of going in may have changed since an emission that this one is within. */
void dn_event_emit(dn_event *event, const dn_value *values) {
    const uint32_t left = event_handlers(event) & ~counted_here;
    mark          *m = mark_mine();

    if (m) emit_marked(m, left, event, values);
    else emit_counted(left, event, values);
}

/* ---- Handlers ---- */

/* No call may be in it: one that was late for the life before still has to leave. Who let it go has settled the marks. */
static bool slot_take(slot *s) {
    uint64_t word = slot_look(s);

    while (!(word & (TAKEN | CALLS)) && !marks_have(bit_of(s))) {
        if (atomic_compare_exchange_weak_explicit(&s->word, &word, (word | TAKEN) + LIFE,
                                                  memory_order_seq_cst, memory_order_seq_cst))
            return true;
    }
    return false;
}

static dn_telemetry_id id_of(const slot *s, uint64_t life) {
    return life * DN_TELEMETRY_HANDLERS_MAX + (uint64_t)(s - slots);
}

int dn_telemetry_attach(const char *name, const char *prefix, dn_telemetry_fn *fn, void *context,
                        dn_telemetry_id *out_id) {
    size_t i = 0;

    assert(name && prefix && fn && out_id);
    if (strlen(name) > DN_EVENT_NAME_MAX || (*prefix && !name_is_sound(prefix))) return DN_EINVAL;
    pthread_once(&marks_once, marks_begin);
    while (i < DN_TELEMETRY_HANDLERS_MAX && !slot_take(&slots[i])) i++;
    if (i == DN_TELEMETRY_HANDLERS_MAX) return DN_EFULL;

    slot *s = &slots[i];
    s->fn = fn;
    s->context = context;
    memcpy(s->name, name, strlen(name) + 1);
    memcpy(s->prefix, prefix, strlen(prefix) + 1);
    /* With one call in, which is this: the handler may fail and go while the bits are being set. */
    const uint64_t word = atomic_fetch_add_explicit(&s->word, ATTACHED + 1, memory_order_seq_cst);
    for (dn_event *e = events_look(); e; e = e->next) slot_hear(s, e);
    slot_leave(s);
    *out_id = id_of(s, word / LIFE);
    return DN_OK;
}

int dn_telemetry_detach(dn_telemetry_id id) {
    slot          *s = &slots[id % DN_TELEMETRY_HANDLERS_MAX];
    const uint64_t life = id / DN_TELEMETRY_HANDLERS_MAX;
    uint64_t       word;

    /* Whoever else shuts it may not have come to that yet. */
    if (!slot_shut(s, life)) marks_settle();
    while (word = slot_look(s), word / LIFE == life && ((word & CALLS) || marks_have(bit_of(s)))) {
        if (running_here()) return DN_PENDING;
        sched_yield(); /* a handler is brief */
    }
    return DN_OK;
}
