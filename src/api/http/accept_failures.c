/* accept_failures.c - see accept_failures.h. */
#include "accept_failures.h"

#include "obs/log.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

enum { LOG_MS = 60000, OVER_MS = 10000, SO_FAR = 2 * DN_WORDS + 8 };

static int64_t ms_between(int64_t from_ns, int64_t to_ns) { return (to_ns - from_ns) / 1000000; }

/* "240 times in 2 min" */
static const char *so_far(const accept_failures *f, char out[SO_FAR]) {
    char times[DN_WORDS], duration[DN_WORDS];

    (void)snprintf(out, SO_FAR, "%s in %s", dn_words_count(f->count, "time", times),
                   dn_words_duration(ms_between(f->since_ns, f->last_ns), duration));
    return out;
}

void accept_failures_add(accept_failures *f, int code, int64_t now_ns) {
    const bool begins = !f->lasting;
    char       words[SO_FAR];

    if (begins) *f = (accept_failures){.lasting = true, .since_ns = now_ns};
    f->last_ns = now_ns;
    f->count++;
    if (!begins && ms_between(f->logged_ns, now_ns) < LOG_MS) return;
    f->logged_ns = now_ns;
    dn_log(DN_LOG_WARN, "http.accept", "cannot accept connections%s%s: %s",
           begins ? "" : ", failed ", begins ? "" : so_far(f, words), strerror(code));
}

void accept_failures_check(accept_failures *f, int64_t now_ns) {
    char words[SO_FAR];

    if (!f->lasting || ms_between(f->last_ns, now_ns) < OVER_MS) return;
    f->lasting = false;
    dn_log(DN_LOG_INFO, "http.accept_over", "connections are accepted again; accept failed %s",
           so_far(f, words));
}
