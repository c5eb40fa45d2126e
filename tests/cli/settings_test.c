/* settings_test.c - each place a setting can come from, and everything that is refused, to the letter. */
#define _GNU_SOURCE /* fmemopen, open_memstream */
#include "cli/settings.h"
#include "own_dir.h"
#include "starving.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES(literal) (literal), sizeof(literal) - 1

static char why[DN_SETTINGS_WHY];

static void write_conf(const char *bytes, size_t len) {
    own_file_write("diurnal.conf", bytes, len);
}

/* The process is the arena: what is kept here is no leak. */
static void *keep(void *memory) {
    static void  *kept[20000];
    static size_t kept_len;

    CHECK(memory && kept_len < sizeof kept / sizeof kept[0]);
    return kept[kept_len++] = memory;
}

/* args and environment: words with a space between; NULL: none. */
static char **words(const char *text, int *out_len) {
    char **const list = keep(calloc(64, sizeof *list));
    int          len = 0;

    for (char *word = text ? strtok(keep(strdup(text)), " ") : NULL; word; word = strtok(NULL, " "))
        list[len++] = word;
    *out_len = len;
    return list;
}

static int load(const char *args, const char *environment, dn_settings **out_settings) {
    int               ignored;
    dn_settings_input input = {.environ = words(environment, &ignored)};

    input.argv = words(args, &input.argc);
    memset(why, 0, sizeof why);
    return dn_settings_load(&input, out_settings, why);
}

static dn_settings *loaded(const char *args, const char *environment) {
    dn_settings *s = NULL;
    const int    rc = load(args, environment, &s);

    CHECK_MSG(rc == DN_OK, "%s", why);
    return s;
}

static dn_settings *loaded_conf(const char *text) {
    write_conf(text, strlen(text));
    return loaded("--config diurnal.conf", NULL);
}

static void refused(const char *args, const char *environment, const char *sentence) {
    dn_settings *s = NULL;

    CHECK_INT(load(args, environment, &s), DN_EINVAL);
    CHECK_STR(why, sentence);
    CHECK(!s);
}

static void conf_refused(const char *bytes, size_t len, const char *sentence) {
    write_conf(bytes, len);
    refused("--config diurnal.conf", NULL, sentence);
}

/* ---- Defaults ---- */

TEST(the_defaults_are_those_of_the_contract) {
    dn_settings *const s = loaded(NULL, NULL);

    CHECK_INT(s->tick_ms, 60000);
    CHECK_INT(s->window_minutes, 60);
    CHECK_INT(s->retry_delay_minutes, 10);
    CHECK_INT(s->max_concurrency, 64);
    CHECK_INT(s->job_timeout_ms, 60000);
    CHECK_INT(s->slo_eval_ms, 60000);
    CHECK_INT(s->slo_window_minutes, 15);
    CHECK_INT(s->breach_consecutive, 3);
    CHECK_INT(s->tick_budget_ms, 300);
    CHECK(s->sat_ratio == 0.8);
    CHECK_INT(s->depth_avg_max, 10000);
    CHECK_INT(s->job_p95_max_ms, 30000);
    CHECK(s->cutoff_rate_max == 0.01);
    CHECK_INT(s->ledger_days, 35);
    CHECK_INT(s->shutdown_grace_ms, 30000);
    CHECK_STR(s->listen, "127.0.0.1:1440");
    CHECK_STR(s->data, "./diurnal-data");
    CHECK_STR(s->runner, "");
    CHECK_STR(s->hook, "");
    CHECK_STR(s->secret_file, "");
    CHECK_INT(s->log_level, 1);
    CHECK(!s->demo && !s->http2 && !s->runner_allow_private);
    for (size_t i = 0; i < DN_SETTINGS; i++) CHECK_INT(s->sources[i].from, DN_FROM_DEFAULT);
    dn_settings_free(s);
}

TEST(every_default_is_within_its_bounds_and_every_key_is_spelled_like_one) {
    for (size_t i = 0; i < DN_SETTINGS; i++) {
        const dn_setting *const setting = &dn_settings_table[i];

        CHECK(strspn(setting->key, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
              strlen(setting->key));
        CHECK(strlen(setting->key) + sizeof "DIURNAL_" <= DN_SETTING_NAME);
        CHECK(setting->min <= setting->max);
        for (size_t j = 0; j < i; j++) CHECK(strcmp(dn_settings_table[j].key, setting->key) != 0);
    }
    dn_settings_free(loaded(NULL, NULL)); /* defaults_apply asserts that each can be read */
}

TEST(under_systemd_the_default_of_data_is_the_directory_of_its_state) {
    dn_settings *s = loaded(NULL, "STATE_DIRECTORY=/var/lib/diurnal");

    CHECK_STR(s->data, "/var/lib/diurnal");
    CHECK_INT(s->sources[DN_SETTING_data].from, DN_FROM_STATE_DIRECTORY);
    dn_settings_free(s);
    s = loaded(NULL, "STATE_DIRECTORY=/var/lib/diurnal:/var/lib/other");
    CHECK_STR(s->data, "/var/lib/diurnal");
    dn_settings_free(s);
    s = loaded("--data mine", "STATE_DIRECTORY=/var/lib/diurnal");
    CHECK_STR(s->data, "mine");
    dn_settings_free(s);
    s = loaded(NULL, "STATE_DIRECTORY=");
    CHECK_STR(s->data, "./diurnal-data");
    dn_settings_free(s);
    write_conf(BYTES("data = /srv\n"));
    s = loaded("--config diurnal.conf", "STATE_DIRECTORY=/var/lib/diurnal");
    CHECK_STR(s->data, "/srv");
    dn_settings_free(s);
}

/* ---- Which place wins ---- */

TEST(a_flag_wins_over_the_environment_that_over_the_file_and_that_over_the_default) {
    dn_settings *s;

    write_conf(BYTES("# ours\n\ntick_ms = 1000\n"));
    s = loaded("--config diurnal.conf", NULL);
    CHECK_INT(s->tick_ms, 1000);
    CHECK_INT(s->sources[DN_SETTING_tick_ms].from, DN_FROM_FILE);
    CHECK_INT(s->sources[DN_SETTING_tick_ms].line, 3);
    CHECK_INT(s->sources[DN_SETTING_config].from, DN_FROM_FLAG);
    CHECK_INT(s->sources[DN_SETTING_window_minutes].from, DN_FROM_DEFAULT);
    dn_settings_free(s);

    s = loaded("--config diurnal.conf", "DIURNAL_TICK_MS=2000 HOME=/root");
    CHECK_INT(s->tick_ms, 2000);
    CHECK_INT(s->sources[DN_SETTING_tick_ms].from, DN_FROM_ENVIRONMENT);
    CHECK_INT(s->sources[DN_SETTING_tick_ms].line, 0);
    dn_settings_free(s);

    s = loaded("--config diurnal.conf --tick-ms 3000", "DIURNAL_TICK_MS=2000");
    CHECK_INT(s->tick_ms, 3000);
    CHECK_INT(s->sources[DN_SETTING_tick_ms].from, DN_FROM_FLAG);
    dn_settings_free(s);
}

TEST(the_file_is_named_by_the_flag_else_by_the_environment) {
    dn_settings *s;

    write_conf(BYTES("ledger_days = 7\n"));
    s = loaded(NULL, "DIURNAL_CONFIG=diurnal.conf");
    CHECK_INT(s->ledger_days, 7);
    CHECK_INT(s->sources[DN_SETTING_config].from, DN_FROM_ENVIRONMENT);
    dn_settings_free(s);
    s = loaded("--config=diurnal.conf", "DIURNAL_CONFIG=/nowhere");
    CHECK_INT(s->ledger_days, 7);
    CHECK_INT(s->sources[DN_SETTING_config].from, DN_FROM_FLAG);
    dn_settings_free(s);
    s = loaded("--config=", "DIURNAL_CONFIG=/nowhere");
    CHECK_INT(s->ledger_days, 35);
    dn_settings_free(s);
}

TEST(every_setting_can_be_a_flag_a_variable_and_a_line_of_the_file) {
    for (size_t i = 0; i < DN_SETTINGS; i++) {
        const dn_setting *const setting = &dn_settings_table[i];
        char  flag[DN_SETTING_NAME], variable[DN_SETTING_NAME], text[256], word[16];
        char *argv[1], *environment[2] = {NULL, NULL};
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(setting->unit, "|"), setting->unit);
        const char *const value = setting->type == DN_SETTING_BOOL   ? "true"
                                  : setting->type == DN_SETTING_TEXT ? "x y"
                                  : setting->type == DN_SETTING_ADDR ? "[::1]:80"
                                  : setting->type == DN_SETTING_WORD ? word
                                                                     : "1";
        const bool        fits = setting->min <= 1 || setting->type != DN_SETTING_INT;
        dn_settings_input input = {.argv = argv, .environ = environment};
        dn_settings      *s = NULL, *t = NULL;

        if (i == DN_SETTING_config) continue;
        dn_setting_flag(i, flag);
        dn_setting_variable(i, variable);
        (void)snprintf(text, sizeof text, "%s=%s", flag, fits ? value : "1000");
        argv[0] = keep(strdup(text));
        input.argc = 1;
        CHECK_MSG(dn_settings_load(&input, &s, why) == DN_OK, "%s", why);
        CHECK_INT(s->sources[i].from, DN_FROM_FLAG);

        (void)snprintf(text, sizeof text, "%s=%s", variable, fits ? value : "1000");
        environment[0] = text;
        input.argc = 0;
        CHECK_MSG(dn_settings_load(&input, &t, why) == DN_OK, "%s", why);
        CHECK_INT(t->sources[i].from, DN_FROM_ENVIRONMENT);
        CHECK(dn_settings_same(s, t, i));
        dn_settings_free(t);

        (void)snprintf(text, sizeof text, "%s=%s\n", setting->key, fits ? value : "1000");
        t = loaded_conf(text);
        CHECK_INT(t->sources[i].from, DN_FROM_FILE);
        CHECK_INT(t->sources[i].line, 1);
        for (size_t j = 0; j < DN_SETTINGS; j++)
            CHECK(dn_settings_same(s, t, j) || j == DN_SETTING_config);
        dn_settings_free(t);
        dn_settings_free(s);
    }
}

TEST(what_is_wrong_is_refused_also_where_another_place_would_win) {
    write_conf(BYTES("tick_ms = x\n"));
    refused("--config diurnal.conf --tick-ms 1000", "DIURNAL_TICK_MS=1000",
            "diurnal.conf:1: tick_ms: \"x\" is not a whole number of milliseconds; 60000 is the "
            "default");
    refused("--tick-ms 1000", "DIURNAL_TICK_MS=x",
            "DIURNAL_TICK_MS: \"x\" is not a whole number of milliseconds; 60000 is the default");
}

/* ---- The file ---- */

TEST(a_file_may_have_comments_quotes_blanks_and_no_end_of_its_last_line) {
    dn_settings *s = loaded_conf("  # a comment\n"
                                 "\n"
                                 "\t \n"
                                 "\ttick_ms\t=\t1000\t# another\n"
                                 "window_minutes=30\n"
                                 "runner = http://h/#not-a-comment\n"
                                 "hook = \"exec:/bin/x \\\"# no\\\\ comment\\\"\"  # one\n"
                                 "secret_file = \"\"\n"
                                 "sat_ratio = \"0.5\"\n"
                                 "data = a = b\n"
                                 "demo = true");

    CHECK_INT(s->tick_ms, 1000);
    CHECK_INT(s->window_minutes, 30);
    CHECK_STR(s->runner, "http://h/#not-a-comment");
    CHECK_STR(s->hook, "exec:/bin/x \"# no\\ comment\"");
    CHECK_STR(s->secret_file, "");
    CHECK(s->sat_ratio == 0.5);
    CHECK_STR(s->data, "a = b");
    CHECK(s->demo);
    CHECK_INT(s->sources[DN_SETTING_demo].line, 11);
    dn_settings_free(s);
    dn_settings_free(loaded_conf(""));
    dn_settings_free(loaded_conf("#"));
}

TEST(a_file_from_another_system_with_a_mark_and_carriage_returns_says_the_same) {
    dn_settings *s = loaded_conf("\xef\xbb\xbftick_ms = 1000\r\nrunner = \"http://h\"\r\n\r\n");

    CHECK_INT(s->tick_ms, 1000);
    CHECK_STR(s->runner, "http://h");
    dn_settings_free(s);
}

TEST(each_fault_of_a_file_is_said_with_its_line) {
    static char long_line[10000];

    conf_refused(BYTES("\n\ntick_ms = 6o"),
                 "diurnal.conf:3: tick_ms: \"6o\" is not a whole number of "
                 "milliseconds; 60000 is the default");
    conf_refused(BYTES("tick_ms =\n"), "diurnal.conf:1: tick_ms: \"\" is not a whole number of "
                                       "milliseconds; 60000 is the default");
    conf_refused(BYTES("window_minutes = 1441\n"), "diurnal.conf:1: window_minutes: \"1441\" is "
                                                   "more than the maximum 1440; 60 is the default");
    conf_refused(
        BYTES("window_minutes = 0\n"),
        "diurnal.conf:1: window_minutes: \"0\" is less than the minimum 1; 60 is the default");
    conf_refused(BYTES("retry_delay_minutes = 99999999999999999999\n"),
                 "diurnal.conf:1: retry_delay_minutes: \"99999999999999999999\" is more than the "
                 "maximum 1440; 10 is the default");
    conf_refused(BYTES("retry_delay_minutes = -99999999999999999999\n"),
                 "diurnal.conf:1: retry_delay_minutes: \"-99999999999999999999\" is less than the "
                 "minimum 0; 10 is the default");
    conf_refused(
        BYTES("sat_ratio = 80%\n"),
        "diurnal.conf:1: sat_ratio: \"80%\" is not a number of up to 15 digits, with a point; "
        "0.8 is the default");
    conf_refused(
        BYTES("sat_ratio = 1.5\n"),
        "diurnal.conf:1: sat_ratio: \"1.5\" is more than the maximum 1; 0.8 is the default");
    conf_refused(BYTES("demo = yes\n"), "diurnal.conf:1: demo: \"yes\" is neither true nor false; "
                                        "false is the default");
    conf_refused(BYTES("log_level = verbose\n"),
                 "diurnal.conf:1: log_level: \"verbose\" is not one of debug|info|warn|error; info "
                 "is the default");
    conf_refused(BYTES("listen = 127.0.0.1\n"),
                 "diurnal.conf:1: listen: \"127.0.0.1\" is not ADDRESS:PORT; 127.0.0.1:1440 is the "
                 "default");
    conf_refused(BYTES("data = \"\"\n"),
                 "diurnal.conf:1: data: it is empty; ./diurnal-data is the default");
    conf_refused(BYTES("tik_ms = 1000\n"),
                 "diurnal.conf:1: unknown setting \"tik_ms\"; did you mean tick_ms?");
    conf_refused(BYTES("TICK-MS = 1000\n"),
                 "diurnal.conf:1: unknown setting \"TICK-MS\"; did you mean tick_ms?");
    conf_refused(BYTES("colour = blue\n"),
                 "diurnal.conf:1: unknown setting \"colour\"; diurnal serve --help lists all");
    conf_refused(BYTES("tick_ms = 1000\n\ntick_ms = 1000\n"),
                 "diurnal.conf:3: tick_ms: set twice, first in line 1");
    conf_refused(
        BYTES("config = other.conf\n"),
        "diurnal.conf:1: config: a file cannot name another file; use --config or DIURNAL_CONFIG");
    conf_refused(BYTES("tick_ms 1000\n"),
                 "diurnal.conf:1: \"tick_ms 1000\" is not a line of the form key = value");
    conf_refused(BYTES("= 1000\n"), "diurnal.conf:1: there is no key before the =");
    conf_refused(BYTES("[scheduler]\n"),
                 "diurnal.conf:1: [sections] are not supported; every line is key = value");
    conf_refused(BYTES("runner = \"http://h\n"), "diurnal.conf:1: the closing quote is missing");
    conf_refused(BYTES("runner = \"http://h\" x\n"),
                 "diurnal.conf:1: unexpected text after the closing quote");
    conf_refused(BYTES("runner = \"C:\\dir\"\n"),
                 "diurnal.conf:1: in quotes, a backslash may only precede \" or a backslash");
    conf_refused(BYTES("runner = \"h\\"),
                 "diurnal.conf:1: in quotes, a backslash may only precede \" or a backslash");
    conf_refused(BYTES("# x\nrunner = a\0b\n"),
                 "diurnal.conf:2: the line has a control character in it");
    conf_refused(BYTES("# \033[2J\n"), "diurnal.conf:1: the line has a control character in it");
    conf_refused(BYTES("tick_ms = 1000\r\r\n"),
                 "diurnal.conf:1: the line has a control character in it");
    conf_refused(BYTES("tick_ms = 1000\rdemo = true\r"),
                 "diurnal.conf:1: the line has a control character in it");
    conf_refused(BYTES("# caf\xe9\n"), "diurnal.conf:1: the line is not UTF-8");
    conf_refused(BYTES("\xff\xfet\0i\0"), "diurnal.conf:1: the line is not UTF-8");
    conf_refused(BYTES("\n\xef\xbb\xbftick_ms = 1000\n"),
                 "diurnal.conf:2: unknown setting \"\xef\xbb\xbftick_ms\"; did you mean tick_ms?");
    memset(long_line, 'x', sizeof long_line);
    conf_refused(long_line, sizeof long_line, "diurnal.conf:1: the line is longer than 8192 bytes");
    memcpy(long_line, BYTES("runner="));
    conf_refused(long_line, 8000, "diurnal.conf:1: runner: it is longer than 4000 bytes");
}

TEST(a_line_of_exactly_the_longest_length_is_read) {
    static char line[8194];

    memset(line, ' ', sizeof line);
    memcpy(line, BYTES("tick_ms=1000"));
    memcpy(line + 8192, BYTES("\r\n"));
    write_conf(line, 8194);
    dn_settings_free(loaded("--config diurnal.conf", NULL));
    line[8192] = ' ';
    conf_refused(line, 8194, "diurnal.conf:1: the line is longer than 8192 bytes");
}

TEST(a_file_that_cannot_be_read_is_refused_by_its_name) {
    refused("--config /nowhere/diurnal.conf", NULL, "/nowhere/diurnal.conf: there is no such file");
    refused("--config /", NULL, "/: it is a directory, not a file");
    refused("--config /dev/null/x", NULL, "/dev/null/x: a part of its path is not a directory");
    refused("--config /dev/zero", NULL, "/dev/zero:1: the line is longer than 8192 bytes");
    refused("--config /proc/self/mem", NULL, "/proc/self/mem: it cannot be read");
    dn_settings_free(loaded("--config /dev/null", NULL));
    if (geteuid() == 0) return; /* whom no mode keeps out */
    write_conf(BYTES(""));
    CHECK(chmod("diurnal.conf", 0) == 0);
    refused("--config diurnal.conf", NULL, "diurnal.conf: this user may not read it");
}

TEST(a_file_of_more_lines_than_anybody_writes_is_refused) {
    static char lines[10001];

    memset(lines, '\n', sizeof lines);
    write_conf(lines, 10000);
    dn_settings_free(loaded("--config diurnal.conf", NULL));
    conf_refused(lines, 10001, "diurnal.conf:10001: there are more than 10000 lines");
}

/* Each a file made of pieces that mean something, in no order, and of bytes that mean nothing. */
TEST(files_of_any_bytes_are_read_or_refused_in_one_printable_line) {
    static const char *const pieces[] = {
        "tick_ms",      "=",        " = ",       "\n",   "\n",     "\r\n",   "\"",
        "\\",           "#",        " ",         "\t",   "1000",   "0.5",    "sat_ratio",
        "demo",         "true",     "data",      "[x]",  "-",      "runner", "http://h",
        "\xef\xbb\xbf", "\xc3\xa9", "log_level", "warn", "listen", ":80",    "window_minutes",
        "config"};
    uint64_t random = test_seed();
    int      read = 0, refusals = 0;

    for (int n = 0; n < 3000 / TEST_SLOW_FACTOR; n++) {
        char   bytes[1024];
        size_t len = 0;

        for (size_t pieces_left = test_random(&random) % 20; pieces_left > 0; pieces_left--) {
            const char *const piece =
                pieces[test_random(&random) % (sizeof pieces / sizeof pieces[0])];

            len = (size_t)(stpcpy(bytes + len, piece) - bytes);
            if (test_random(&random) % 30 == 0) bytes[len++] = (char)test_random(&random);
        }
        write_conf(bytes, len);
        dn_settings *s = NULL;
        const int    rc = load("--config diurnal.conf", NULL, &s);
        if (rc == DN_OK) {
            read++;
            dn_settings_free(s);
            continue;
        }
        refusals++;
        CHECK_INT(rc, DN_EINVAL);
        CHECK(!s);
        CHECK_MSG(strncmp(why, "diurnal.conf:", 13) == 0 && !strpbrk(why, "\n\r\033"), "%s", why);
        CHECK(strlen(why) < sizeof why - 1);
        CHECK(!strchr(why, '\x7f'));
    }
    CHECK(read > 10);
    CHECK(refusals > 100);
}

/* ---- Flags ---- */

TEST(a_flag_takes_its_value_after_an_equals_sign_or_from_the_next_word) {
    dn_settings *s =
        loaded("--tick-ms=1000 --window-minutes 30 --demo --http2=false --data -x", NULL);

    CHECK_INT(s->tick_ms, 1000);
    CHECK_INT(s->window_minutes, 30);
    CHECK(s->demo);
    CHECK(!s->http2);
    CHECK_INT(s->sources[DN_SETTING_http2].from, DN_FROM_FLAG);
    CHECK_STR(s->data, "-x");
    dn_settings_free(s);
}

TEST(a_flag_that_is_not_understood_is_refused) {
    refused("--tick-ms", NULL, "--tick-ms: the value is missing; write --tick-ms=N");
    refused("--runner --demo", NULL, "--runner: the value is missing; write --runner=URL");
    refused("--tik-ms 1", NULL, "unknown flag \"tik-ms\"; did you mean --tick-ms?");
    refused("--tick_ms 1000", NULL, "unknown flag \"tick_ms\"; did you mean --tick-ms?");
    refused("--tick 1000", NULL, "unknown flag \"tick\"; --help lists all");
    refused("--colour", NULL, "unknown flag \"colour\"; --help lists all");
    refused("-t", NULL, "unknown flag \"t\"; --help lists all");
    refused("--=x", NULL, "unknown flag \"=x\"; --help lists all");
    refused("-tick-ms=1", NULL, "unknown flag \"tick-ms=1\"; did you mean --tick-ms?");
    refused("--tick-ms 1000 --tick-ms=2000", NULL, "--tick-ms is given twice");
    refused("--tick-ms 1h", NULL,
            "--tick-ms: \"1h\" is not a whole number of milliseconds; 60000 is "
            "the default");
    refused("--tick-ms -5", NULL,
            "--tick-ms: \"-5\" is less than the minimum 10; 60000 is the default");
    refused("--demo=1", NULL, "--demo: \"1\" is neither true nor false; false is the default");
    refused("--data=\033[31mred", NULL,
            "--data: \"\\x1b[31mred\" has a control character in it; "
            "./diurnal-data is the default");
    refused("--hook=\xff", NULL, "--hook: \"\\xff\" is not UTF-8");
    refused("now", NULL, "unexpected argument \"now\"; flags begin with --");
}

TEST(numbers_are_read_in_one_way_only) {
    static const char *const wrong[] = {"",    "+5", "0x10", "1e3", "1_000", "1,000", "1.0", "1.",
                                        "60s", "-",  "--5",  "५",   "1000-", "0b11",  "١",   "nan"};
    static const char *const not_real[] = {
        "",    ".5",   "5.",   "1e-3", "0,5", "-",   "+0.5",
        "nan", "0.5.", "0x.8", "inf",  "1/2", "-.5", "0.1234567890123456"};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char         arg[64];
        dn_settings *s = NULL;

        (void)snprintf(arg, sizeof arg, "--ledger-days=%s", wrong[i]);
        CHECK_INT(load(arg, NULL, &s), DN_EINVAL);
        CHECK_MSG(strstr(why, "is not a whole number of days"), "%s", why);
    }
    for (size_t i = 0; i < sizeof not_real / sizeof not_real[0]; i++) {
        char         arg[64];
        dn_settings *s = NULL;

        (void)snprintf(arg, sizeof arg, "--sat-ratio=%s", not_real[i]);
        CHECK_INT(load(arg, NULL, &s), DN_EINVAL);
        CHECK_MSG(strstr(why, "is not a number"), "%s", why);
    }
}

TEST(a_ratio_is_the_double_nearest_to_its_text) {
    uint64_t random = test_seed();

    for (int n = 0; n < 5000 / TEST_SLOW_FACTOR; n++) {
        char         arg[64] = "--sat-ratio=0.";
        const size_t len = strlen(arg), digits = 1 + test_random(&random) % 14;
        dn_settings *s;

        for (size_t i = 0; i < digits; i++) arg[len + i] = (char)('0' + test_random(&random) % 10);
        s = loaded(arg, NULL);
        CHECK(s->sat_ratio == strtod(arg + 12, NULL));
        dn_settings_free(s);
    }
}

TEST(an_address_is_a_host_and_a_port) {
    static const char *const good[] = {"127.0.0.1:0", "localhost:65535", "[::1]:1440", "0.0.0.0:80",
                                       "[fe80::1%eth0]:1"};
    static const char *const bad[] = {"",        ":80",         "h",       "h:",    "h:x",
                                      "h:65536", "::1:80",      "[::1]",   "[]:80", "h:123456",
                                      "h:-1",    "http://h:80", "[::1:80", "h:80/", "h:8 0"};

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char arg[64];

        (void)snprintf(arg, sizeof arg, "--listen=%s", good[i]);
        dn_settings_free(loaded(arg, NULL));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char              variable[64];
        char             *environment[] = {variable, NULL};
        dn_settings      *s = NULL;
        dn_settings_input input = {.environ = environment};

        (void)snprintf(variable, sizeof variable, "DIURNAL_LISTEN=%s", bad[i]);
        CHECK_MSG(dn_settings_load(&input, &s, why) == DN_EINVAL, "%s", bad[i]);
    }
}

TEST(a_commands_own_flags_and_operands_are_told_from_the_settings) {
    dn_flag           flags[] = {{"record", "FILE", "writes a trace", NULL},
                                 {"in-the-dark", NULL, "without a light", NULL},
                                 {"json", NULL, "as JSON", NULL}};
    const char       *operands[16];
    int               ignored;
    dn_settings_input input = {
        .environ = words(NULL, &ignored), .flags = flags, .flags_len = 3, .operands = operands};
    dn_settings *s = NULL;

    input.argv = words("one --record trace --tick-ms=1000 - --json -- --demo two", &input.argc);
    for (int twice = 0; twice < 2; twice++) { /* as SIGHUP does */
        CHECK_MSG(dn_settings_load(&input, &s, why) == DN_OK, "%s", why);
        CHECK_STR(flags[0].value, "trace");
        CHECK_STR(flags[1].value, NULL);
        CHECK_STR(flags[2].value, "");
        CHECK_UINT(input.operands_len, 4);
        CHECK_STR(operands[0], "one");
        CHECK_STR(operands[1], "-");
        CHECK_STR(operands[2], "--demo");
        CHECK_STR(operands[3], "two");
        CHECK(!s->demo);
        dn_settings_free(s);
        s = NULL;
    }
    input.argv = words("--json=yes", &input.argc);
    CHECK_INT(dn_settings_load(&input, &s, why), DN_EINVAL);
    CHECK_STR(why, "--json takes no value");
    input.argv = words("--recrod x", &input.argc);
    CHECK_INT(dn_settings_load(&input, &s, why), DN_EINVAL);
    CHECK_STR(why, "unknown flag \"recrod\"; did you mean --record?");
    input.argv = words("--record", &input.argc);
    CHECK_INT(dn_settings_load(&input, &s, why), DN_EINVAL);
    CHECK_STR(why, "--record: the value is missing; write --record=FILE");
}

/* ---- Environment ---- */

TEST(a_variable_of_diurnals_name_that_is_no_setting_is_refused) {
    refused(NULL, "DIURNAL_TICKMS=5",
            "environment: unknown setting \"DIURNAL_TICKMS\"; did you mean DIURNAL_TICK_MS?");
    refused(NULL, "DIURNAL_tick_ms=5000",
            "environment: unknown setting \"DIURNAL_tick_ms\"; did you mean DIURNAL_TICK_MS?");
    refused(NULL, "DIURNAL_=5", "environment: unknown setting \"DIURNAL_\"; unset it");
    refused(NULL, "DIURNAL_COLOUR=5", "environment: unknown setting \"DIURNAL_COLOUR\"; unset it");
    refused(NULL, "DIURNAL_MAX_CONCURRENCY=",
            "DIURNAL_MAX_CONCURRENCY: \"\" is not a whole number of jobs; 64 is the default");
}

TEST(other_variables_are_left_alone) {
    dn_settings *s = loaded(NULL, "DIURNAL_URL=http://h DIURNAL_TOKEN=t DIURNALX=1 TICK_MS=5 "
                                  "diurnal_tick_ms=5 DIURNAL_TICK_MS");

    CHECK_INT(s->tick_ms, 60000);
    dn_settings_free(s);
    s = loaded(NULL, "DIURNAL_TICK_MS=1000 DIURNAL_TICK_MS=2000");
    CHECK_INT(s->tick_ms, 1000); /* as getenv has it */
    dn_settings_free(s);
}

/* ---- What goes together ---- */

static void check_says(const char *args, const char *environment, const char *sentence) {
    dn_settings *const s = loaded(args, environment);

    why[0] = '\0';
    CHECK_INT(dn_settings_check(s, why), *sentence == '\0' ? DN_OK : DN_EINVAL);
    CHECK_STR(why, sentence);
    dn_settings_free(s);
}

TEST(settings_that_do_not_go_together_are_refused) {
    check_says("--demo", NULL, "");
    check_says("--runner http://h", NULL, "");
    check_says("--demo --window-minutes 1", NULL, "");
    check_says("--demo --job-timeout-ms 3600000", NULL, "");
    check_says("--demo --job-timeout-ms 3600001", NULL,
               "--job-timeout-ms: 3600001 is longer than the window of 60 minutes; the maximum is "
               "3600000");
    check_says("--demo --window-minutes 1", "DIURNAL_JOB_TIMEOUT_MS=60001",
               "DIURNAL_JOB_TIMEOUT_MS: 60001 is longer than the window of 1 minutes; the maximum "
               "is 60000");
    check_says("--demo --cutoff-objective 0.999", NULL, "");
    check_says("--demo --cutoff-objective 1", NULL,
               "--cutoff-objective: 1 allows no miss, so there is no burn rate; 0.999 allows one "
               "in a thousand");
    check_says(NULL, NULL,
               "runner: not set; use for example --runner=http://127.0.0.1:8080/daily, or --demo "
               "to try diurnal out");
    check_says("--demo --runner http://h", NULL,
               "--runner: the demo has its own runner; remove this one, or demo");
}

/* ---- Showing ---- */

static char *shown(const dn_settings *s, bool json) {
    char       *text = NULL;
    size_t      size;
    FILE *const out = open_memstream(&text, &size);

    CHECK(out);
    CHECK_INT(dn_settings_show(s, json, out), DN_OK);
    CHECK(fclose(out) == 0);
    return keep(text);
}

TEST(what_is_shown_is_a_file_that_sets_the_same) {
    dn_settings *const s =
        loaded("--tick-ms=1234 --sat-ratio=0.1 --log-level=error --http2 "
               "--data=\"#\\x\\ --runner=native:x --hook=http://h/a#b",
               "DIURNAL_SECRET_FILE=/s DIURNAL_CUTOFF_RATE_MAX=0.33333333333333");
    dn_settings *t = NULL;
    char *const  text = shown(s, false);

    CHECK_MSG(strstr(text, "tick_ms = 1234                           # --tick-ms\n"), "%s", text);
    CHECK_MSG(strstr(text, "secret_file = /s                         # DIURNAL_SECRET_FILE\n"),
              "%s", text);
    CHECK_MSG(strstr(text, "window_minutes = 60                      # default\n"), "%s", text);
    CHECK_MSG(strstr(text, "\n# config = \"\" "), "%s", text);
    CHECK_MSG(strstr(text, "\n# hook = http://h/a#*** "), "%s", text);
    t = loaded_conf(text);
    for (size_t i = 0; i < DN_SETTINGS; i++)
        if (i != DN_SETTING_config && i != DN_SETTING_hook)
            CHECK_MSG(dn_settings_same(s, t, i), "%s", dn_settings_table[i].key);
    dn_settings_free(t);
    dn_settings_free(s);
}

TEST(any_text_survives_being_shown_and_read_again) {
    uint64_t random = test_seed();

    for (int n = 0; n < 1000 / TEST_SLOW_FACTOR; n++) {
        char              arg[64] = "--data=x", *argv[] = {arg}, *text;
        const size_t      len = 1 + test_random(&random) % 8;
        dn_settings_input input = {.argc = 1, .argv = argv};
        dn_settings      *s = NULL, *t;

        for (size_t i = 0; i < len; i++) arg[7 + i] = " \"\\#=ab"[test_random(&random) % 7];
        CHECK_MSG(dn_settings_load(&input, &s, why) == DN_OK, "%s", why);
        text = shown(s, false);
        t = loaded_conf(text);
        CHECK_STR(t->data, s->data);
        dn_settings_free(s);
        dn_settings_free(t);
    }
}

TEST(in_json_each_setting_has_its_value_source_and_place) {
    write_conf(BYTES("\nsat_ratio = 0.7\n"));
    dn_settings *const  s = loaded("--config diurnal.conf --demo", "DIURNAL_TICK_MS=1000");
    json_t *const       root = json_loads(shown(s, true), 0, NULL);
    const json_t *const items = json_object_get(root, "items");
    const char         *source, *at;
    json_t             *value;
    int                 live;

    CHECK_UINT(json_array_size(items), DN_SETTINGS);
    CHECK(json_unpack(json_array_get(items, DN_SETTING_sat_ratio), "{s:o, s:s, s:s, s:b}", "value",
                      &value, "source", &source, "at", &at, "live", &live) == 0);
    CHECK(json_real_value(value) == 0.7 && !live);
    CHECK_STR(source, "file");
    CHECK_STR(at, "diurnal.conf:2");
    CHECK(json_unpack(json_array_get(items, DN_SETTING_tick_ms), "{s:o, s:s, s:s, s:b}", "value",
                      &value, "source", &source, "at", &at, "live", &live) == 0);
    CHECK(json_integer_value(value) == 1000 && !live);
    CHECK_STR(source, "environment");
    CHECK_STR(at, "DIURNAL_TICK_MS");
    CHECK(json_unpack(json_array_get(items, DN_SETTING_demo), "{s:o, s:s, s:s}", "value", &value,
                      "source", &source, "at", &at) == 0);
    CHECK(json_is_true(value));
    CHECK_STR(source, "flag");
    CHECK_STR(at, "--demo");
    CHECK(json_is_null(json_object_get(json_array_get(items, DN_SETTING_data), "at")));
    CHECK_STR(
        json_string_value(json_object_get(json_array_get(items, DN_SETTING_log_level), "value")),
        "info");
    json_decref(root);
    dn_settings_free(s);
}

static void masked(const char *url, const char *expected) {
    char              arg[256], *argv[] = {arg}, *text;
    char              line[300];
    dn_settings_input input = {.argc = 1, .argv = argv};
    dn_settings      *s = NULL;

    (void)snprintf(arg, sizeof arg, "--runner=%s", url);
    CHECK_INT(dn_settings_load(&input, &s, why), DN_OK);
    text = shown(s, false);
    (void)snprintf(line, sizeof line, "\n%srunner = %s ", strcmp(url, expected) == 0 ? "" : "# ",
                   expected);
    CHECK_MSG(strstr(text, line), "%s", text);
    text = shown(s, true);
    (void)snprintf(line, sizeof line, "\"value\": \"%s\"", expected);
    CHECK_MSG(strstr(text, line), "%s", text);
    dn_settings_free(s);
}

TEST(what_of_a_runner_may_be_a_secret_is_never_shown) {
    masked("http://h/p", "http://h/p");
    masked("https://ada:s3cret@h:8/p", "https://***@h:8/p");
    masked("https://tok@h", "https://***@h");
    masked("https://a:p@ss@h/p", "https://***@h/p");
    masked("https://h/p?token=s3cret", "https://h/p?***");
    masked("https://a:b@h?x@y#z", "https://***@h?***");
    masked("https://h/p@q", "https://h/p@q");
    masked("http://h/#f", "http://h/#***");
    masked("exec:/bin/job", "exec:/bin/job");
    masked("exec:/bin/job --token s3cret http://a@b", "exec:/bin/job ***");
    masked("native:x", "native:x");
}

TEST(a_full_disk_is_told_when_settings_are_shown) {
    dn_settings *const s = loaded(NULL, NULL);

    for (int what = 0; what < 2; what++) {
        FILE *const out = fopen("/dev/full", "w");

        CHECK(out);
        CHECK_INT(dn_settings_show(s, what == 1, out), DN_EIO);
        (void)fclose(out);
    }
    dn_settings_free(s);
}

/* ---- Out of memory ---- */

TEST(whichever_allocation_fails_loading_says_so_and_leaves_nothing_behind) {
    int               ignored;
    dn_settings_input input = {.environ =
                                   words("DIURNAL_HOOK=http://hook STATE_DIRECTORY=/s", &ignored)};
    bool              failed = true;
    uint64_t          n = 0;

    input.argv = words("--config=diurnal.conf --runner=http://h --data=x", &input.argc);
    write_conf(BYTES("listen = h:1\nsecret_file = \"s\"\n"));
    while (failed) {
        dn_settings *s = NULL;

        starve_nth(++n);
        const int rc = dn_settings_load(&input, &s, why);
        failed = starve_end();
        CHECK_INT(rc, failed ? DN_ENOMEM : DN_OK);
        CHECK(!s == failed);
        dn_settings_free(s);
    }
    CHECK(n > 10);
}

TEST(whichever_allocation_fails_showing_says_so) {
    dn_settings *const s = loaded("--runner=http://a:b@h", NULL);
    FILE *const        out = fopen("/dev/null", "w");

    for (int json = 0; json < 2; json++) {
        bool     failed = true;
        uint64_t n = 0;

        while (failed) {
            starve_nth(++n);
            const int rc = dn_settings_show(s, json == 1, out);
            failed = starve_end();
            CHECK_INT(rc, failed ? DN_ENOMEM : DN_OK);
        }
        CHECK(n > 2 * DN_SETTINGS);
    }
    (void)fclose(out);
    dn_settings_free(s);
}
