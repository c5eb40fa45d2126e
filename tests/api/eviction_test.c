/* eviction_test.c - of those that have most places the most silent gives up one. */
#include "http/eviction.h"
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static uint64_t from(const char *text) {
    struct sockaddr_storage address = {.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET};
    struct sockaddr_in     *four = (struct sockaddr_in *)(void *)&address;
    struct sockaddr_in6    *six = (struct sockaddr_in6 *)(void *)&address;
    void *const at = strchr(text, ':') ? (void *)&six->sin6_addr : (void *)&four->sin_addr;

    CHECK_INT(inet_pton(address.ss_family, text, at), 1);
    return eviction_source(&address);
}

TEST(an_address_counts_as_itself_and_one_of_ipv6_as_its_network) {
    CHECK(from("192.0.2.1") != from("192.0.2.2"));
    CHECK_UINT(from("::ffff:192.0.2.1"), from("192.0.2.1"));
    CHECK_UINT(from("2001:db8:1:2::1"), from("2001:db8:1:2:ffff::2"));
    CHECK(from("2001:db8:1:2::1") != from("2001:db8:1:3::1"));
}

TEST(who_has_most_gives_up_what_has_been_silent_longest) {
    const eviction_candidate ones[] = {{.source = 1, .since_ns = 1, .evictable = true},
                                       {.source = 2, .since_ns = 5, .evictable = true},
                                       {.source = 2, .since_ns = 4, .evictable = true},
                                       {.source = 2, .since_ns = 3, .evictable = false},
                                       {.source = 1, .since_ns = 2, .evictable = true}};

    CHECK_INT(eviction_choose(ones, 5, 7), 2);
    CHECK_INT(eviction_choose(ones, 3, 7), 2);
    CHECK_INT(eviction_choose(ones, 2, 7), 0); /* as many of each: the most silent of all */
    CHECK_INT(eviction_choose(&ones[3], 1, 7), -1);
    CHECK_INT(eviction_choose(ones, 0, 7), -1);
}

TEST(who_was_let_in_and_sends_goes_when_no_other_can) {
    const eviction_candidate ones[] = {
        {.source = 1, .since_ns = 1, .evictable = true, .authenticated = true},
        {.source = 1, .since_ns = 2, .evictable = true, .authenticated = true},
        {.source = 2, .since_ns = 4, .evictable = true},
        {.source = 1, .since_ns = 3, .evictable = true},
        {.source = 3, .since_ns = 0, .evictable = false}};

    CHECK_INT(eviction_choose(ones, 5, 7), 3);
    CHECK_INT(eviction_choose(ones, 3, 7), 2);
    CHECK_INT(eviction_choose(ones, 2, 7), 0);
}

/* Beside counting each with every other. */
TEST(of_any_crowd_the_right_one_is_chosen) {
    static eviction_candidate ones[EVICTION_MAX];
    uint64_t                  seed = test_seed();

    for (int round = 0; round < 200 / TEST_SLOW_FACTOR; round++) {
        const uint32_t len = (uint32_t)(test_random(&seed) % (EVICTION_MAX + 1));
        const uint64_t kinds = test_random(&seed) % (len + 1) + 1, secret = test_random(&seed);
        int32_t        chosen = -1;
        uint32_t       most = 0;
        for (uint32_t i = 0; i < len; i++)
            ones[i] = (eviction_candidate){.source = test_random(&seed) % kinds,
                                           .since_ns = (int64_t)(test_random(&seed) % 1000000),
                                           .evictable = test_random(&seed) % 4 != 0,
                                           .authenticated = test_random(&seed) % 4 == 0};
        for (uint32_t i = 0; i < len; i++) {
            uint32_t others = 0;
            for (uint32_t j = 0; j < len; j++) others += ones[j].source == ones[i].source;
            if (!ones[i].evictable) continue;
            if (chosen >= 0) {
                const eviction_candidate *c = &ones[chosen];
                if (ones[i].authenticated && !c->authenticated) continue;
                if (ones[i].authenticated == c->authenticated &&
                    (others < most || (others == most && ones[i].since_ns >= c->since_ns)))
                    continue;
            }
            chosen = (int32_t)i;
            most = others;
        }
        CHECK_INT(eviction_choose(ones, len, secret), chosen);
    }
}
