/* http_tls.h - HTTP with nobody listening in: TLS 1.2 and 1.3, by files of a certificate and its key.
 * A certificate is renewed every few months by a program that knows nothing of us: so the files are looked at again while
 * the daemon runs, and new ones are taken when they are whole. */
#ifndef DIURNAL_API_HTTP_TLS_H
#define DIURNAL_API_HTTP_TLS_H

#include "diurnal/base.h"

#include <sys/types.h>

typedef struct http_tls http_tls;
typedef struct tls_conn tls_conn;

enum { HTTP_TLS_WHY = 512 };

/* PEM: the certificate with those that lead to it behind it, and the key. DN_EINVAL: they cannot be read, or are none, or
 * do not belong together: why says which, and what would be right. */
DN_MUST_USE int http_tls_new(const char *certificate, const char *key, http_tls **out, char *why);
void            http_tls_free(http_tls *t); /* accepts NULL */

/* Have the files changed since? Then from now on who comes meets the new ones. DN_OK: *out_renewed says if. DN_EINVAL: the
 * new ones are no good, the old ones stay, and it is said once for each change. */
DN_MUST_USE int http_tls_renew(http_tls *t, bool *out_renewed, char *why);

/* By what the key of its certificate is known: "sha256//" and base64. DN_ENOMEM. */
enum { HTTP_TLS_PIN = 8 + 44 + 1 };
DN_MUST_USE int http_tls_pin(const http_tls *t, char pin[HTTP_TLS_PIN]);

/* On a connection that has been taken; NULL: out of memory. The descriptor stays the caller's. */
tls_conn *tls_conn_new(const http_tls *t, int fd);
void      tls_conn_free(tls_conn *c); /* says goodbye, if that is possible at once; accepts NULL */

/* As recv and send of a descriptor that does not block: -1 and EAGAIN if it has to wait. */
ssize_t tls_conn_recv(tls_conn *c, void *bytes, size_t len);
ssize_t tls_conn_send(tls_conn *c, const void *bytes, size_t len);
/* Says that nothing more is sent. */
void tls_conn_shut(tls_conn *c);

/* Has it to wait until it can write, though it is to read, or the other way round? */
bool tls_conn_wants_write(const tls_conn *c);
bool tls_conn_wants_read(const tls_conn *c);
/* Is there something to be read that the descriptor will say nothing of? */
bool tls_conn_has_more(const tls_conn *c);

#endif
