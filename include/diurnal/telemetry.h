/* telemetry.h - the bus: named events with typed values, for whoever listens.
 * Who emits knows nothing of who listens: an event nobody listens to costs a load and a branch, an emission takes no
 * lock, and a handler that fails is no failure of the emitter. Values say what happened; they steer nothing.
 *
 *     #define JOB_DONE(MEASUREMENT, METADATA) \
 *         MEASUREMENT(REAL, duration_ms)      \
 *         METADATA(TEXT, result)
 *     DN_EVENT_DECLARE(job_done, JOB_DONE)               in the header of who emits, or above the next line
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

/* Measurements are what may be summed up and compared; metadata says of what. */
typedef enum dn_field_role { DN_MEASUREMENT, DN_METADATA } dn_field_role;

typedef struct dn_field {
    const char   *name;
    dn_field_type type;
    dn_field_role role;
} dn_field;

typedef union dn_value {
    int64_t     integer;
    double      real;
    const char *text; /* NULL: there is none */
} dn_value;

/* Static, and declared by the macros below. Names are segments of a-z, 0-9 and _, joined by dots. */
typedef struct dn_event {
    const char      *name;
    const dn_field  *fields;
    size_t           fields_len;
    uint32_t         handlers; /* the bus's own: a bit for each handler that listens */
    struct dn_event *next;     /* the bus's own */
} dn_event;

/* Whether anybody listens: for values that are dear to compute. Any thread. */
bool dn_event_wanted(const dn_event *event);

/* For handlers that want certain values: once, before they attach, so that no event has its names compared.
 * The event of that name, or NULL: none has registered yet. Any thread. */
const dn_event *dn_event_find(const char *name);
/* Where the value stands, or DN_EINVAL: the event has no such field, or not of that type. Any thread. */
DN_MUST_USE int dn_event_field(const dn_event *event, const char *name, dn_field_type type);

/* Calls each handler that listens, in no promised order, on this thread; returns when they have returned. Borrows
 * the values, one for each field, for the call. DN_EMIT is how to call it. Any thread, handlers included: what a
 * handler emits reaches all but those that are running on this thread, so it cannot call itself. */
void dn_event_emit(dn_event *event, const dn_value *values);

/* Emits, if anybody listens: only then are the values computed. At least one field. Any thread. */
#define DN_EMIT(event, ...)                                                                        \
    do {                                                                                           \
        _Static_assert(DN_COUNT_(__VA_ARGS__) == event##_fields_len,                               \
                       "an emission names each field of its event once");                          \
        if (dn_event_wanted(&event)) event##_emit_(&(const event##_values){__VA_ARGS__});          \
    } while (0)

#define DN_EVENT_DECLARE(event, FIELDS) DN_EVENT_TYPE_(event, DN_NO_FIELDS, FIELDS)

/* The event is known to the bus before main. */
#define DN_EVENT_DEFINE(event, name, FIELDS) DN_EVENT_OBJECT_(event, name, DN_NO_FIELDS, FIELDS)

#define DN_NO_FIELDS(MEASUREMENT, METADATA)

/* ---- Handlers ---- */

/* Called on the thread that emits, which waits for it: brief, and without waiting itself. event and values are
 * borrowed for the call, texts included. Negative: it has failed, is detached, and a line in the log says so; the
 * emitter does not notice. Several threads may be in it at once. It always returns: it must not end the actor that
 * happens to run there (dn_fail, dn_require). */
typedef int dn_telemetry_fn(void *context, const dn_event *event, const dn_value *values);

typedef uint64_t dn_telemetry_id; /* never 0, and not used again */

/* From now on fn(context) is called for every event whose name begins with the segments of prefix: "sched.job" is for
 * sched.job and sched.job.stop and not for sched.jobs, "" is for all. Events that are emitted for the first time
 * later are no exception. The same function may be attached again. name is for the log; both texts are
 * copied. DN_EINVAL: a text is too long, or the prefix cannot begin a name; DN_EFULL: too many handlers, and none is
 * put out for this one. Any thread, handlers included. */
DN_MUST_USE int dn_telemetry_attach(const char *name, const char *prefix, dn_telemetry_fn *fn,
                                    void *context, dn_telemetry_id *out_id);

/* No emission that begins after this calls the handler. DN_OK: it runs nowhere any more and will not run again, so
 * its context may go. Waits for calls under way on other threads to return.
 *
 * From inside a handler, this one or another, nothing waits, for two that wait for each other would wait for ever.
 * It then answers DN_PENDING: the handler may still be running, here and on other threads. Whoever owns the context
 * detaches once more from outside. An id that is detached already, by this or by its failure, is no error: that is
 * how one waits for its last call. Any thread. */
int dn_telemetry_detach(dn_telemetry_id id);

/* ---- Spans ----
 * Something that begins and ends, as three events: <name>.start (monotonic_ns), <name>.stop (duration_ms) and
 * <name>.exception (duration_ms, and the metadata reason, a DN_E code, and why). Each has further fields as its
 * lists say; the exception has those of the start.
 *
 *     DN_SPAN_DECLARE(job, JOB_START, JOB_STOP)
 *     DN_SPAN_DEFINE(job, "sched.job", JOB_START, JOB_STOP)
 *
 *     dn_span span;
 *     DN_SPAN_START(job, &span, dn_mono_ns(self), .user = "ada");
 *     DN_SPAN_STOP(job, &span, dn_mono_ns(self), .result = "ok");
 *
 * A span is a value of who has it: any number may be under way, in and across each other. The instants are the
 * caller's monotonic clock; the bus has none. Of a span that is over, or all zeros, no end is emitted: each start
 * has one end, whatever a clean-up does. */
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

/* Values given by position could change places unnoticed. */
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
