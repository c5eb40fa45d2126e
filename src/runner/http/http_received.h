/* http_received.h - counts the bytes that came over a connection, whatever read them. Any thread. */
#ifndef DIURNAL_RUNNER_HTTP_RECEIVED_H
#define DIURNAL_RUNNER_HTTP_RECEIVED_H

#include <stdint.h>

/* Bytes since it was made; 0: this is no TCP connection, or the system does not say. */
uint64_t received_over(int fd);

#endif
