/* hello.c - the smallest program: one actor, which sends itself a message, says it and ends. */
#include "diurnal/runtime.h"

#include <stdio.h>
#include <string.h>

enum { HELLO_SAY = 1 };

static int hello_init(dn_self *self, void *state, const void *config) {
    const char *whom = config;

    (void)state;
    return dn_send(self, dn_self_ref(self), HELLO_SAY, whom, strlen(whom) + 1);
}

static int hello_on_say(dn_self *self, void *state, const dn_msg *msg) {
    const char *whom = dn_msg_body_borrow(msg);

    (void)self, (void)state;
    printf("hello, %s\n", whom);
    return DN_STOP;
}

static const dn_handler hello_handlers[] = {
    {HELLO_SAY, hello_on_say},
};

static const dn_class hello_class = {
    .name = "hello",
    .init = hello_init,
    .handlers = DN_SLICE(hello_handlers),
};

int main(void) {
    const dn_spawn_spec root = {.actor_class = &hello_class, .config = "world"};
    dn_runtime         *runtime = NULL;
    int                 rc = dn_runtime_new(NULL, &runtime);

    if (rc == DN_OK) rc = dn_runtime_run(runtime, &root);
    dn_runtime_free(runtime);
    return rc == DN_OK ? 0 : 1;
}
