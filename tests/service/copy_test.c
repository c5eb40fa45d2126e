/* copy_test.c - kv makes a copy of the store that is read in pieces: with a store on a disk, in a simulation. */
#include "diurnal/sim.h"
#include "diurnal/supervisor.h"
#include "engine/kv.h"
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAGE_COPY = MSG_OWN, STAGE_READ, CALL_MS = 120000, IDLE_MS = 60000 };

static struct {
    dn_sim           *sim;
    dn_store         *store;
    dn_kv_config      config;
    char              dir[64];
    uint32_t          asks; /* the kind of the question that the stage sends next */
    dn_kv_copy_read   read;
    dn_kv_copy_answer copy; /* the last answers */
    int               piece_status;
    uint32_t          piece_len;
} w;

static int stage_on_any(dn_self *self, void *state, const dn_msg *msg) {
    (void)state;
    if (dn_msg_kind(msg) == STAGE_COPY || dn_msg_kind(msg) == STAGE_READ) {
        const bool reads = dn_msg_kind(msg) == STAGE_READ;
        w.asks = dn_msg_kind(msg);
        CHECK_INT(dn_call(self, dn_name(self, ACTOR_KV), reads ? MSG_KV_COPY_READ : MSG_KV_COPY,
                          reads ? &w.read : NULL, reads ? sizeof w.read : 0, CALL_MS, NULL),
                  DN_OK);
    } else if (w.asks == STAGE_READ) {
        const dn_kv_copy_piece *piece = dn_msg_body_borrow(msg);
        CHECK_INT(dn_msg_kind(msg), MSG_KV_ANSWER);
        w.piece_status = piece->status;
        w.piece_len = piece->len;
        if (piece->len > 15 && w.read.offset == 0)
            CHECK(memcmp(piece->bytes, "SQLite format 3", 15) == 0);
    } else {
        CHECK_INT(dn_msg_kind(msg), MSG_KV_ANSWER);
        w.copy = *DN_BODY(dn_kv_copy_answer, msg);
    }
    return DN_OK;
}

static const dn_handler stage_rows[] = {{DN_KIND_ANY, stage_on_any}};
static const dn_class   stage_class = {.name = "stage", .handlers = DN_SLICE(stage_rows)};

static void silence(void *context, const dn_notice *notice) { (void)context, (void)notice; }

static void runs_for(int64_t ms) { (void)dn_sim_run(w.sim, dn_sim_mono_ms(w.sim) + ms); }

/* With more users than one piece holds. */
static void begins(void) {
    enum { USERS = 6000, BATCH = 100 };
    static const dn_child_spec children[] = {
        {.name = ACTOR_KV, .actor_class = &dn_kv_class, .config = &w.config},
        {.name = "stage", .actor_class = &stage_class}};
    static const dn_supervisor_spec top = {.intensity = 1, .children = DN_SLICE(children)};
    static const dn_spawn_spec      root = {
             .actor_class = &dn_supervisor_class, .config = &top, .name = "top"};
    const dn_sim_config sim = {.seed = test_seed(), .notice = silence};
    char                why[DN_STORE_WHY], url[sizeof w.dir + 8];
    static char         ids[BATCH][32];

    (void)snprintf(w.dir, sizeof w.dir, "/tmp/diurnal-copy-XXXXXX");
    CHECK(mkdtemp(w.dir));
    (void)snprintf(url, sizeof url, "sqlite:%s", w.dir);
    CHECK_INT(dn_store_open(&(dn_store_config){.url = url, .ledger_days = 35}, &w.store, why),
              DN_OK);
    for (int i = 0; i < USERS; i += BATCH) {
        dn_write        writes[BATCH] = {0};
        dn_write_result results[BATCH];
        for (int j = 0; j < BATCH; j++) {
            (void)snprintf(ids[j], sizeof ids[j], "somebody-with-a-long-id-%06d", i + j);
            writes[j] = (dn_write){.op = DN_WRITE_SET,
                                   .set = {.id = ids[j],
                                           .id_len = (uint8_t)strlen(ids[j]),
                                           .due = 480,
                                           .today = 20000,
                                           .starts_on = DN_DAY_NONE,
                                           .new_starts_on = 20000}};
        }
        CHECK_INT(dn_store_write(w.store, writes, BATCH, results, NULL), DN_OK);
    }
    w.config = (dn_kv_config){.store = w.store, .parts = {&dn_kv_backup_part}, .parts_len = 1};
    CHECK_INT(dn_sim_new(&sim, &w.sim), DN_OK);
    CHECK(dn_sim_boot(w.sim, &root) >= 0);
    runs_for(1000);
}

static void ends(void) {
    char command[128];

    dn_sim_free(w.sim);
    dn_store_free(w.store);
    (void)snprintf(command, sizeof command, "rm -r %s", w.dir);
    CHECK_INT(system(command), 0);
}

static void asks(uint32_t kind) {
    dn_runtime *rt = dn_sim_runtime(w.sim);

    CHECK_INT(dn_post(rt, dn_runtime_name(rt, "stage"), kind, NULL, 0), DN_OK);
    runs_for(100);
}

static void copies(void) {
    asks(STAGE_COPY);
    CHECK_MSG(w.copy.status == DN_OK, "%s", w.copy.words);
    CHECK(w.copy.bytes > 2 * DN_KV_PIECE);
}

/* The status; the length is in w. */
static int reads(uint64_t copy, uint64_t offset) {
    w.read = (dn_kv_copy_read){.copy = copy, .offset = offset};
    asks(STAGE_READ);
    return w.piece_status;
}

static int files(void) {
    DIR *dir = opendir(w.dir);
    int  count = 0;

    while (readdir(dir)) count++;
    (void)closedir(dir);
    return count;
}

TEST(kv_gives_a_copy_in_pieces_and_drops_it_after_the_last) {
    uint64_t at = 0;

    begins();
    const int before = files();
    copies();
    CHECK_INT(files(), before);
    while (at < w.copy.bytes) {
        CHECK_INT(reads(w.copy.copy, at), DN_OK);
        CHECK(w.piece_len > 0 && w.piece_len <= DN_KV_PIECE);
        at += w.piece_len;
    }
    CHECK_UINT(at, w.copy.bytes);
    CHECK_INT(reads(w.copy.copy, 0), DN_EDEAD);
    ends();
}

TEST(kv_drops_a_copy_that_nobody_reads_for_a_minute) {
    begins();
    copies();
    for (int i = 0; i < 3; i++) {
        runs_for(IDLE_MS - 1000);
        CHECK_INT(reads(w.copy.copy, 0), DN_OK);
    }
    runs_for(IDLE_MS + 1000);
    CHECK_INT(reads(w.copy.copy, 0), DN_EDEAD);
    ends();
}

TEST(kv_replaces_a_copy_by_the_next_and_never_mixes_them) {
    begins();
    copies();
    const uint64_t first = w.copy.copy;
    copies();
    CHECK(w.copy.copy != first);
    CHECK_INT(reads(first, 0), DN_EDEAD);
    CHECK_INT(reads(w.copy.copy, 0), DN_OK);
    ends();
}
