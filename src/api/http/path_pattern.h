/* path_pattern.h - a template of paths, "/claims/{id}:renew", compiled once and matched against many paths. Pure.
 * A template is segments, each after a slash. A segment is literal text, or one {capture} with literal text before and
 * after it. A capture takes any bytes but "/", also none. Literal text is compared before percent-decoding: a path says
 * "%3A" for a ":" that belongs to an id. */
#ifndef DIURNAL_API_PATH_PATTERN_H
#define DIURNAL_API_PATH_PATTERN_H

#include "http_head.h"

enum { PATH_SEGMENTS_MAX = 12, PATH_CAPTURES_MAX = 4 };

typedef struct path_segment {
    http_text before, after; /* literal text; without a capture all of it is `before` */
    bool      captures;
} path_segment;

typedef struct path_pattern {
    const char  *text; /* borrowed */
    path_segment segments[PATH_SEGMENTS_MAX];
    size_t       segments_len, captures_len;
} path_pattern;

/* What a request's path has at a pattern's captures, in their order, as it stands in the path. */
typedef struct path_captures {
    http_text at[PATH_CAPTURES_MAX];
    size_t    len;
} path_captures;

/* Borrows text for as long as the pattern is used. DN_EINVAL: text is no template, or longer than the limits above. */
DN_MUST_USE int path_pattern_compile(const char *text, path_pattern *out_pattern);
bool            path_pattern_is_sound(const path_pattern *pattern);

/* *out_captures is written only where it matches. */
bool path_pattern_match(const path_pattern *pattern, http_text path, path_captures *out_captures);

/* For sorting: below 0 if a is more specific than b. Segment by segment from the left, literal text comes before a
 * capture, and a capture with more literal text around it before one with less. */
int path_pattern_compare(const path_pattern *a, const path_pattern *b);

#endif
