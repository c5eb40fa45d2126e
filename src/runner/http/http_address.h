/* http_address.h - addresses no job is meant to live at.
 * A URL is configuration, but its name is resolved by somebody's DNS: whoever answers there must not
 * be able to point us at the credentials that cloud machines keep on link-local and metadata
 * addresses. Loopback and private networks stay open, because that is where the endpoint of a job
 * normally is: next door. Any thread. */
#ifndef DIURNAL_RUNNER_HTTP_ADDRESS_H
#define DIURNAL_RUNNER_HTTP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Link-local or metadata, also where an IPv6 address carries such an IPv4 one. */
bool address_is_forbidden(const struct sockaddr *address);

/* The address a host is, if it is one and no name: with or without the brackets of a URL. */
bool address_of_host(const char *host, struct sockaddr_storage *out_address);

/* As text, IPv6 without brackets. */
enum { ADDRESS_TEXT = 48 };
void address_write(const struct sockaddr *address, char text[ADDRESS_TEXT]);

#endif
