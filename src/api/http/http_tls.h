/* http_tls.h - TLS 1.2 and 1.3 for HTTP, by files of a certificate and its key.
 * A certificate is renewed every few months by a program that does not tell us, so the files are checked again while the
 * daemon runs, and new ones are used as soon as they are whole. */
#ifndef DIURNAL_API_HTTP_TLS_H
#define DIURNAL_API_HTTP_TLS_H

#include "diurnal/base.h"

#include <sys/types.h>

typedef struct http_tls http_tls;
typedef struct tls_conn tls_conn;

enum { HTTP_TLS_WHY = 512 };

/* PEM: the certificate followed by its chain, and the key. DN_EINVAL: they cannot be read, are malformed, or do not belong
 * together; why says which, and what would be right. */
DN_MUST_USE int http_tls_new(const char *certificate, const char *key, http_tls **out, char *why);
void            http_tls_free(http_tls *t); /* accepts NULL */

/* Uses changed files for new connections; open ones keep theirs. DN_OK: *out_renewed says whether they changed.
 * DN_EINVAL, once for each change: the new ones are unusable, and the old ones stay in use. */
DN_MUST_USE int http_tls_renew(http_tls *t, bool *out_renewed, char *why);

/* The pin of the certificate's key: "sha256//" and base64. DN_ENOMEM. */
enum { HTTP_TLS_PIN = 8 + 44 + 1 };
DN_MUST_USE int http_tls_pin(const http_tls *t, char pin[HTTP_TLS_PIN]);

/* For an accepted connection; NULL: out of memory. The descriptor stays the caller's. */
tls_conn *tls_conn_new(const http_tls *t, int fd);
void      tls_conn_free(tls_conn *c); /* sends close_notify if it need not wait; accepts NULL */

/* Like recv and send on a non-blocking descriptor: -1 and EAGAIN if they would wait. */
ssize_t tls_conn_recv(tls_conn *c, void *bytes, size_t len);
ssize_t tls_conn_send(tls_conn *c, const void *bytes, size_t len);
/* Tells the other side that nothing more is sent. */
void tls_conn_shut(tls_conn *c);

/* Does reading wait until it can write, or writing until it can read? */
bool tls_conn_wants_write(const tls_conn *c);
bool tls_conn_wants_read(const tls_conn *c);
/* Are there decrypted bytes to read, of which the descriptor gives no sign? */
bool tls_conn_has_more(const tls_conn *c);

#endif
