/* http_received.h - how much has come over a connection, whoever read it. Any thread. */
#ifndef DIURNAL_RUNNER_HTTP_RECEIVED_H
#define DIURNAL_RUNNER_HTTP_RECEIVED_H

#include <stdint.h>

/* Bytes since it was made; 0: this is no TCP connection, or the system does not say. */
uint64_t received_over(int fd);

#endif
