/* crowd.c - see crowd.h. */
#include "crowd.h"

void crowd_settle(crowd *c) {
    if (c->len > 0) c->count(c->context, &c->first, c->len);
    c->len = 0;
}

void crowd_alone(crowd *c, const event *e) {
    crowd_settle(c);
    c->count(c->context, e, 1);
}

void crowd_begin(crowd *c, const event *e) {
    crowd_settle(c);
    c->first = *e;
    c->h = *e->h;
    c->h.id = "";
    c->h.id_len = 0;
    c->h.registration = 0;
    c->first.h = &c->h;
    c->len = 1;
}
