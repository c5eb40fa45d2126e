/* accept_failures.c - see accept_failures.h. */
#include "accept_failures.h"

#include "obs/log.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

enum { SAY_MS = 60000, OVER_MS = 10000, SO_FAR = 2 * DN_WORDS + 8 };

static int64_t ms_of(int64_t from_ns, int64_t to_ns) { return (to_ns - from_ns) / 1000000; }

/* "240 times in 2 min" */
static const char *so_far(const lockout *l, char out[SO_FAR]) {
    char times[DN_WORDS], duration[DN_WORDS];

    (void)snprintf(out, SO_FAR, "%s in %s", dn_words_count(l->tries, "time", times),
                   dn_words_duration(ms_of(l->since_ns, l->failed_ns), duration));
    return out;
}

void lockout_goes_on(lockout *l, int code, int64_t now_ns) {
    const bool begins = !l->lasts;
    char       words[SO_FAR];

    if (begins) *l = (lockout){.lasts = true, .since_ns = now_ns};
    l->failed_ns = now_ns;
    l->tries++;
    if (!begins && ms_of(l->said_ns, now_ns) < SAY_MS) return;
    l->said_ns = now_ns;
    dn_log(DN_LOG_WARN, "http.accept", "cannot let anybody in%s%s: %s", begins ? "" : ", ",
           begins ? "" : so_far(l, words), strerror(code));
}

void lockout_look(lockout *l, int64_t now_ns) {
    char words[SO_FAR];

    if (!l->lasts || ms_of(l->failed_ns, now_ns) < OVER_MS) return;
    l->lasts = false;
    dn_log(DN_LOG_INFO, "http.accept_over", "whoever comes is let in again; that failed %s",
           so_far(l, words));
}
