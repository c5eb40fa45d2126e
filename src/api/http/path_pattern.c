/* path_pattern.c - see path_pattern.h. */
#include "path_pattern.h"

#include <assert.h>
#include <string.h>

/* ---- Compiling ---- */

/* False: it has a brace that is no part of one {name}, or two captures. */
static bool segment_compile(http_text text, path_segment *out) {
    const char *open = memchr(text.at, '{', text.len), *close = memchr(text.at, '}', text.len);

    *out = (path_segment){.before = text};
    if (!open && !close) return true;
    if (!open || !close || close <= open + 1) return false;
    const char *const end = text.at + text.len;
    out->captures = true;
    out->before.len = (size_t)(open - text.at);
    out->after = (http_text){close + 1, (size_t)(end - close - 1)};
    return !memchr(open + 1, '{', (size_t)(end - open - 1)) &&
           !memchr(close + 1, '}', (size_t)(end - close - 1));
}

/* Takes the next segment of a path that begins with its slash. */
static http_text segment_take(http_text *rest) {
    const char *const begin = rest->at + 1, *const end = rest->at + rest->len;
    const char       *slash = memchr(begin, '/', (size_t)(end - begin));
    const char *const stop = slash ? slash : end;

    *rest = (http_text){stop, (size_t)(end - stop)};
    return (http_text){begin, (size_t)(stop - begin)};
}

int path_pattern_compile(const char *text, path_pattern *out_pattern) {
    path_pattern p = {.text = text};
    http_text    rest = {text, strlen(text)};

    if (*text != '/') return DN_EINVAL;
    while (rest.len > 0) {
        path_segment *s = &p.segments[p.segments_len];
        if (p.segments_len++ == PATH_SEGMENTS_MAX || !segment_compile(segment_take(&rest), s))
            return DN_EINVAL;
        p.captures_len += s->captures;
    }
    if (p.captures_len > PATH_CAPTURES_MAX) return DN_EINVAL;
    *out_pattern = p;
    assert(path_pattern_is_sound(out_pattern));
    return DN_OK;
}

bool path_pattern_is_sound(const path_pattern *pattern) {
    size_t captures = 0;

    if (pattern->segments_len < 1 || pattern->segments_len > PATH_SEGMENTS_MAX) return false;
    for (size_t i = 0; i < pattern->segments_len; i++) {
        const path_segment *s = &pattern->segments[i];
        captures += s->captures;
        if (!s->captures && s->after.len > 0) return false;
    }
    return captures == pattern->captures_len && captures <= PATH_CAPTURES_MAX;
}

/* ---- Matching ---- */

static bool is_same(http_text a, const char *at) { return memcmp(a.at, at, a.len) == 0; }

static bool segment_match(const path_segment *s, http_text text, http_text *out_capture) {
    const size_t literal = s->before.len + s->after.len;

    if (s->captures ? text.len < literal : text.len != literal) return false;
    if (s->before.len > 0 && !is_same(s->before, text.at)) return false;
    if (s->after.len > 0 && !is_same(s->after, text.at + text.len - s->after.len)) return false;
    *out_capture = (http_text){text.at + s->before.len, text.len - literal};
    return true;
}

bool path_pattern_match(const path_pattern *pattern, http_text path, path_captures *out_captures) {
    path_captures captures = {0};
    http_text     capture;

    if (path.len == 0 || *path.at != '/') return false;
    for (size_t i = 0; i < pattern->segments_len; i++) {
        if (path.len == 0 || !segment_match(&pattern->segments[i], segment_take(&path), &capture))
            return false;
        if (pattern->segments[i].captures) captures.at[captures.len++] = capture;
    }
    if (path.len > 0) return false;
    assert(captures.len == pattern->captures_len);
    *out_captures = captures;
    return true;
}

/* ---- Order ---- */

static int segment_compare(const path_segment *a, const path_segment *b) {
    const size_t of_a = a->before.len + a->after.len, of_b = b->before.len + b->after.len;

    if (a->captures != b->captures) return a->captures ? 1 : -1;
    return a->captures ? (of_b > of_a) - (of_b < of_a) : 0;
}

int path_pattern_compare(const path_pattern *a, const path_pattern *b) {
    for (size_t i = 0; i < a->segments_len && i < b->segments_len; i++) {
        const int order = segment_compare(&a->segments[i], &b->segments[i]);
        if (order != 0) return order;
    }
    /* No path matches both if their lengths differ, but sorting needs an order of all. */
    return (a->segments_len > b->segments_len) - (a->segments_len < b->segments_len);
}
