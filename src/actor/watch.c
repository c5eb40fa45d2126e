/* watch.c - monitors, and links from child to parent.
 * A watch is two things: a record on the watcher's side, which says that it still stands, and a
 * message block in the list of the watched, which is already the message it will become. So an
 * ending actor allocates nothing to tell the others, and a withdrawn watch tells nobody: what arrives
 * without its record is dropped. Where a parent watches its child the link the other way costs
 * nothing more: when the watcher ends, the block kills the watched. */
#include "rt.h"

#include <assert.h>
#include <string.h>

/* A block has its tag where dn_down will have it. */
enum { TAG_WORD = offsetof(dn_down, tag) / 8 };
_Static_assert(offsetof(dn_down, tag) % 8 == 0 && sizeof(dn_down) <= MSG_INLINE_MAX,
               "a block becomes DN_MSG_DOWN where it stands");

static watch *watch_find(dn_loop *l, uint64_t id) {
    const uint32_t at = (uint32_t)(id >> 32) - 1;

    if (!slab_knows(&l->watches, at)) return NULL;
    watch *w = slab_at(&l->watches, at);
    return w->watcher && w->gen == (uint32_t)id ? w : NULL;
}

static void watch_forget(dn_loop *l, watch *w) {
    *w->link = w->next;
    if (w->next) w->next->link = w->link;
    if (w->cancel) msg_free(l, w->cancel);
    w->watcher = NULL;
    slab_give(&l->watches, w);
}

static void block_link(dn_self *target, dn_msg *block) {
    block->prev = NULL;
    block->next = target->watchers;
    if (target->watchers) target->watchers->prev = block;
    target->watchers = block;
}

static dn_msg *block_find(const dn_self *target, dn_ref watcher, uint64_t id) {
    dn_msg *block = target->watchers;

    while (block && (block->call != id || !dn_ref_equal(block->from, watcher))) block = block->next;
    return block;
}

static void block_unlink(dn_self *target, dn_msg *block) {
    if (block->prev) block->prev->next = block->next;
    else target->watchers = block->next;
    if (block->next) block->next->prev = block->prev;
}

static watch *record_new(dn_loop *l, dn_self *watcher, dn_ref target) {
    watch *w = slab_take(&l->watches);

    if (!w) return NULL;
    w->gen++;
    w->watcher = watcher;
    w->target = target;
    w->cancel = w->block = NULL;
    w->kills = false;
    w->next = watcher->watches;
    w->link = &watcher->watches;
    if (w->next) w->next->link = &w->next;
    watcher->watches = w;
    return w;
}

static uint64_t record_id(const dn_loop *l, const watch *w) {
    return ((uint64_t)slab_index(&l->watches, w) + 1) << 32 | w->gen;
}

static dn_msg *block_new(dn_loop *l, dn_ref watcher, uint64_t id, uint32_t kind) {
    dn_msg *block = msg_take(l);

    if (!block) return NULL;
    block->from = watcher;
    block->kind = kind;
    block->flags = MSG_SYSTEM | MSG_EXEMPT;
    block->call = id;
    return block;
}

int watch_new(dn_loop *l, dn_self *watcher, dn_self *local_target, dn_ref target, uint64_t tag,
              bool link, uint64_t *out_id) {
    const bool     far = ref_loop(target) != l->index;
    watch         *w = record_new(l, watcher, target);
    const uint64_t id = w ? record_id(l, w) : 0;
    dn_msg        *block = w ? block_new(l, watcher->ref, id, link ? SYS_LINK : SYS_WATCH) : NULL;

    if (block && far) w->cancel = block_new(l, watcher->ref, id, SYS_UNWATCH);
    if (!block || (far && !w->cancel)) {
        if (block) msg_free(l, block);
        if (w) watch_forget(l, w);
        return DN_ENOMEM;
    }
    block->words[TAG_WORD] = tag;
    *out_id = id;
    if (!far) w->block = block;
    if (local_target) {
        block_link(local_target, block);
        return DN_OK;
    }
    block->to = target;
    msg_route(l, block);
    return DN_OK;
}

void watch_child(dn_loop *l, uint64_t id, bool links, bool quiet) {
    watch *w = watch_find(l, id);

    w->kills = links;
    if (quiet) w->block->kind = SYS_WATCH_QUIET;
}

/* Of an actor that another loop is about to start: its address is not known here, so the watcher's end
 * withdraws nothing, and what the block becomes then finds nobody. */
uint64_t watch_promise(dn_loop *l, dn_self *watcher) {
    const watch *w = record_new(l, watcher, DN_NOBODY);

    return w ? record_id(l, w) : 0;
}

int watch_fulfil(dn_loop *l, dn_self *target, dn_ref watcher, uint64_t id, uint64_t tag) {
    dn_msg *block = block_new(l, watcher, id, SYS_WATCH);

    if (!block) return DN_ENOMEM;
    block->words[TAG_WORD] = tag;
    block_link(target, block);
    return DN_OK;
}

/* It did not start: its starter's watch ends without a word of its own. */
void watch_unsay(dn_loop *l, dn_self *target, dn_ref watcher, uint64_t id) {
    dn_msg *block = block_find(target, watcher, id);
    watch  *w = ref_loop(watcher) == l->index ? watch_find(l, id) : NULL;

    if (w) w->block = NULL;
    if (!block) return;
    block_unlink(target, block);
    msg_free(l, block);
}

/* From another loop (or, to an actor that has just ended, from this one). */
void watch_arrived(dn_loop *l, dn_self *target, dn_msg *block) {
    (void)l;
    block_link(target, block);
}

void watch_withdrawn(dn_loop *l, dn_self *target, dn_msg *m) {
    dn_msg *block = block_find(target, m->from, m->call);

    if (block) {
        block_unlink(target, block);
        msg_free(l, block);
    }
    msg_free(l, m);
}

/* The block becomes what it stood for. who is in block->to, or was until the block was linked. */
static void block_tell(dn_loop *l, dn_msg *block, dn_ref who, int reason, const char *why) {
    const dn_ref watcher = block->from;

    block->to = watcher;
    block->from = who;
    if (block->kind == SYS_LINK) {
        block->kind = SYS_KILL;
        block->flags = MSG_SYSTEM | MSG_EXEMPT;
    } else {
        dn_down *down = (dn_down *)(void *)block->inline_body; /* its tag is there */
        down->who = who;
        down->reason = reason;
        memset(down->why, 0, sizeof down->why);
        if (*why) text_copy(down->why, sizeof down->why, why);
        block->kind = DN_MSG_DOWN;
        block->flags = MSG_WATCH | MSG_EXEMPT;
        block->inline_size = sizeof *down;
    }
    if (ref_loop(watcher) == l->index) {
        watch *w = watch_find(l, block->call);
        if (w) w->block = NULL;
    }
    msg_route(l, block);
}

void watch_bounce(dn_loop *l, dn_msg *block, int reason, const char *why) {
    block_tell(l, block, block->to, reason, why);
}

/* Both halves of a watch go, and nobody is told. */
static void block_lapse(dn_loop *l, dn_msg *block) {
    (void)watch_close(l, block->call);
    msg_free(l, block);
}

void watchers_tell(dn_loop *l, dn_self *a, dn_ref was, int reason, const char *why) {
    dn_msg *block = a->watchers, *next;

    /* The list has the newest first; who watched first is told first. */
    for (next = NULL; block && block->next; block = block->next) continue;
    for (; block; block = next) {
        next = block->prev;
        if (block->kind == SYS_WATCH_MUTE || (block->kind == SYS_WATCH_QUIET && reason == DN_OK))
            block_lapse(l, block);
        else block_tell(l, block, was, reason, why);
    }
    a->watchers = NULL;
}

/* DN_MSG_DOWN, or word of a start that failed, has come to its turn: does the watch still stand? It is
 * over now. */
bool watch_close(dn_loop *l, uint64_t id) {
    watch *w = watch_find(l, id);

    if (w) watch_forget(l, w);
    return w != NULL;
}

static void watch_withdraw(dn_loop *l, watch *w) {
    if (w->block) {
        /* The address, or rather the slot: who watches itself, and ends, has no address by now. */
        dn_self *target = slab_at(&l->actors, ref_slot(w->target));
        assert(dn_ref_equal(target->ref, w->target) ||
               (target == w->watcher && !actor_lives(target)));
        block_unlink(target, w->block);
        msg_free(l, w->block);
    } else if (w->cancel) {
        w->cancel->to = w->target;
        msg_route(l, DN_TAKE(w->cancel));
    }
    watch_forget(l, w);
}

/* The block of a watch that links becomes the end of whom it watched, instead of word of it. */
static void watch_kills(dn_loop *l, watch *w) {
    dn_msg *block = DN_TAKE(w->block);

    block_unlink(slab_at(&l->actors, ref_slot(w->target)), block);
    actor_ask_to_end(l, block, w->target, SYS_KILL);
    watch_forget(l, w);
}

void watches_drop_all(dn_loop *l, dn_self *a) {
    while (a->watches) {
        if (a->watches->kills && a->watches->block) watch_kills(l, a->watches);
        else watch_withdraw(l, a->watches);
    }
}

dn_watch_id dn_monitor(dn_self *self, dn_ref who, uint64_t tag) {
    dn_loop *l = self->loop;
    dn_ref   target = rt_resolve(l->runtime, who);
    uint64_t id;

    /* A name nobody holds, or no address at all, is told like one who is gone: by nobody being there. */
    if (dn_ref_is_nobody(target)) target = who;
    dn_self *local = ref_loop(target) == l->index ? actor_find(l, target) : NULL;
    if (watch_new(l, self, local, target, tag, /* link= */ false, &id) < 0) fail_nomem();
    return id;
}

bool dn_watch_stands(dn_self *self, dn_watch_id id) {
    const watch *w = watch_find(self->loop, id);

    return w && w->watcher == self && !(w->block && w->block->kind == SYS_WATCH_MUTE);
}

void dn_demonitor(dn_self *self, dn_watch_id id) {
    watch *w = watch_find(self->loop, id);

    if (!w || w->watcher != self) return;
    if (w->kills && w->block) w->block->kind = SYS_WATCH_MUTE;
    else watch_withdraw(self->loop, w);
}
