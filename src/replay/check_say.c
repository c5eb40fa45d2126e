/* check_say.c - what was found, in words. */
#include "check_own.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const names[CHECK_RULES] = {
    [CHECK_I1] = "I1",           [CHECK_I2] = "I2",           [CHECK_I3] = "I3",
    [CHECK_I4] = "I4",           [CHECK_I5] = "I5",           [CHECK_I6] = "I6",
    [CHECK_WINDOW] = "window",   [CHECK_SPACING] = "spacing", [CHECK_OVERLAP] = "overlap",
    [CHECK_CLOSED] = "closed",   [CHECK_ORDER] = "order",     [CHECK_IGNORED] = "ignored",
    [CHECK_EXPIRED] = "expired", [CHECK_STOP] = "stop",       [CHECK_LATE] = "late",
    [CHECK_MISSED] = "missed",   [CHECK_EPOCH] = "epoch",     [CHECK_TICK] = "tick",
    [CHECK_LOG] = "log",
};

const char *check_rule_name(check_rule rule) { return rule < CHECK_RULES ? names[rule] : NULL; }

static int say_user(const check *c, uint64_t n, char *text, int room) {
    if (n >= c->users.end || c->users.records[n].id_len == 0)
        return snprintf(text, (size_t)room, " user #%llu", (unsigned long long)n);
    const check_record *r = &c->users.records[n];
    return snprintf(text, (size_t)room, " user %.*s", r->id_len, c->users.ids + r->id_at);
}

/* Rules that speak of what somebody only has in memory. */
static bool is_of_memory(check_rule rule) {
    return rule != CHECK_I1 && rule != CHECK_I5 && rule != CHECK_I6 && rule != CHECK_MISSED &&
           rule != CHECK_EPOCH;
}

void check_say(check *c, check_rule rule, uint64_t n, dn_day day, const char *format, ...) {
    char    instant[CHECK_INSTANT_TEXT], date[CHECK_DAY_TEXT];
    va_list args;

    if (c->mending && c->now_ms - c->shaken_ms <= CHECK_RESTART_MS && is_of_memory(rule)) return;
    c->counts[rule]++;
    if (c->texts_len == CHECK_TEXTS) return;
    char *text = c->texts[c->texts_len];
    c->text_list[c->texts_len++] = text;
    int at = snprintf(text, CHECK_TEXT, "%s:", names[rule]);
    if (n != CHECK_ALL) at += say_user(c, n, text + at, CHECK_TEXT - at);
    if (day != DN_DAY_NONE)
        at += snprintf(text + at, (size_t)(CHECK_TEXT - at), " day %s", check_day_text(day, date));
    at += snprintf(text + at, (size_t)(CHECK_TEXT - at),
                   " at %s: ", check_instant_text(c->wall_ms, instant));
    va_start(args, format);
    vsnprintf(text + at, (size_t)(CHECK_TEXT - at), format, args);
    va_end(args);
}

uint64_t check_violations_of(const check *c, check_rule rule) { return c->counts[rule]; }

uint64_t check_violations_len(const check *c) {
    uint64_t len = 0;

    for (int i = 0; i < CHECK_RULES; i++) len += c->counts[i];
    return len;
}

size_t check_violations(const check *c, const char *const **out_texts) {
    *out_texts = c->text_list;
    return c->texts_len;
}
