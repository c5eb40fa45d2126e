/* reference_test.c - what help, completions and the manual are written from has all there is, and is fit to be shown. */
#include "reference.h"
#include "test.h"

#include <string.h>

static const command *named(const char *name) {
    size_t         len = 0;
    const command *all = command_table(&len);

    for (size_t i = 0; i < len; i++)
        if (strcmp(all[i].name, name) == 0) return &all[i];
    CHECK_MSG(false, "there is no %s", name);
    return NULL;
}

static const reference_flag *flag_of(const reference_flag *flags, size_t len, const char *name) {
    for (size_t i = 0; i < len; i++)
        if (strcmp(flags[i].name, name) == 0) return &flags[i];
    return NULL;
}

TEST(a_command_that_serves_has_every_setting_as_a_flag_and_says_its_default) {
    reference_flag flags[REFERENCE_FLAGS_MAX];
    const size_t   len = reference_flags(named("serve"), flags);

    for (size_t i = 0; i < DN_SETTINGS; i++) {
        char name[DN_SETTING_NAME];
        dn_setting_flag(i, name);
        const reference_flag *f = flag_of(flags, len, name);
        CHECK_MSG(f && f->help == dn_settings_table[i].help, "%s", name);
    }
    CHECK_STR(flag_of(flags, len, "--tick-ms")->more, " (60000 ms)");
    CHECK_STR(flag_of(flags, len, "--tick-ms")->arg, "N");
    CHECK_STR(flag_of(flags, len, "--demo")->arg, "");
}

TEST(a_command_that_asks_has_no_setting_but_where_the_data_are_and_says_how_to_ask) {
    reference_flag flags[REFERENCE_FLAGS_MAX];
    size_t         len = reference_flags(named("status"), flags);

    CHECK(flag_of(flags, len, "--url") && flag_of(flags, len, "--token-file"));
    CHECK(flag_of(flags, len, "--data") && !flag_of(flags, len, "--tick-ms"));
    len = reference_flags(named("db check"), flags);
    CHECK(flag_of(flags, len, "--data") && !flag_of(flags, len, "--url"));
    len = reference_flags(named("version"), flags);
    CHECK(!flag_of(flags, len, "--data") && flag_of(flags, len, "--help"));
}

TEST(groups_stand_together_and_no_line_of_help_is_too_long) {
    size_t         len = 0;
    const command *all = command_table(&len);

    for (size_t i = 0; i < len; i++) {
        reference_flag flags[REFERENCE_FLAGS_MAX];
        const size_t   flags_len = reference_flags(&all[i], flags);
        for (size_t f = 0; f < flags_len; f++)
            CHECK_MSG(34 + strlen(flags[f].help) + strlen(flags[f].more) <= 100, "%s %s",
                      all[i].name, flags[f].name);
        CHECK_MSG(34 + strlen(all[i].help) <= 110, "%s", all[i].name);
        const size_t group = reference_group(&all[i]);
        for (size_t k = i + 2; group && k < len; k++)
            if (strncmp(all[k].name, all[i].name, group + 1) == 0)
                CHECK_MSG(strncmp(all[k - 1].name, all[i].name, group + 1) == 0, "%s", all[k].name);
    }
    CHECK_STR(reference_last_word(named("users set")), "set");
    CHECK_STR(reference_last_word(named("serve")), "serve");
}
