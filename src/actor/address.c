/* address.c - who an actor is, and how others are found by name. */
#include "rt.h"

dn_ref dn_self_ref(const dn_self *self) { return self->ref; }

const char *dn_self_name(const dn_self *self) { return actor_shown(self); }

dn_runtime *dn_self_runtime(const dn_self *self) { return self->loop->runtime; }

dn_ref dn_runtime_name(dn_runtime *runtime, const char *name) {
    uint32_t number;

    if (names_intern(&runtime->names, name, &number) < 0) return DN_NOBODY;
    return (dn_ref){REF_NAME_BIT | number};
}

dn_ref dn_name(dn_self *self, const char *name) {
    uint32_t  number;
    const int rc = names_intern(&self->loop->runtime->names, name, &number);

    if (rc == DN_EINVAL) dn_fail_code(rc, "a name has 1 to 63 bytes");
    if (rc < 0) dn_fail_code(rc, "no memory for a name, or 65536 of them are in use");
    return (dn_ref){REF_NAME_BIT | number};
}

dn_ref dn_whereis(dn_self *self, dn_ref name) {
    const dn_loop *l = self->loop;
    const dn_ref   who = rt_resolve(l->runtime, name);
    const uint32_t index = ref_loop(who);

    if (index == l->index) return actor_find(l, who) ? who : DN_NOBODY;
    if (index >= l->runtime->loops_len) return DN_NOBODY;
    return admission_open(l->runtime->loops[index], who) ? who : DN_NOBODY;
}

uint64_t dn_random(dn_self *self) { return self->loop->driver->random(self->loop); }
