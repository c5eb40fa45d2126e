/* simulate_shortest.c - see simulate_shortest.h. */
#include "simulate_shortest.h"

#include "replay/draw_text.h"
#include "replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Does the trace fail under `diurnal replay` as well? */
static bool replays(const plan *p, const char *path) {
    const replay_config config = {
        .trace = path, .seed = p->any_order ? p->seed : 0, .version = DIURNAL_VERSION};
    replay *run = NULL;
    char    why[REPLAY_WHY];

    if (replay_run(&config, &run, why) < 0) return false;
    const bool fails = replay_result_borrow(run)->violations > 0;
    replay_free(run);
    return fails;
}

static bool write_trace(const plan *p, char *path, size_t size) {
    const char *dir = getenv("TMPDIR");

    if (!plan_is_trace(p)) return false;
    (void)snprintf(path, size, "%.200s/diurnal-%llu-XXXXXX", dir && *dir ? dir : "/tmp",
                   (unsigned long long)p->seed);
    const int fd = mkstemp(path);
    FILE     *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) return false;
    plan_write(p, file);
    if (fclose(file) == 0 && replays(p, path)) return true;
    (void)unlink(path);
    return false;
}

int simulate_shortest_of(const simulate_range *r, const simulate_found *f, uint32_t runs_max,
                         simulate_shortest *out_shortest) {
    const shrink_config config = {.runs_max = runs_max};
    simulate_shortest  *s = out_shortest;
    plan                p;
    int                 rc = plan_draw(f->seed, &r->bounds, &p);

    if (rc < 0) return rc;
    rc = shrink(&p, &f->verdict, &config, &s->least);
    plan_done(&p);
    if (rc == DN_OK && !write_trace(&s->least.plan, s->path, sizeof s->path)) *s->path = '\0';
    return rc;
}

void simulate_shortest_done(simulate_shortest *s) { plan_done(&s->least.plan); }

static uint64_t seed_of(const simulate_shortest *s) {
    return s->least.plan.any_order ? s->least.plan.seed : 0;
}

void simulate_shortest_print(const simulate_shortest *s, const simulate_found *f,
                             const char *program) {
    printf("shortened by %u runs:\n", s->least.runs);
    plan_write(&s->least.plan, stdout);
    if (strcmp(s->least.verdict.text, f->verdict.text) != 0) printf("%s\n", s->least.verdict.text);
    if (*s->path)
        printf("replay this trace: %s replay %s --seed %llu\n", program, s->path,
               (unsigned long long)seed_of(s));
    else printf("a trace cannot express all of this; run the seed again instead\n");
}

static json_t *lines_of(const plan *p) {
    json_t *lines = NULL;
    char   *text = NULL;
    size_t  len = 0;
    FILE   *file = open_memstream(&text, &len);

    if (!file) return NULL;
    plan_write(p, file);
    if (fclose(file) == 0) lines = json_stringn(text, len);
    free(text);
    return lines;
}

json_t *simulate_shortest_json(const simulate_shortest *s) {
    json_t *replays_as =
        *s->path ? json_pack("{s:s, s:I}", "path", s->path, "seed", (json_int_t)seed_of(s))
                 : json_null();

    return json_pack("{s:i, s:s, s:o, s:o}", "runs", (int)s->least.runs, "text",
                     s->least.verdict.text, "lines", lines_of(&s->least.plan), "trace", replays_as);
}
