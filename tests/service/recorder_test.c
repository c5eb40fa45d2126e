/* recorder_test.c - what is written of a day, and what becomes of it where it cannot be written. In simulation, but the
 * files are real ones. */
#include "world.h"

#include "actor/pipe.h"
#include "recorder_file.h"
#include "recorder_lines.h"
#include "recorder_order.h"
#include "starving.h"
#include "trace/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 128, FILE_BYTES = 1 << 22, SHOUT = 1, MURMUR, MUTTER, SHOUTS = 400000 };

static struct {
    char                dir[64], path[PATH];
    dn_recorder_config  config;
    dn_recorder        *recorder;
    dn_daily_slo_config slo;
    bool                service_is_silent; /* what is said, the test says */
    char                bytes[FILE_BYTES];
} rec;

/* ---- The stage ---- */

static int disk_list(dn_store *s, const dn_user_filter *f, dn_user *users, size_t max, size_t *len,
                     bool *more, dn_user *last) {
    (void)s;
    return dn_store_list(disk.real, f, users, max, len, more, last);
}

static void say_tick(dn_self *self, int64_t at_ms) {
    DN_SAY(dn_recorder_journal_borrow(rec.recorder), self, DN_HAPPENED_TICK_BEGINS, .at_ms = at_ms);
}

static void say_stopped(dn_self *self, const char *id, dn_outcome outcome, int64_t at_ms,
                        int64_t took_ms) {
    DN_SAY(dn_recorder_journal_borrow(rec.recorder), self, DN_HAPPENED_STOPPED, .id = id,
           .id_len = (uint8_t)strlen(id), .registration = 999, .at_ms = at_ms, .day = TODAY,
           .attempt = 1, .duration_ms = took_ms, .outcome = outcome,
           .error_class = outcome == DN_OUTCOME_OK ? DN_CLASS_NONE : DN_CLASS_REQ);
}

/* Says more at once than anybody can take. */
static int shouter_on_shout(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    for (int i = 0; i < SHOUTS; i++) say_stopped(self, "loud", DN_OUTCOME_OK, dn_now_ms(self), 0);
    return DN_OK;
}

static int shouter_on_murmur(dn_self *self, void *state, const dn_msg *msg) {
    (void)state, (void)msg;
    say_tick(self, dn_now_ms(self));
    say_stopped(self, "early", DN_OUTCOME_OK, dn_now_ms(self), 0);
    return DN_OK;
}

/* Of the second tick, which comes 5 ms late. */
static int shouter_on_mutter(dn_self *self, void *state, const dn_msg *msg) {
    const int64_t now_ms = dn_now_ms(self), late_ms = now_ms + w.config.tick_ms + 5;

    (void)state, (void)msg;
    say_tick(self, now_ms);
    say_stopped(self, "failed-before", DN_OUTCOME_ERROR, late_ms - 3, 50);
    say_stopped(self, "all-before", DN_OUTCOME_ERROR, late_ms - 2, 1);
    say_stopped(self, "did-it-before", DN_OUTCOME_OK, late_ms - 1, 50);
    say_tick(self, late_ms);
    say_stopped(self, "failed-after", DN_OUTCOME_ERROR, late_ms + 1, 50);
    return DN_OK;
}

static const dn_handler shouter_rows[] = {
    {SHOUT, shouter_on_shout}, {MURMUR, shouter_on_murmur}, {MUTTER, shouter_on_mutter}};
static const dn_class shouter_class = {.name = "shouter", .handlers = DN_SLICE(shouter_rows)};

static void record_boots(void) {
    static dn_child_spec edge[2];
    const dn_spawn_spec  root = {
         .actor_class = &dn_supervisor_class, .config = &w.tree.top, .name = "diurnal"};

    rec.config = (dn_recorder_config){
        .path = rec.path,
        .bytes_max = rec.config.bytes_max ? rec.config.bytes_max : INT64_MAX,
        .files = 2,
        .service = &w.config,
        .slo = &rec.slo,
    };
    rec.slo =
        (dn_daily_slo_config){.eval_ms = 60000, .window_minutes = 15, .breach_consecutive = 3};
    dn_recorder_free(rec.recorder);
    CHECK_INT(dn_recorder_new(&rec.config, &rec.recorder), DN_OK);
    w.config.journal = rec.service_is_silent ? NULL : dn_recorder_journal_borrow(rec.recorder);
    w.config.witness = dn_recorder_child_borrow(rec.recorder);
    edge[0] = (dn_child_spec){.name = "stage", .actor_class = &stage_class};
    edge[1] = (dn_child_spec){.name = "shouter", .actor_class = &shouter_class};
    dn_service_tree_make(&w.config, edge, 2, &w.tree);
    const int rc = dn_sim_boot(w.sim, &root);
    CHECK_MSG(rc == DN_OK || rc == DN_PENDING, "the tree does not start: %s", dn_error_text(rc));
    (void)dn_sim_settle(w.sim);
}

static void folder_goes(void) {
    static const char *const ends[] = {"", ".new", ".1", ".2", ".3"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char path[PATH + 8];
        (void)snprintf(path, sizeof path, "%s%s", rec.path, ends[i]);
        (void)unlink(path);
    }
    (void)rmdir(rec.dir);
}

static void record_at(int64_t wall_ms) {
    world_at(wall_ms);
    memset(&rec, 0, sizeof rec);
    (void)snprintf(rec.dir, sizeof rec.dir, "/tmp/diurnal-record-XXXXXX");
    CHECK(mkdtemp(rec.dir));
    (void)snprintf(rec.path, sizeof rec.path, "%s/trace", rec.dir);
    CHECK(atexit(folder_goes) == 0);
    disk.ops.list = disk_list;
    dn_log_threshold(DN_LOG_INFO);
}

static void record_ends(void) {
    world_ends();
    dn_recorder_free(rec.recorder);
    rec.recorder = NULL;
}

/* "" : there is none. */
static const char *written(const char *end) {
    char  path[PATH + 8];
    FILE *f;

    (void)snprintf(path, sizeof path, "%s%s", rec.path, end);
    f = fopen(path, "r");
    const size_t len = f ? fread(rec.bytes, 1, sizeof rec.bytes - 1, f) : 0;
    rec.bytes[len] = '\0';
    if (f) (void)fclose(f);
    return rec.bytes;
}

static int lines_of(const char *text, const char *words) {
    int times = 0;

    for (const char *at = text; (at = strstr(at, words)); at++) times++;
    return times;
}

#define HAS(end, times, words)                                                                     \
    CHECK_MSG(lines_of(written(end), words) == (times), "%d times %s in\n%.3000s",                 \
              lines_of(rec.bytes, words), words, rec.bytes)

/* ---- A day ---- */

TEST(a_trace_begins_with_all_users_as_they_are_and_says_what_happens_to_them) {
    record_at(AT(6, 0) + 500);
    record_boots();
    job_fails("ada", 1, DN_CLASS_LLM);
    user("ada", DUE(7, 0));
    user("bob", DUE(9, 0));
    world_runs_to(AT(6, 30) + 250);
    CHECK_INT(remove_user("bob"), DN_OK);
    user("ada", DUE(7, 15));
    world_runs_to(AT(6, 31));
    HAS("", 1, "{\"trace\":1,\"start\":\"2026-03-02T06:00:00.500Z\",\"end\":\"2026-03-02T06:3");
    HAS("", 1, "\"due\":\"07:00\",\"starts_on\":\"2026-03-02\",\"context_epoch\":0}\n");
    HAS("", 1,
        "{\"op\":\"outcome\",\"id\":\"ada\",\"day\":\"2026-03-02\",\"attempt\":1,\"result\":"
        "\"error\","
        "\"error_class\":\"llm\",\"duration_ms\":500,\"stopped_ms\":500}\n");
    HAS("", 1,
        "{\"op\":\"outcome\",\"id\":\"ada\",\"day\":\"2026-03-02\",\"attempt\":2,\"result\":\"ok\","
        "\"duration_ms\":500,\"stopped_ms\":660000}\n");
    HAS("", 1, "\"2026-03-02T06:30:00.250Z\",\"op\":\"remove\",\"id\":\"bob\"}\n");
    HAS("", 1, ",\"op\":\"user\",\"id\":\"ada\",\"due\":\"07:15\",\"starts_on\":\"2026-03-02\"}\n");
    record_ends();
}

TEST(the_next_life_begins_with_what_was_durable_and_with_the_time_nobody_was_there) {
    record_at(AT(6, 0));
    record_boots();
    user("ada", DUE(7, 0));
    user("bob", DUE(6, 2));
    job_fails("bob", 0, DN_CLASS_REQ);
    world_runs_to(AT(6, 5));
    dn_sim_crash_process(w.sim);
    dn_sim_pass(w.sim, 60000);
    record_boots();
    world_runs_to(AT(6, 8));
    HAS("", 1, "\"start\":\"2026-03-02T06:0");
    HAS("", 1, "\"op\":\"crash\",\"down_ms\":");
    HAS("", 1,
        "\"op\":\"user\",\"id\":\"ada\",\"due\":\"07:00\",\"starts_on\":\"2026-03-02\",\"last_"
        "date\":"
        "\"2026-03-02\",\"status\":\"success\",\"last_run_at\":\"2026-03-02T06:00:00.500Z\","
        "\"context_epoch\":0}\n");
    HAS("", 1,
        "\"op\":\"user\",\"id\":\"bob\",\"due\":\"06:02\",\"starts_on\":\"2026-03-02\",\"last_"
        "date\":"
        "\"2026-03-02\",\"status\":\"cutoff_reached\",\"context_epoch\":1}\n");
    HAS(".1", 1, "\"result\":\"ok\"");
    HAS(".1", 0, "\"op\":\"crash\"");
    record_ends();
}

TEST(a_full_store_and_a_step_of_the_clock_are_told) {
    record_at(AT(6, 0));
    record_boots();
    user("ada", DUE(7, 0));
    disk.fails = DN_EFULL;
    world_runs_to(AT(6, 3));
    disk.fails = DN_OK;
    world_runs_to(AT(6, 4));
    dn_sim_step_wall(w.sim, -600000);
    world_runs_for(120000);
    HAS("", 1, "{\"at\":\"2026-03-02T06:00:00.500Z\",\"op\":\"store_fails\",\"for_ms\":18");
    HAS("", 1, "\"op\":\"clock\",\"step_ms\":-600000}");
    HAS("", 0, "\"end\":\"2026-03-02T05:5"); /* it goes by the steady clock */
    record_ends();
}

/* ---- Its size ---- */

TEST(a_trace_that_has_its_size_is_followed_by_one_that_is_whole_and_the_oldest_goes) {
    record_at(AT(0, 0));
    rec.config.bytes_max = 2000;
    w.config.retry_delay_minutes = 1;
    w.config.window_minutes = 600;
    record_boots();
    job_fails("", 0, DN_CLASS_REQ);
    user("ada", DUE(9, 0));
    user("bob", DUE(9, 0));
    world_runs_to(AT(3, 0));
    for (int i = 0; i < 3; i++) {
        const char *const ends[] = {"", ".1", ".2"};
        HAS(ends[i], 1, "{\"trace\":1,");
        HAS(ends[i], 1, "\"op\":\"user\",\"id\":\"ada\"");
        HAS(ends[i], 1, "\"op\":\"user\",\"id\":\"bob\"");
        /* Counted from its own beginning, and without a gap. */
        HAS(ends[i], 2, "\"attempt\":1,");
        HAS(ends[i], 2, "\"attempt\":2,");
        CHECK(strlen(rec.bytes) < 4000);
    }
    CHECK_STR(written(".3"), "");
    record_ends();
}

/* ---- Trouble ---- */

static void files_may_grow_to(rlim_t bytes) {
    const struct rlimit limit = {bytes, RLIM_INFINITY};

    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

TEST(a_file_that_cannot_be_written_stops_nothing_and_is_followed_by_a_whole_one_when_it_can) {
    record_at(AT(5, 0));
    w.config.retry_delay_minutes = 1;
    record_boots();
    user("ada", DUE(9, 0));
    user("bob", DUE(6, 0));
    job_fails("bob", 0, DN_CLASS_REQ);
    world_runs_to(AT(5, 10));
    files_may_grow_to(strlen(written("")) + 40); /* a part of a line */
    world_runs_to(AT(5, 10) + 5000);
    files_may_grow_to(1);
    world_runs_to(AT(8, 30));
    CHECK_STR(ledger("bob"), "cutoff_reached 2026-03-02 60 req");
    CHECK_STR(ledger("ada"), "success 2026-03-02 1");
    CHECK_INT(logged("warn recorder.failed:"), 1);
    CHECK_INT(logged("recorder.well"), 0);
    HAS("", 1, "{\"trace\":1,");
    CHECK_INT(rec.bytes[strlen(rec.bytes) - 1], '\n');
    files_may_grow_to(RLIM_INFINITY);
    world_runs_to(AT(8, 40));
    CHECK_INT(logged("info recorder.well:"), 1);
    HAS("", 1, "\"last_run_at\":\"2026-03-02T08:00:00.500Z\"");
    HAS("", 1, "\"status\":\"cutoff_reached\"");
    CHECK_STR(written(".new"), "");
    record_ends();
}

TEST(what_is_more_than_can_be_taken_is_counted_and_a_whole_trace_follows) {
    record_at(AT(5, 0));
    record_boots();
    user("ada", DUE(9, 0));
    world_runs_to(AT(5, 10));
    dn_runtime *rt = dn_sim_runtime(w.sim);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "shouter"), SHOUT, NULL, 0), DN_OK);
    world_runs_to(AT(5, 20));
    CHECK_INT(logged("warn recorder.failed:"), 1);
    CHECK_INT(logged("info recorder.well:"), 1);
    HAS("", 0, "\"id\":\"loud\"");
    HAS("", 1, "\"op\":\"user\",\"id\":\"ada\"");
    record_ends();
}

TEST(what_ends_while_a_long_tick_is_still_being_planned_is_written_and_does_not_wait_for_it) {
    record_at(AT(5, 0));
    rec.service_is_silent = true;
    record_boots();
    dn_runtime *rt = dn_sim_runtime(w.sim);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "shouter"), MURMUR, NULL, 0), DN_OK);
    world_runs_to(AT(5, 0) + 2000);
    HAS("", 1, "\"op\":\"outcome\",\"id\":\"early\"");
    record_ends();
}

static void has_stopped_at(const char *id, int ms) {
    const char *line = strstr(written(""), id);
    char        words[40];

    CHECK_MSG(line, "%s is not in\n%s", id, rec.bytes);
    (void)snprintf(words, sizeof words, "\"stopped_ms\":%d}\n", ms);
    CHECK_MSG(strncmp(strchr(line, '\n') - strlen(words) + 1, words, strlen(words)) == 0,
              "no %s at the end of %.*s", words, (int)strcspn(line, "\n"), line);
}

TEST(who_failed_before_a_late_tick_is_written_as_free_for_it) {
    record_at(AT(5, 0));
    rec.service_is_silent = true;
    w.config.tick_ms = 100;
    record_boots();
    dn_runtime *rt = dn_sim_runtime(w.sim);
    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "shouter"), MUTTER, NULL, 0), DN_OK);
    world_runs_to(AT(5, 0) + 3000);
    has_stopped_at("failed-before", 100);
    has_stopped_at("all-before", 103); /* it had not begun at the tick's instant */
    has_stopped_at("did-it-before", 104);
    has_stopped_at("failed-after", 106);
    record_ends();
}

static void is_told(void *context, dn_self *self, const dn_happening *h) {
    uint32_t *kinds = context;

    (void)self;
    *kinds |= DN_HAPPENED_BIT(h->kind);
}

TEST(a_journal_is_told_what_it_asks_for_and_nothing_else) {
    uint32_t         told = 0;
    const uint32_t   asked = DN_HAPPENED_BIT(DN_HAPPENED_TICK) | DN_HAPPENED_BIT(DN_HAPPENED_CLOCK);
    const dn_journal journal = {is_told, &told, asked};
    const dn_journal *listeners[] = {NULL, &journal};

    for (int kind = 0; kind < DN_HAPPENINGS; kind++)
        for (int i = 0; i < 2; i++) DN_SAY(listeners[i], NULL, (dn_happening_kind)kind, .at_ms = 1);
    CHECK_INT(told, asked);
    CHECK_INT(DN_HAPPENED_ANY, (INT64_C(1) << DN_HAPPENINGS) - 1);
}

TEST(what_is_no_trace_is_not_written_over) {
    char  why[DN_RECORDER_WHY], path[PATH + 8];
    FILE *f;

    record_at(AT(5, 0));
    CHECK_INT(dn_recorder_check(rec.path, why), DN_OK);
    f = fopen(rec.path, "w");
    CHECK(f && fputs("my diary\n", f) >= 0 && fclose(f) == 0);
    CHECK_INT(dn_recorder_check(rec.path, why), DN_EINVAL);
    CHECK_MSG(strstr(why, "is not a trace"), "%s", why);
    CHECK_INT(dn_recorder_check(rec.dir, why), DN_EINVAL);
    CHECK_MSG(strstr(why, "not a regular file"), "%s", why);
    (void)snprintf(path, sizeof path, "%s/no/trace", rec.dir);
    CHECK_INT(dn_recorder_check(path, why), DN_EINVAL);
    CHECK_MSG(strstr(why, "no file can be created"), "%s", why);
    world_ends();
}

/* In a process of its own, as somebody who may not read everything. */
static void look_as_nobody(char why[DN_RECORDER_WHY]) {
    const uid_t nobody = 65534;
    int         answer[2], status = 0;

    CHECK(pipe(answer) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && seteuid(nobody) < 0) _exit(1);
        if (dn_recorder_check(rec.path, why) != DN_EINVAL) why[0] = '\0';
        _exit(write(answer[1], why, DN_RECORDER_WHY) == DN_RECORDER_WHY ? 0 : 2);
    }
    (void)close(answer[1]);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK_INT(read(answer[0], why, DN_RECORDER_WHY), DN_RECORDER_WHY);
    (void)close(answer[0]);
}

TEST(what_cannot_be_read_is_not_taken_for_a_trace_and_an_empty_file_may_be_one) {
    char why[DN_RECORDER_WHY] = "";

    record_at(AT(5, 0));
    FILE *f = fopen(rec.path, "w");
    CHECK(f && fputs("my diary\n", f) >= 0 && fclose(f) == 0);
    CHECK(chmod(rec.path, 0) == 0 && chmod(rec.dir, S_IRWXU | S_IRWXG | S_IRWXO) == 0);
    look_as_nobody(why);
    CHECK_MSG(strstr(why, "cannot be read; name another one, or move it away: "), "%s", why);
    CHECK(chmod(rec.path, S_IRUSR | S_IWUSR) == 0 && truncate(rec.path, 0) == 0);
    CHECK_INT(dn_recorder_check(rec.path, why), DN_OK);
    world_ends();
}

/* ---- The parts ---- */

static size_t note_put(char *at, int64_t mono_ns, const char *id) {
    record_note *n = (record_note *)(void *)at;

    *n = (record_note){.mono_ns = mono_ns, .id_len = (uint8_t)strlen(id)};
    memcpy(n->id, id, strlen(id));
    return dn_pipe_stride(sizeof *n + strlen(id));
}

/* It is its own owner. */
static void add(record_order *o, record_lane lane, int64_t beat_ns, int64_t first_ns,
                int64_t second_ns) {
    record_packet *p = calloc(1, sizeof *p + 512);
    char          *notes = (char *)(p + 1);
    size_t         len = 0;

    CHECK(p);
    if (first_ns) len += note_put(notes, first_ns, "first");
    if (second_ns) len += note_put(notes + len, second_ns, "second one");
    *p = (record_packet){.lane = lane, .len = (uint32_t)len, .beat_ns = beat_ns};
    CHECK_INT(record_order_add(o, p, p), len > 0 ? DN_OK : DN_STOP);
    if (len == 0) free(p);
}

static int64_t next_ns(record_order *o, int64_t before_ns) {
    const record_note *n = record_order_first(o, before_ns);

    if (!n) return 0;
    const int64_t at_ns = n->mono_ns;
    free(record_order_next(o));
    return at_ns;
}

/* The last line of a block is filled up with them. */
static size_t without_blanks(char *text) {
    char *to = text;

    for (const char *from = text; *from; from++)
        if (*from != ' ') *to++ = *from;
    *to = '\0';
    return (size_t)(to - text);
}

TEST(lines_of_any_length_stand_whole_in_the_file_behind_one_another) {
    static record_file file;
    static char        all[FILE_BYTES];
    uint64_t           random = test_seed();
    size_t             len = 2;

    record_at(AT(6, 0));
    record_file_init(&file, rec.path, 0);
    memcpy(all, "e\n", len);
    CHECK_INT(record_file_begin(&file, all, len, 0), DN_OK);
    for (int i = 0; i < 2000; i++) {
        const size_t line_len = 2 + test_random(&random) % (RECORD_LINE_MAX - 1);
        char        *room = record_file_room(&file, RECORD_LINE_MAX);
        CHECK(room);
        memset(room, 'a' + i % 26, line_len - 1);
        room[line_len - 1] = '\n';
        memcpy(all + len, room, line_len);
        len += line_len;
        record_file_take(&file, line_len);
        if (test_random(&random) % 50 == 0) CHECK_INT(record_file_flush(&file, "E", 1), DN_OK);
    }
    CHECK_INT(record_file_flush(&file, "E", 1), DN_OK);
    CHECK_INT(record_file_complete(&file), DN_OK);
    record_file_close(&file);
    all[0] = 'E';
    const size_t written_len = strlen(written(""));
    size_t       across = 0, blocks = 0;
    for (size_t at = RECORD_BLOCK; at < written_len; at += RECORD_BLOCK, blocks++)
        across += rec.bytes[at - 1] != '\n';
    /* A line may, that is the first behind a flush. */
    CHECK_MSG(blocks >= 3 && across < blocks, "of %zu blocks %zu end in a line", blocks, across);
    CHECK_INT(without_blanks(rec.bytes), len);
    CHECK(memcmp(rec.bytes, all, len) == 0);
}

static void file_is_written(record_file *file) {
    CHECK_INT(record_file_begin(file, "e\n", 2, 0), DN_OK);
    CHECK_INT(record_file_flush(file, "E", 1), DN_OK);
    CHECK_INT(record_file_complete(file), DN_OK);
    record_file_close(file);
}

static struct stat about_older(void) {
    char        older[sizeof rec.path + 2];
    struct stat about;

    (void)snprintf(older, sizeof older, "%s.1", rec.path);
    CHECK_INT(stat(older, &about), 0);
    return about;
}

TEST(recorder_rotation_keeps_the_time_of_the_older_file) {
    static record_file    file;
    const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

    record_at(AT(6, 0));
    record_file_init(&file, rec.path, 1);
    file_is_written(&file);
    CHECK_INT(utimensat(AT_FDCWD, rec.path, long_ago, 0), 0);
    file_is_written(&file);
    CHECK_INT(about_older().st_mtim.tv_sec, long_ago[1].tv_sec);
}

TEST(recorder_new_without_memory_returns_enomem) {
    const dn_recorder_config config = {.path = "trace"};
    dn_recorder             *recorder = NULL;

    starve_nth(1);
    CHECK_INT(dn_recorder_new(&config, &recorder), DN_ENOMEM);
    CHECK(starve_end());
    CHECK_PTR(recorder, NULL);
}

TEST(recorder_order_gives_notes_of_two_lanes_when_nothing_older_can_come) {
    static record_order o;

    add(&o, RECORD_MAIN, 100, 50, 90);
    CHECK_INT(next_ns(&o, 0), 0);
    add(&o, RECORD_STORE, 70, 20, 0);
    CHECK_INT(next_ns(&o, 0), 20);
    CHECK_INT(next_ns(&o, 0), 50);
    CHECK_INT(next_ns(&o, 0), 0);
    CHECK_INT(next_ns(&o, 91), 90); /* it has waited long enough */
}

TEST(notes_of_any_instants_come_sorted_and_all_of_them) {
    static record_order o;
    uint64_t            random = test_seed();
    int64_t             last_ns[RECORD_LANES] = {0}, before_ns = 0;
    int                 put = 0, got = 0;

    for (int i = 0; i < 3000; i++) {
        const int     lane = (int)(test_random(&random) % RECORD_LANES);
        const int64_t first_ns = last_ns[lane] + 1 + (int64_t)(test_random(&random) % 1000);
        const int64_t second_ns = first_ns + (int64_t)(test_random(&random) % 300);
        add(&o, (record_lane)lane, second_ns, first_ns, second_ns);
        last_ns[lane] = second_ns;
        put += 2;
        for (int64_t at_ns; test_random(&random) % 8 && (at_ns = next_ns(&o, 0)); got++) {
            CHECK_MSG(at_ns >= before_ns, "%lld came behind %lld", (long long)at_ns,
                      (long long)before_ns);
            before_ns = at_ns;
        }
    }
    for (int lane = 0; lane < RECORD_LANES; lane++) add(&o, (record_lane)lane, INT64_MAX, 0, 0);
    while (next_ns(&o, 0)) got++;
    CHECK_INT(got, put);
}

TEST(a_lane_that_had_ended_and_is_back_is_looked_at_again) {
    static record_order o;

    add(&o, RECORD_MAIN, INT64_MAX, 0, 0);
    add(&o, RECORD_STORE, 100, 10, 50);
    CHECK_INT(next_ns(&o, 0), 10);
    add(&o, RECORD_MAIN, 30, 20, 0);
    CHECK_INT(next_ns(&o, 0), 20);
    CHECK_INT(next_ns(&o, 0), 0);
    add(&o, RECORD_MAIN, 60, 0, 0);
    CHECK_INT(next_ns(&o, 0), 50);
}

TEST(no_more_packets_wait_than_there_is_room_for) {
    static record_order o;

    for (int i = 1; i <= RECORD_ORDER_MAX; i++) add(&o, RECORD_STORE, i, i, 0);
    const struct {
        record_packet packet;
        record_note   note;
    } one_more = {.packet = {.lane = RECORD_STORE, .len = sizeof(record_note)}};
    CHECK_INT(record_order_add(&o, &one_more.packet, NULL), DN_EFULL);
    CHECK_INT(next_ns(&o, INT64_MAX), 1);
    add(&o, RECORD_STORE, RECORD_ORDER_MAX + 1, RECORD_ORDER_MAX + 1, 0);
    for (int i = 2; i <= RECORD_ORDER_MAX + 1; i++) CHECK_INT(next_ns(&o, INT64_MAX), i);
    CHECK_INT(next_ns(&o, INT64_MAX), 0);
}

TEST(lines_are_as_a_reader_of_traces_has_them) {
    char         line[RECORD_LINE_MAX];
    record_words words = {0};
    struct {
        record_note note;
        char        id[DN_ID_MAX];
    } n = {.note = {.id_len = DN_ID_MAX,
                    .attempt = UINT16_MAX,
                    .day = TODAY,
                    .outcome = DN_OUTCOME_ERROR,
                    .cls = DN_CLASS_UNKNOWN}};

    memset(n.note.id, '"', DN_ID_MAX);
    size_t len = record_line_outcome(&words, line, INT64_MIN, INT64_MIN, UINT32_MAX, &n.note);
    CHECK(len < RECORD_LINE_MAX);
    line[len] = '\0';
    CHECK(strstr(line, "\"id\":\"\\\"\\\""));
    CHECK(strstr(line, "\"stopped_ms\":-9223372036854775808}\n"));
    CHECK(strstr(line, "\"duration_ms\":-9223372036854775808,"));
    memset(n.note.id, '\\', DN_ID_MAX);
    len = record_line_outcome(&words, line, 0, 0, 1, &n.note);
    line[len] = '\0';
    CHECK(strstr(line, "\"id\":\"\\\\\\\\"));
    CHECK_INT(lines_of(line, "\\"), 2 * DN_ID_MAX);
    len = record_line_clock(&words, line, -1, -3600000);
    line[len] = '\0';
    CHECK_STR(line,
              "{\"at\":\"1969-12-31T23:59:59.999Z\",\"op\":\"clock\",\"step_ms\":-3600000}\n");
}
