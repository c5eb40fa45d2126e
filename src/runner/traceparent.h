/* traceparent.h - the W3C Trace Context of a run: it begins a trace, sampled. Any thread. */
#ifndef DIURNAL_RUNNER_TRACEPARENT_H
#define DIURNAL_RUNNER_TRACEPARENT_H

#include <stdint.h>

enum { TRACEPARENT_TEXT = 56 };

/* 00-{32 hex}-{16 hex}-01. Neither id is all zeros, which would make it invalid. */
void traceparent_write(const uint64_t entropy[3], char text[TRACEPARENT_TEXT]);

#endif
