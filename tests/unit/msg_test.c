/* msg_test.c - what a message is inside: bodies in line and out of line. */
#include "msg.h"

#include "mem.h"
#include "test.h"

#include <string.h>

static int releases;

static void release(void *body) {
    (void)body;
    releases++;
}

TEST(bodies_up_to_the_bound_lie_in_line) {
    static const unsigned char bytes[MSG_INLINE_MAX + 1] = {1, 2, 3, [MSG_INLINE_MAX] = 9};
    dn_msg                     m = {0};

    for (size_t size = 0; size <= MSG_INLINE_MAX; size++) {
        CHECK_INT(msg_set_body(&m, bytes, size), DN_OK);
        CHECK(!(m.flags & MSG_LARGE));
        CHECK_UINT(msg_size(&m), size);
        CHECK_PTR(dn_msg_body_borrow(&m), (const void *)m.inline_body);
        CHECK_INT(memcmp(dn_msg_body_borrow(&m), bytes, size), 0);
    }
    CHECK_INT(msg_set_body(&m, bytes, MSG_INLINE_MAX + 1), DN_OK);
    CHECK(m.flags & MSG_LARGE);
    CHECK_UINT(msg_size(&m), MSG_INLINE_MAX + 1);
    CHECK_INT(memcmp(dn_msg_body_borrow(&m), bytes, MSG_INLINE_MAX + 1), 0);
    msg_drop_body(&m);
    CHECK(!(m.flags & MSG_LARGE));
    CHECK_UINT(msg_size(&m), 0);
}

TEST(a_dropped_body_is_released_once) {
    char   body[100];
    dn_msg m = {0};

    msg_set_large(&m, body, sizeof body, release);
    CHECK_PTR(dn_msg_body_borrow(&m), body);
    msg_drop_body(&m);
    CHECK_INT(releases, 1);
    msg_drop_body(&m);
    CHECK_INT(releases, 1);
}

static bool refuse_all(void *context) {
    (void)context;
    return true;
}

TEST(a_body_there_is_no_memory_for_leaves_the_message_without_one) {
    static const char bytes[MSG_INLINE_MAX + 1];
    dn_msg            m = {0};

    mem_refuse(refuse_all, NULL);
    CHECK_INT(msg_set_body(&m, bytes, sizeof bytes), DN_ENOMEM);
    CHECK(!(m.flags & MSG_LARGE));
    CHECK_UINT(msg_size(&m), 0);
    CHECK_INT(msg_set_body(&m, bytes, MSG_INLINE_MAX), DN_OK);
    mem_refuse(NULL, NULL);
}

TEST(a_body_may_be_made_of_a_part_of_itself) {
    dn_msg m = {0};

    for (int i = 0; i < MSG_INLINE_MAX; i++) m.inline_body[i] = (unsigned char)i;
    CHECK_INT(msg_set_body(&m, m.inline_body + 10, 60), DN_OK);
    for (int i = 0; i < 60; i++) CHECK_INT(m.inline_body[i], i + 10);
}

TEST(only_a_request_has_a_deadline_and_a_call) {
    dn_msg m = {.call = 7, .deadline_ns = 9};

    CHECK_UINT(dn_msg_call(&m), 0);
    CHECK_INT(dn_msg_deadline(&m), INT64_MAX);
    m.flags = MSG_REQUEST;
    CHECK(dn_msg_is_request(&m));
    CHECK_UINT(dn_msg_call(&m), 7);
    CHECK_INT(dn_msg_deadline(&m), 9);
    m.flags = MSG_REPLY;
    CHECK(!dn_msg_is_request(&m));
    CHECK_UINT(dn_msg_call(&m), 7);
    CHECK_INT(dn_msg_deadline(&m), INT64_MAX);
}
