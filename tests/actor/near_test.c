/* near_test.c - actors of one loop that write to each other in every way there is, against a count of what waits.
 * With a real loop: a simulation takes the long way with every message, and this is about the short ones. */
#include "cast.h"

enum { LETTER = 1, ASK, ANSWER, PEERS = 5, LETTERS = 100000, BODY_MAX = 120 };

/* A body of any length is a letter and as many bytes of its number as there is room for. */
typedef struct letter {
    uint32_t from, no;
} letter;

typedef struct peer {
    uint32_t max;         /* its mailbox */
    uint32_t waiting;     /* of what is not exempt */
    uint32_t sent[PEERS]; /* to each */
    uint32_t read[PEERS]; /* of each */
    dn_msg  *kept;        /* a question that is answered later */
} peer;

static peer     peers[PEERS];
static dn_ref   refs[PEERS];
static uint64_t dice;
static uint32_t left;    /* letters still to be written */
static uint32_t open;    /* on the way: letters, questions, answers */
static uint32_t refused; /* for want of room */

static uint32_t below(uint32_t n) { return (uint32_t)(test_random(&dice) % n); }

/* ---- Writing ---- */

static size_t write_letter(unsigned char *body, uint32_t from, uint32_t to) {
    static const size_t sizes[] = {8, 8, 16, 24, 48, 80, 12, 81, BODY_MAX};
    const size_t        size = sizes[below(sizeof sizes / sizeof sizes[0])];
    const letter        l = {from, peers[from].sent[to] + 1};

    memcpy(body, &l, sizeof l);
    memset(body + sizeof l, (int)(l.no & 0xff), size - sizeof l);
    return size;
}

/* What came of it is what had to come of it. */
static bool was_taken(int rc, uint32_t from, uint32_t to) {
    CHECK_INT(rc, peers[to].waiting < peers[to].max ? DN_OK : DN_EFULL);
    if (rc == DN_OK) {
        peers[from].sent[to]++;
        peers[to].waiting++;
        open++;
    } else {
        refused++;
    }
    return rc == DN_OK;
}

/* By its address or its name. */
static dn_ref address_of(dn_self *self, uint32_t to) {
    static const char *const names[PEERS] = {"a", "b", "c", "d", "e"};

    return below(4) == 0 ? dn_name(self, names[to]) : refs[to];
}

static void send_to(dn_self *self, uint32_t me, uint32_t to) {
    unsigned char body[BODY_MAX];
    const size_t  size = write_letter(body, me, to);

    /* The first is one of those whose size is known where they are sent from. */
    if (size == sizeof(letter))
        (void)was_taken(dn_send(self, address_of(self, to), LETTER, body, sizeof(letter)), me, to);
    else (void)was_taken(dn_send(self, address_of(self, to), LETTER, body, size), me, to);
}

static void send_made(dn_self *self, uint32_t me) {
    unsigned char  body[BODY_MAX];
    const uint32_t to = below(PEERS);
    const size_t   size = write_letter(body, me, to);
    dn_msg        *m = dn_msg_new(self, LETTER, size);

    memcpy(dn_msg_body(m), body, size);
    if (!was_taken(dn_send_take(self, address_of(self, to), m), me, to)) dn_msg_free(self, m);
}

static void ask_one(dn_self *self, uint32_t me) {
    unsigned char  body[BODY_MAX];
    const uint32_t to = below(PEERS);
    const size_t   size = write_letter(body, me, to);

    (void)was_taken(
        dn_call(self, address_of(self, to), ASK, body, size, /* timeout_ms= */ 1000000, NULL), me,
        to);
}

/* The letter that is being read goes on to somebody else, in the reader's name. */
static void send_on(dn_self *self, uint32_t me, const dn_msg *msg) {
    const uint32_t to = below(PEERS);
    dn_msg        *m = dn_msg_keep(self, msg);
    letter        *l = dn_msg_body(m);
    const size_t   size = dn_msg_size(m);

    *l = (letter){me, peers[me].sent[to] + 1};
    memset(l + 1, (int)(l->no & 0xff), size - sizeof *l);
    if (!was_taken(dn_send_take(self, refs[to], m), me, to)) dn_msg_free(self, m);
}

/* ---- Reading ---- */

static void answer(dn_self *self, const dn_msg *question) {
    dn_reply(self, question, ANSWER, NULL, 0);
    open++;
}

static void look(uint32_t me, const dn_msg *msg) {
    const letter *l = dn_msg_body_borrow(msg);
    const size_t  size = dn_msg_size(msg);

    CHECK(size >= sizeof *l && l->from < PEERS);
    CHECK_UINT(l->no, ++peers[me].read[l->from]);
    for (const unsigned char *c = (const unsigned char *)(l + 1);
         c < (const unsigned char *)l + size; c++)
        CHECK_UINT(*c, l->no & 0xff);
    peers[me].waiting--;
}

static void do_something(dn_self *self, uint32_t me, const dn_msg *letter_read) {
    if (left == 0) return;
    left--;
    switch (below(6)) {
    case 0: ask_one(self, me); return;
    case 1: send_made(self, me); return;
    case 2:
        if (letter_read) {
            send_on(self, me, letter_read);
            return;
        }
        __attribute__((fallthrough));
    default: send_to(self, me, below(PEERS));
    }
}

static int peer_on_any(dn_self *self, void *state, const dn_msg *msg) {
    const uint32_t me = *(uint32_t *)state;
    peer          *p = &peers[me];
    const bool     plain = dn_msg_kind(msg) == LETTER;

    open--;
    if (dn_msg_kind(msg) == LETTER || dn_msg_kind(msg) == ASK) look(me, msg);
    if (p->kept) answer(self, DN_TAKE(p->kept));
    if (dn_msg_kind(msg) == ASK) {
        switch (below(3)) {
        case 0: answer(self, msg); break;
        case 1: p->kept = dn_msg_keep(self, msg); break;
        default: open++; /* it comes back as failed */
        }
    }
    for (uint32_t n = below(4); n > 0; n--) do_something(self, me, n == 1 && plain ? msg : NULL);
    while (open == 0 && left > 0) do_something(self, me, NULL);
    if (open > 0) return DN_OK;
    /* Who has kept a question answers it at its next message. */
    for (uint32_t i = 0; i < PEERS && open == 0; i++)
        if (peers[i].kept) send_to(self, me, i);
    return open > 0 ? DN_OK : dn_stop(self, dn_name(self, "root"));
}

static int peer_init(dn_self *self, void *state, const void *config) {
    const uint32_t me = *(const uint32_t *)config;

    *(uint32_t *)state = me;
    refs[me] = dn_self_ref(self);
    return DN_OK;
}

static const dn_handler peer_rows[] = {
    {LETTER, peer_on_any},
    {ASK, peer_on_any},
    {ANSWER, peer_on_any},
    {DN_MSG_CALL_FAILED, peer_on_any},
};

static int peer_flush(dn_self *self, void *state) {
    (void)self, (void)state;
    return DN_OK;
}

/* What they have in common is said when they begin. */
static dn_class classes[PEERS] = {
    {.name = "one", .mailbox_max = 1},
    {.name = "two", .mailbox_max = 2},
    {.name = "three", .mailbox_max = 3},
    {.name = "many", .mailbox_max = 1000},
    {.name = "flushes", .mailbox_max = 2, .flush = peer_flush},
};

static int begin_all(dn_self *self) {
    static const char *const names[PEERS] = {"a", "b", "c", "d", "e"};

    for (uint32_t i = 0; i < PEERS; i++) {
        classes[i].state_size = sizeof(uint32_t);
        classes[i].init = peer_init;
        classes[i].handlers = (dn_handlers)DN_SLICE(peer_rows);
        peers[i] = (peer){.max = classes[i].mailbox_max};
        const dn_spawn_spec spec = {.actor_class = &classes[i],
                                    .config = &i,
                                    .config_size = sizeof i,
                                    .name = names[i],
                                    .linked = true};
        CHECK_INT(dn_spawn(self, &spec, NULL), DN_OK);
    }
    left = LETTERS;
    const uint32_t first = 0;
    peers[first].sent[first]++;
    peers[first].waiting++;
    open = 1;
    return dn_send(self, refs[first], LETTER, &(letter){first, 1}, sizeof(letter));
}

/* ---- At the end ---- */

enum { END = 100, BODIES = 600 };

static int read_in_time;

static dn_ref   ending;
static dn_self *ending_self;
static int      released;

static void count_release(void *body) {
    free(body);
    released++;
}

static void write_to_oneself(dn_self *self, void *state) {
    (void)state;
    CHECK_INT(dn_send(self, dn_self_ref(self), LETTER, &(letter){0, 0}, sizeof(letter)), DN_OK);
}

static int stop_at_the_word(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    return dn_msg_kind(msg) == END ? DN_STOP : DN_OK;
}
static const dn_handler ending_rows[] = {{DN_KIND_ANY, stop_at_the_word}};
static const dn_class   ending_class = {
      .name = "ending", .handlers = DN_SLICE(ending_rows), .terminate = write_to_oneself};

static int ask_who_ends(dn_self *self) {
    CHECK_INT(dn_spawn(self, &(dn_spawn_spec){.actor_class = &ending_class}, &ending), DN_OK);
    CHECK_INT(dn_send(self, ending, END, NULL, 0), DN_OK);
    return dn_call(self, ending, ASK, NULL, 0, /* timeout_ms= */ 100000, NULL);
}
static int expect_dead(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state;
    CHECK_UINT(dn_msg_kind(msg), DN_MSG_CALL_FAILED);
    CHECK_INT(DN_BODY(dn_call_failed, msg)->status, DN_EDEAD);
    return DN_STOP;
}

TEST(who_writes_to_himself_at_his_end_loses_nothing_that_waited) {
    CHECK_INT(play(&(role){.begin = ask_who_ends, .on = expect_dead}), DN_OK);
}

/* What an actor owns is released after all turns, and it writes to another that has mail. */
static void write_at_the_very_end(void *thing) {
    (void)thing;
    (void)!dn_send(ending_self, ending, LETTER, &(letter){0, 0}, sizeof(letter));
}

static int own_a_word(dn_self *self) {
    static int thing;

    ending_self = self;
    dn_own(self, &thing, write_at_the_very_end);
    return DN_OK;
}

static void write_body(dn_self *self) {
    void *body = malloc(1);

    CHECK_INT(dn_send_take(self, ending, dn_msg_new_take(self, LETTER, body, 1, count_release)),
              DN_OK);
}

/* So slow that the runtime ends before it has read all. */
static int read_slowly(dn_self *self, void *state, const dn_msg *msg) {
    (void)self, (void)state, (void)msg;
    read_in_time++;
    for (const int64_t until_ns = real_ns() + 1000000; real_ns() < until_ns;) continue;
    return DN_OK;
}

static int cast_and_write(dn_self *self) {
    static const role keeper = {.name = "keeper", .begin = own_a_word};
    static const role reader = {.name = "reader", .on = read_slowly};

    cast(self, &keeper, NULL);
    cast(self, &reader, NULL);
    ending = dn_whereis(self, dn_name(self, "reader"));
    for (int i = 0; i < BODIES; i++) write_body(self);
    return dn_send(self, dn_self_ref(self), END, NULL, 0);
}

TEST(mail_that_was_never_read_is_released_though_more_is_written_at_the_very_end) {
    CHECK_INT(play(&(role){.begin = cast_and_write, .on = stop_at_the_word}), DN_OK);
    CHECK_INT(released, BODIES);
    CHECK(read_in_time < BODIES); /* or nothing was left */
}

/* ---- All of it ---- */

TEST(on_one_loop_all_that_is_sent_comes_once_and_in_its_order_and_a_mailbox_takes_what_it_may) {
    dice = test_seed();
    CHECK_INT(play(&(role){.name = "root", .begin = begin_all}), DN_OK);
    CHECK_UINT(left, 0);
    for (uint32_t i = 0; i < PEERS; i++) {
        CHECK_UINT(peers[i].waiting, 0);
        for (uint32_t from = 0; from < PEERS; from++)
            CHECK_UINT(peers[i].read[from], peers[from].sent[i]);
    }
    CHECK(refused > 0); /* or the bounds were not met */
}
