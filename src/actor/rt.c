/* rt.c - putting a runtime together and taking it apart, whatever drives it. */
#include "rt.h"

#include "mem.h"

#include <string.h>

static size_t loop_bytes(void) { return (sizeof(dn_loop) + 4095) / 4096 * 4096; }

static int loop_add(dn_runtime *rt, const char *name, const driver *d, void *driver_data) {
    dn_loop *l = mem_reserve(loop_bytes()); /* its inbox wants a cache line of its own */

    if (!l) return DN_ENOMEM;
    int rc = mem_commit(l, loop_bytes()) ? DN_OK : DN_ENOMEM;
    if (rc == DN_OK) rc = loop_init(l, rt, (uint8_t)rt->loops_len, name, d, driver_data);
    if (rc < 0) {
        mem_unreserve(l, loop_bytes());
        return rc;
    }
    rt->loops[rt->loops_len++] = l;
    return DN_OK;
}

int rt_init(dn_runtime *rt, const dn_runtime_config *config, const driver *d, void *driver_data) {
    static const char *const only_main[] = {"main"};
    const char *const       *wanted = config->loops ? config->loops : only_main;
    const size_t             len = config->loops ? config->loops_len : 1;

    if (len < 1 || len > DN_LOOPS_MAX) return DN_EINVAL;
    memset(rt, 0, sizeof *rt);
    rt->notice = config->notice ? config->notice : dn_notice_print;
    rt->notice_context = config->notice_context;
    rt->stall_ms = config->stall_ms;
    rt->driver_data = driver_data;
    int rc = names_init(&rt->names);
    for (size_t i = 0; i < len && rc == DN_OK; i++) rc = loop_add(rt, wanted[i], d, driver_data);
    if (rc < 0) rt_done(rt);
    return rc;
}

void rt_done(dn_runtime *rt) {
    for (uint32_t i = 0; i < rt->loops_len; i++) loop_done(rt->loops[i]);
    /* Only now: what lay in one loop's inbox was made of another loop's blocks. */
    for (uint32_t i = 0; i < rt->loops_len; i++) {
        slab_done(&rt->loops[i]->messages);
        mem_unreserve(rt->loops[i], loop_bytes());
    }
    rt->loops_len = 0;
    names_done(&rt->names);
}

dn_loop *rt_loop(const dn_runtime *rt, const char *name) {
    for (uint32_t i = 0; i < rt->loops_len; i++) {
        if (strcmp(rt->loops[i]->name, name) == 0) return rt->loops[i];
    }
    return rt->loops[0];
}
