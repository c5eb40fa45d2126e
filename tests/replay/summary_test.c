/* summary_test.c - what summary.json says of a run. */
#include "replay/summary.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* A bucket of the sketch is wider than it is exact, and its middle may lie beyond all that is in it. */
TEST(no_tick_is_said_to_be_longer_than_the_longest) {
    for (int64_t longest_ns = 12800000; longest_ns < 13100000; longest_ns += 10000) {
        summary *s = summary_new();
        char    *text = NULL;
        size_t   len = 0;
        double   p50_ms, p95_ms, max_ms;

        CHECK(s);
        summary_tell_tick(s, longest_ns);
        FILE *f = open_memstream(&text, &len);
        CHECK(f && summary_write(s, f, NULL, 0) == DN_OK);
        CHECK_INT(fclose(f), 0);
        const char *ticks = strstr(text, "{\"p50\":");
        CHECK(ticks);
        CHECK_INT(sscanf(ticks, "{\"p50\":%lf,\"p95\":%lf,\"max\":%lf}", &p50_ms, &p95_ms, &max_ms),
                  3);
        CHECK_MSG(p50_ms <= max_ms && p95_ms <= max_ms, "%.90s", ticks);
        CHECK_MSG(p50_ms > max_ms * 0.99, "%.90s", ticks);
        free(text);
        summary_free(s);
    }
}
