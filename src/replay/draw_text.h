/* draw_text.h - a plan as lines for people to read, which are a trace if all that is in it is what a trace can say. */
#ifndef DIURNAL_REPLAY_DRAW_TEXT_H
#define DIURNAL_REPLAY_DRAW_TEXT_H

#include "draw.h"

#include <stdio.h>

/* `diurnal replay` can be given it, with the plan's seed if any_order; else it has what only a simulation can do. */
bool plan_is_trace(const plan *p);

void plan_write(const plan *p, FILE *file);

#endif
