/* telemetry.c - the event bus: which handlers listen to which events, and the calls.
 * An event has one bit for each handler that listens to it. An emission counts itself into a handler's slot, and then looks
 * whether the handler is still attached and the event's bit still set. A detach clears both and then waits until nobody is
 * counted in, so that no call begins afterwards. Both sides write first and read then, and all of it is seq_cst: of two
 * that meet, one sees the other. Only a detach from outside a handler waits. */
#include "diurnal/telemetry.h"

#include "log.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* A slot's word: the number of calls under way, two flags, and how often the slot has been taken. */
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

/* All events there are, newest first; none ever goes. */
static _Atomic(dn_event *) events;

/* The handlers this thread is in, a bit each. */
static _Thread_local uint32_t running_here;

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

/* A handler that this thread is in already is passed over: it does not call itself. */
void dn_event_emit(dn_event *event, const dn_value *values) {
    const uint32_t before = running_here;

    for (uint32_t left = event_handlers(event) & ~before; left; left &= left - 1) {
        slot          *s = &slots[__builtin_ctz(left)];
        const uint32_t bit = left & -left;
        running_here = before | bit;
        if (slot_enter(s)) slot_call(s, bit, event, values);
        slot_leave(s);
    }
    running_here = before;
}

/* ---- Handlers ---- */

/* No call may be in it: one that came too late for the life before still has to leave. */
static bool slot_take(slot *s) {
    uint64_t word = slot_look(s);

    while (!(word & (TAKEN | CALLS))) {
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

    (void)slot_shut(s, life); /* false: another thread has done so */
    while (word = slot_look(s), word / LIFE == life && (word & CALLS)) {
        if (running_here) return DN_PENDING;
        sched_yield(); /* a handler is brief */
    }
    return DN_OK;
}
