/* rt.h - what a runtime's loops have in common. */
#ifndef DIURNAL_ACTOR_RT_H
#define DIURNAL_ACTOR_RT_H

#include "loop.h"
#include "names.h"

struct dn_runtime {
    /* Set before start. */
    dn_loop      *loops[DN_LOOPS_MAX];
    uint32_t      loops_len;
    dn_notice_fn *notice;
    void         *notice_context;
    void         *driver_data;
    int64_t       stall_ms;

    names names; /* Any thread. */

    /* First loop only. */
    dn_ref root;
    int    root_reason;
    bool   root_ended;
};

/* loops, names and notices; the driver starts from here. */
DN_MUST_USE int rt_init(dn_runtime *rt, const dn_runtime_config *config, const driver *d,
                        void *driver_data);
void            rt_done(dn_runtime *rt); /* no loop runs any more */

/* The loop of that name, the first one if none has it. Any thread. */
dn_loop *rt_loop(const dn_runtime *rt, const char *name);

/* The present holder behind a name, or ref itself. Any thread. */
static inline dn_ref rt_resolve(dn_runtime *rt, dn_ref ref) {
    if (!(ref.bits & REF_NAME_BIT)) return ref;
    const name_slot *n = names_at(&rt->names, (uint32_t)ref.bits);

    if (!n) return DN_NOBODY;
    /* Pairs with the release in name_claim: whoever finds the actor finds it whole. */
    return (dn_ref){atomic_load_explicit(&n->holder, memory_order_acquire)};
}

/* Any thread. Brings m to loop `l`, which is another thread's, and wakes it if it sleeps. */
static inline void rt_push(dn_loop *l, dn_msg *m) {
    if (inbox_push(&l->inbox, m)) l->driver->wake(l);
}

#endif
