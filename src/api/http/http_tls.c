/* http_tls.c - see http_tls.h. */
#include "http_tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct file_seen {
    struct timespec changed;
    ino_t           inode;
    off_t           size;
} file_seen;

struct http_tls {
    SSL_CTX  *ctx;
    char     *certificate, *key;
    file_seen seen[2];
};

struct tls_conn {
    SSL *ssl;
    int  last; /* result of SSL_get_error */
};

/* ---- The files ---- */

static file_seen look_at(const char *path) {
    struct stat about;

    if (stat(path, &about) < 0) return (file_seen){0};
    return (file_seen){about.st_mtim, about.st_ino, about.st_size};
}

static bool is_same(const file_seen *a, const file_seen *b) {
    return a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec &&
           a->inode == b->inode && a->size == b->size;
}

static const char not_its_key[] = "is the key of another certificate";

typedef struct pem_file {
    const char *setting, *path;
    const char *thing, *valid; /* what it must contain, and a description of a valid file */
} pem_file;

static int refuse(const pem_file *f, char *why, const char *fault, const char *reason) {
    snprintf(why, HTTP_TLS_WHY, "%s: %.300s %s%s%s; use %s", f->setting, f->path, fault,
             reason ? ": " : "", reason ? reason : "", f->valid);
    return DN_EINVAL;
}

/* OpenSSL would read a directory or a device as an empty file, or block on it. It reports a missing file well itself. */
static int look_into(const pem_file *f, char *why) {
    struct stat about;

    if (stat(f->path, &about) < 0) return DN_OK;
    if (S_ISDIR(about.st_mode)) return refuse(f, why, "is a directory", NULL);
    if (!S_ISREG(about.st_mode)) return refuse(f, why, "is not a regular file", NULL);
    return about.st_size > 0 ? DN_OK : refuse(f, why, "is empty", NULL);
}

/* The first of OpenSSL's errors is the cause; later ones only name the calls it passed through ("PEM lib"). */
static int refuse_unread(const pem_file *f, char *why) {
    const unsigned long first = ERR_peek_error();
    const int           lib = ERR_GET_LIB(first), reason = ERR_GET_REASON(first);
    char                fault[64];

    if (ERR_SYSTEM_ERROR(first)) return refuse(f, why, "cannot be read", strerror(reason));
    if (lib == ERR_LIB_X509 && reason == X509_R_KEY_VALUES_MISMATCH)
        return refuse(f, why, not_its_key, NULL);
    if (lib == ERR_LIB_OSSL_DECODER || (lib == ERR_LIB_PEM && reason == PEM_R_NO_START_LINE)) {
        snprintf(fault, sizeof fault, "has no %s in PEM", f->thing);
        return refuse(f, why, fault, NULL);
    }
    snprintf(fault, sizeof fault, "has no usable %s", f->thing);
    return refuse(f, why, fault, ERR_reason_error_string(first));
}

/* Without this callback OpenSSL would ask the terminal for a passphrase. */
/* NOLINTNEXTLINE(readability-non-const-parameter): OpenSSL gives the type */
static int no_passphrase(char *out, int size, int writing, void *asked) {
    (void)out, (void)size, (void)writing;
    *(bool *)asked = true;
    return -1;
}

static int take_certificate(SSL_CTX *ctx, const char *path, const bool *asked, char *why) {
    const pem_file f = {"tls_certificate", path, "certificate",
                        "a PEM file with the certificate and its chain"};
    const int      rc = look_into(&f, why);

    if (rc < 0 || SSL_CTX_use_certificate_chain_file(ctx, path) == 1) return rc;
    return *asked ? refuse(&f, why, "has a passphrase", NULL) : refuse_unread(&f, why);
}

static int take_key(SSL_CTX *ctx, const char *path, const bool *asked, char *why) {
    const pem_file f = {"tls_key", path, "key",
                        "a PEM file with the certificate's key, without a passphrase"};
    const int      rc = look_into(&f, why);

    if (rc < 0) return rc;
    if (SSL_CTX_use_PrivateKey_file(ctx, path, SSL_FILETYPE_PEM) != 1)
        return *asked ? refuse(&f, why, "has a passphrase", NULL) : refuse_unread(&f, why);
    /* OpenSSL accepts a key of another type than the certificate, but then every handshake fails. */
    if (SSL_CTX_check_private_key(ctx) == 1) return DN_OK;
    return refuse(&f, why, not_its_key, NULL);
}

static int load(const char *certificate, const char *key, SSL_CTX **out_ctx, char *why) {
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    bool     asked = false;
    int      rc;

    if (!ctx) return DN_ENOMEM;
    ERR_clear_error();
    (void)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    (void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                       SSL_OP_CIPHER_SERVER_PREFERENCE |
                                       SSL_OP_IGNORE_UNEXPECTED_EOF);
    (void)SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(ctx, &asked);
    rc = take_certificate(ctx, certificate, &asked, why);
    if (rc == DN_OK) rc = take_key(ctx, key, &asked, why);
    SSL_CTX_set_default_passwd_cb_userdata(ctx, NULL); /* asked goes out of scope */
    if (rc == DN_OK) *out_ctx = ctx;
    else SSL_CTX_free(ctx);
    ERR_clear_error();
    return rc;
}

int http_tls_new(const char *certificate, const char *key, http_tls **out, char *why) {
    http_tls *t = calloc(1, sizeof *t);
    int       rc = DN_ENOMEM;

    if (t) {
        t->certificate = strdup(certificate);
        t->key = strdup(key);
        t->seen[0] = look_at(certificate);
        t->seen[1] = look_at(key);
    }
    if (t && t->certificate && t->key) rc = load(certificate, key, &t->ctx, why);
    if (rc == DN_OK) *out = t;
    else http_tls_free(t);
    return rc;
}

void http_tls_free(http_tls *t) {
    if (!t) return;
    SSL_CTX_free(t->ctx);
    free(t->certificate);
    free(t->key);
    free(t);
}

int http_tls_pin(const http_tls *t, char pin[HTTP_TLS_PIN]) {
    static const char scheme[] = "sha256//";
    unsigned char     hash[EVP_MAX_MD_SIZE], *key = NULL;
    unsigned          hash_len = 0;
    X509             *certificate = SSL_CTX_get0_certificate(t->ctx);
    const int  len = certificate ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key) : -1;
    const bool hashed =
        len > 0 && EVP_Digest(key, (size_t)len, hash, &hash_len, EVP_sha256(), NULL) == 1;

    OPENSSL_free(key);
    if (!hashed) return DN_ENOMEM;
    memcpy(pin, scheme, sizeof scheme);
    (void)EVP_EncodeBlock((unsigned char *)pin + sizeof scheme - 1, hash, (int)hash_len);
    return DN_OK;
}

int http_tls_renew(http_tls *t, bool *out_renewed, char *why) {
    const file_seen now[2] = {look_at(t->certificate), look_at(t->key)};
    SSL_CTX        *fresh = NULL;

    *out_renewed = false;
    if (is_same(&now[0], &t->seen[0]) && is_same(&now[1], &t->seen[1])) return DN_OK;
    memcpy(t->seen, now, sizeof now);
    const int rc = load(t->certificate, t->key, &fresh, why);
    if (rc < 0) return rc;
    SSL_CTX_free(t->ctx); /* open connections keep their reference */
    t->ctx = fresh;
    *out_renewed = true;
    return DN_OK;
}

/* ---- A connection ---- */

tls_conn *tls_conn_new(const http_tls *t, int fd) {
    tls_conn *c = calloc(1, sizeof *c);

    if (c) c->ssl = SSL_new(t->ctx);
    if (!c || !c->ssl || SSL_set_fd(c->ssl, fd) != 1) {
        tls_conn_free(c);
        return NULL;
    }
    SSL_set_accept_state(c->ssl);
    return c;
}

void tls_conn_free(tls_conn *c) {
    if (!c) return;
    SSL_free(c->ssl);
    free(c);
    ERR_clear_error();
}

/* Translates a result of SSL_read or SSL_write to that of recv or send. */
static ssize_t socket_result(tls_conn *c, int rc) {
    const int code = errno;

    c->last = rc > 0 ? SSL_ERROR_NONE : SSL_get_error(c->ssl, rc);
    ERR_clear_error();
    switch (c->last) {
    case SSL_ERROR_NONE: return rc;
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: errno = EAGAIN; return -1;
    default: errno = code && code != EAGAIN ? code : EPROTO; return -1;
    }
}

static int at_once(size_t len) { return len < INT_MAX ? (int)len : INT_MAX; }

ssize_t tls_conn_recv(tls_conn *c, void *bytes, size_t len) {
    ERR_clear_error();
    errno = 0;
    return socket_result(c, SSL_read(c->ssl, bytes, at_once(len)));
}

ssize_t tls_conn_send(tls_conn *c, const void *bytes, size_t len) {
    ERR_clear_error();
    errno = 0;
    return socket_result(c, SSL_write(c->ssl, bytes, at_once(len)));
}

void tls_conn_shut(tls_conn *c) {
    ERR_clear_error();
    if (SSL_is_init_finished(c->ssl)) (void)SSL_shutdown(c->ssl);
    ERR_clear_error();
}

bool tls_conn_wants_write(const tls_conn *c) { return c->last == SSL_ERROR_WANT_WRITE; }
bool tls_conn_wants_read(const tls_conn *c) { return c->last == SSL_ERROR_WANT_READ; }
bool tls_conn_has_more(const tls_conn *c) { return SSL_pending(c->ssl) > 0; }
