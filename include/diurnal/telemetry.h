/* telemetry.h - the event bus: named events with typed values.
 * The emitter does not know the handlers. An event without handlers costs a load and a branch. An emission takes no lock, and a
 * handler that fails does not affect the emitter. Values describe what happened; they control nothing.
 *
 *     #define JOB_DONE(MEASUREMENT, METADATA) \
 *         MEASUREMENT(REAL, duration_ms)      \
 *         METADATA(TEXT, result)
 *     DN_EVENT_DECLARE(job_done, JOB_DONE)               in the emitter's header, or above the next line
 *     DN_EVENT_DEFINE(job_done, "job.done", JOB_DONE)    in one file
 *
 *     DN_EMIT(job_done, .duration_ms = 12.5, .result = "ok");
 *
 * An emission names each field of its event exactly once and with its type, or it does not compile. */
#ifndef DIURNAL_TELEMETRY_H
#define DIURNAL_TELEMETRY_H

#include "diurnal/base.h"

enum {
    DN_TELEMETRY_HANDLERS_MAX = 32, /* one more is refused with DN_EFULL */
    DN_EVENT_NAME_MAX = 63, /* bytes of an event's name, of a prefix and of a handler's name */
    DN_EVENT_FIELDS_MAX = 16,
};

/* ---- Events ---- */

typedef enum dn_field_type { DN_INTEGER, DN_REAL, DN_TEXT } dn_field_type;

/* Measurements are numbers to add up and compare; metadata says what they belong to. */
typedef enum dn_field_role { DN_MEASUREMENT, DN_METADATA } dn_field_role;

typedef struct dn_field {
    const char   *name;
    dn_field_type type;
    dn_field_role role;
} dn_field;

typedef union dn_value {
    int64_t     integer;
    double      real;
    const char *text; /* NULL: none */
} dn_value;

/* Defined by the macros below, and static. A name is segments of a-z, 0-9 and _, joined by dots. */
typedef struct dn_event {
    const char      *name;
    const dn_field  *fields;
    size_t           fields_len;
    uint32_t         handlers; /* for the bus only: one bit for each handler that listens */
    struct dn_event *next;     /* for the bus only */
} dn_event;

/* Does any handler listen? For values that are expensive to compute. Any thread. */
bool dn_event_wanted(const dn_event *event);

/* The event of that name, or NULL if there is none. For handlers, once before they attach, so that they need not compare names
 * at each event. Any thread. */
const dn_event *dn_event_find(const char *name);
/* The index of the field among the values. DN_EINVAL: the event has no field of that name and type. Any thread. */
DN_MUST_USE int dn_event_field(const dn_event *event, const char *name, dn_field_type type);

/* Calls each handler that listens, on this thread and in any order, and returns when they have returned. Borrows the values, one
 * for each field, for the call. Use DN_EMIT. Any thread, and handlers: an event emitted by a handler reaches all handlers but
 * those that run on this thread, so a handler cannot call itself. */
void dn_event_emit(dn_event *event, const dn_value *values);

/* Emits the event if a handler listens; the values are computed only then. At least one field. Any thread. */
#define DN_EMIT(event, ...)                                                                        \
    do {                                                                                           \
        _Static_assert(DN_COUNT_(__VA_ARGS__) == event##_fields_len,                               \
                       "an emission names each field of its event once");                          \
        if (dn_event_wanted(&event)) event##_emit_(&(const event##_values){__VA_ARGS__});          \
    } while (0)

#define DN_EVENT_DECLARE(event, FIELDS) DN_EVENT_TYPE_(event, DN_NO_FIELDS, FIELDS)

/* The event is registered before main. */
#define DN_EVENT_DEFINE(event, name, FIELDS) DN_EVENT_OBJECT_(event, name, DN_NO_FIELDS, FIELDS)

#define DN_NO_FIELDS(MEASUREMENT, METADATA)

/* ---- Handlers ---- */

/* A handler. It runs on the emitter's thread, which waits for it, so it must be brief and must not block. Several threads may call
 * it at once. Borrows event, values and texts for the call. A negative result is a failure: the handler is detached and the
 * log says so; the emitter is not affected. It must not call dn_fail or dn_require, which would end the emitting actor. */
typedef int dn_telemetry_fn(void *context, const dn_event *event, const dn_value *values);

typedef uint64_t dn_telemetry_id; /* never 0, and not used again */

/* Attaches fn(context) to every event whose name begins with the segments of prefix, also to events that are first emitted later:
 * "sched.job" means sched.job and sched.job.stop but not sched.jobs; "" means all. A function may be attached several times.
 * name is for the log. Both texts are copied. DN_EINVAL: a text is too long, or no name can begin with prefix. DN_EFULL: there
 * are DN_TELEMETRY_HANDLERS_MAX handlers. Any thread, and handlers. */
DN_MUST_USE int dn_telemetry_attach(const char *name, const char *prefix, dn_telemetry_fn *fn,
                                    void *context, dn_telemetry_id *out_id);

/* Detaches a handler: no emission that begins afterwards calls it. Waits until its calls on other threads have returned.
 * DN_OK: it will not run any more, and its context may be freed.
 * DN_PENDING: called from inside a handler, where waiting could deadlock. The handler may still run, here or on other threads;
 * the owner of the context must detach it again from outside a handler.
 * Detaching an id twice is no error, also after the handler has failed. Any thread. */
int dn_telemetry_detach(dn_telemetry_id id);

/* ---- Spans ----
 * A span begins and ends. It has three events: <name>.start (monotonic_ns), <name>.stop (duration_ms) and <name>.exception
 * (duration_ms, and the metadata reason, a DN_E code, and why). Its lists add further fields; the exception has those of the
 * start.
 *
 *     DN_SPAN_DECLARE(job, JOB_START, JOB_STOP)
 *     DN_SPAN_DEFINE(job, "sched.job", JOB_START, JOB_STOP)
 *
 *     dn_span span;
 *     DN_SPAN_START(job, &span, dn_mono_ns(self), .user = "ada");
 *     DN_SPAN_STOP(job, &span, dn_mono_ns(self), .result = "ok");
 *
 * A span is a value of the caller's; any number of spans may overlap. The caller passes the instants of its monotonic clock. The
 * end of a span that is over, or all zeros, emits nothing, so each start has one end. */
typedef struct dn_span {
    int64_t started_ns;
    bool    open;
} dn_span;

#define DN_SPAN_DECLARE(span, START, STOP)                                                         \
    DN_EVENT_TYPE_(span##_start, DN_SPAN_STARTED_, START)                                          \
    DN_EVENT_TYPE_(span##_stop, DN_SPAN_STOPPED_, STOP)                                            \
    DN_EVENT_TYPE_(span##_exception, DN_SPAN_FAILED_, START)

#define DN_SPAN_DEFINE(span, name, START, STOP)                                                    \
    DN_EVENT_OBJECT_(span##_start, name ".start", DN_SPAN_STARTED_, START)                         \
    DN_EVENT_OBJECT_(span##_stop, name ".stop", DN_SPAN_STOPPED_, STOP)                            \
    DN_EVENT_OBJECT_(span##_exception, name ".exception", DN_SPAN_FAILED_, START)

#define DN_SPAN_START(span, it, now_ns, ...)                                                       \
    do {                                                                                           \
        const int64_t dn_now_ = (now_ns);                                                          \
        *(it) = (dn_span){dn_now_, true};                                                          \
        DN_EMIT(span##_start, .monotonic_ns = dn_now_, ##__VA_ARGS__);                             \
    } while (0)

#define DN_SPAN_STOP(span, it, now_ns, ...)                                                        \
    do {                                                                                           \
        double dn_ms_;                                                                             \
        if (dn_span_end_((it), (now_ns), &dn_ms_))                                                 \
            DN_EMIT(span##_stop, .duration_ms = dn_ms_, ##__VA_ARGS__);                            \
    } while (0)

#define DN_SPAN_EXCEPTION(span, it, now_ns, code, text, ...)                                       \
    do {                                                                                           \
        double dn_ms_;                                                                             \
        if (dn_span_end_((it), (now_ns), &dn_ms_))                                                 \
            DN_EMIT(span##_exception, .duration_ms = dn_ms_, .reason = (code), .why = (text),      \
                    ##__VA_ARGS__);                                                                \
    } while (0)

/* ---- Only for the macros above ---- */

void dn_event_register_(dn_event *event);

static inline bool dn_span_end_(dn_span *span, int64_t now_ns, double *out_ms) {
    if (!span->open) return false;
    span->open = false;
    *out_ms = (double)(now_ns - span->started_ns) / 1e6;
    return true;
}

#define DN_SPAN_STARTED_(MEASUREMENT, METADATA) MEASUREMENT(INTEGER, monotonic_ns)
#define DN_SPAN_STOPPED_(MEASUREMENT, METADATA) MEASUREMENT(REAL, duration_ms)
#define DN_SPAN_FAILED_(MEASUREMENT, METADATA)                                                     \
    MEASUREMENT(REAL, duration_ms) METADATA(INTEGER, reason) METADATA(TEXT, why)

#define DN_C_TYPE_INTEGER_ int64_t
#define DN_C_TYPE_REAL_    double
#define DN_C_TYPE_TEXT_    const char *
#define DN_VALUE_INTEGER_  integer
#define DN_VALUE_REAL_     real
#define DN_VALUE_TEXT_     text

#define DN_FIELD_MEMBER_(type, name)      DN_C_TYPE_##type##_ name;
#define DN_FIELD_ONE_(type, name)         +1
#define DN_FIELD_VALUE_(type, name)       {.DN_VALUE_##type##_ = named->name},
#define DN_FIELD_MEASUREMENT_(type, name) {#name, DN_##type, DN_MEASUREMENT},
#define DN_FIELD_METADATA_(type, name)    {#name, DN_##type, DN_METADATA},

/* Values given by position could be swapped unnoticed. */
#if defined __GNUC__ && !defined __clang__
#define DN_BY_NAME_ __attribute__((designated_init))
#else
#define DN_BY_NAME_
#endif

#define DN_EVENT_TYPE_(event, FIRST, FIELDS)                                                       \
    typedef struct DN_BY_NAME_ event##_values {                                                    \
        FIRST(DN_FIELD_MEMBER_, DN_FIELD_MEMBER_)                                                  \
        FIELDS(DN_FIELD_MEMBER_, DN_FIELD_MEMBER_)                                                 \
    } event##_values;                                                                              \
    enum {                                                                                         \
        event##_fields_len =                                                                       \
            0 FIRST(DN_FIELD_ONE_, DN_FIELD_ONE_) FIELDS(DN_FIELD_ONE_, DN_FIELD_ONE_)             \
    };                                                                                             \
    _Static_assert((int)event##_fields_len > 0 && (int)event##_fields_len <= DN_EVENT_FIELDS_MAX,  \
                   "an event has 1 to 16 fields");                                                 \
    extern dn_event                            event;                                              \
    __attribute__((unused)) static inline void event##_emit_(const event##_values *named) {        \
        const dn_value values[] = {FIRST(DN_FIELD_VALUE_, DN_FIELD_VALUE_)                         \
                                       FIELDS(DN_FIELD_VALUE_, DN_FIELD_VALUE_)};                  \
        dn_event_emit(&event, values);                                                             \
    }

#define DN_EVENT_OBJECT_(event, event_name, FIRST, FIELDS)                                         \
    static const dn_field event##_fields[] = {                                                     \
        FIRST(DN_FIELD_MEASUREMENT_, DN_FIELD_METADATA_)                                           \
            FIELDS(DN_FIELD_MEASUREMENT_, DN_FIELD_METADATA_)};                                    \
    dn_event event = {                                                                             \
        .name = event_name, .fields = event##_fields, .fields_len = event##_fields_len};           \
    __attribute__((constructor)) static void event##_register_(void) { dn_event_register_(&event); }

#define DN_COUNT_(...)                                                                             \
    DN_COUNT_AT_(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2,  \
                 1, 0)
#define DN_COUNT_AT_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17,   \
                     _18, _19, _20, count, ...)                                                    \
    count

#endif
