/* http_sign.c - see http_sign.h. A context is keyed once for each secret: that is most of the cost of a small
 * HMAC. */
#include "http_sign.h"

#include <inttypes.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAC_LEN = 32 };

static const char prefix[] = "whsec_";

struct signer {
    size_t       macs_len;
    EVP_MAC_CTX *macs[SIGN_SECRETS_MAX];
};

static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

/* The length of the key, -1 if text is no base64, SIGN_KEY_MAX + 1 if it is longer than that.
 * Strict: what another reader may decode to another key is refused (stray bits, padding that does
 * not fit). */
static int key_read(const char *text, size_t len, unsigned char key[SIGN_KEY_MAX]) {
    uint32_t bits = 0;
    int      have = 0, out = 0;
    size_t   digits = len;

    while (digits > 0 && len - digits < 2 && text[digits - 1] == '=') digits--;
    if (len % 4 != 0 || digits % 4 == 1) return -1;
    for (size_t i = 0; i < digits; i++) {
        const int digit = base64_digit(text[i]);
        if (digit < 0) return -1;
        bits = bits << 6 | (uint32_t)digit;
        have += 6;
        if (have < 8) continue;
        have -= 8;
        if (out == SIGN_KEY_MAX) return SIGN_KEY_MAX + 1;
        key[out++] = (unsigned char)(bits >> have);
        bits &= (1U << have) - 1;
    }
    return bits == 0 ? out : -1;
}

static int mac_new(const unsigned char *key, size_t len, EVP_MAC_CTX **out_mac) {
    char         digest[] = "SHA256";
    OSSL_PARAM   params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                             OSSL_PARAM_construct_end()};
    EVP_MAC     *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *mac = EVP_MAC_CTX_new(hmac);

    EVP_MAC_free(hmac);
    if (!mac || !EVP_MAC_init(mac, key, len, params)) {
        EVP_MAC_CTX_free(mac);
        return DN_ENOMEM;
    }
    *out_mac = mac;
    return DN_OK;
}

static int secret_read(const char *text, size_t len, EVP_MAC_CTX **out_mac,
                       const char **out_fault) {
    const size_t  skip = sizeof prefix - 1;
    unsigned char key[SIGN_KEY_MAX];
    int           rc = DN_EINVAL;

    if (len < skip || memcmp(text, prefix, skip) != 0) {
        *out_fault = "does not begin with whsec_";
        return DN_EINVAL;
    }
    const int key_len = key_read(text + skip, len - skip, key);
    if (key_len < 0) *out_fault = "is not base64 after whsec_";
    else if (key_len < SIGN_KEY_MIN || key_len > SIGN_KEY_MAX)
        *out_fault = "has a key of the wrong length; want 24 to 64 bytes";
    else rc = mac_new(key, (size_t)key_len, out_mac);
    OPENSSL_cleanse(key, sizeof key);
    return rc;
}

int signer_new(const char *secrets, signer **out_signer, const char **out_fault) {
    signer *s = calloc(1, sizeof *s);
    int     rc = s ? DN_OK : DN_ENOMEM;

    while (rc == DN_OK && *(secrets += strspn(secrets, " "))) {
        const size_t len = strcspn(secrets, " ");
        if (s->macs_len == SIGN_SECRETS_MAX) {
            *out_fault = "is one of more than four; remove old ones";
            rc = DN_EINVAL;
            break;
        }
        rc = secret_read(secrets, len, &s->macs[s->macs_len], out_fault);
        if (rc == DN_OK) s->macs_len++;
        secrets += len;
    }
    if (rc == DN_OK && s->macs_len == 0) {
        *out_fault = "is empty";
        rc = DN_EINVAL;
    }
    if (rc == DN_OK) *out_signer = s;
    else signer_free(s);
    return rc;
}

void signer_free(signer *s) {
    if (!s) return;
    for (size_t i = 0; i < s->macs_len; i++) EVP_MAC_CTX_free(s->macs[i]);
    free(s);
}

static bool mac_of(EVP_MAC_CTX *mac, const char *id, const char *time, const char *body,
                   size_t body_len, unsigned char out[MAC_LEN]) {
    size_t len = 0;

    /* Without a key: the one it has. */
    return EVP_MAC_init(mac, NULL, 0, NULL) &&
           EVP_MAC_update(mac, (const unsigned char *)id, strlen(id)) &&
           EVP_MAC_update(mac, (const unsigned char *)time, strlen(time)) &&
           EVP_MAC_update(mac, (const unsigned char *)body, body_len) &&
           EVP_MAC_final(mac, out, &len, MAC_LEN) && len == MAC_LEN;
}

int signer_sign(signer *s, const char *id, int64_t unix_s, const char *body, size_t body_len,
                char text[SIGN_TEXT_MAX]) {
    char  time[32]; /* ".{unix_s}." */
    char  written[SIGN_TEXT_MAX];
    char *at = written;

    (void)snprintf(time, sizeof time, ".%" PRId64 ".", unix_s);
    for (size_t i = 0; i < s->macs_len; i++) {
        unsigned char mac[MAC_LEN];
        if (!mac_of(s->macs[i], id, time, body, body_len, mac)) return DN_ENOMEM;
        if (i > 0) *at++ = ' ';
        memcpy(at, "v1,", 3);
        at += 3 + EVP_EncodeBlock((unsigned char *)at + 3, mac, MAC_LEN);
    }
    *at = '\0';
    memcpy(text, written, (size_t)(at - written) + 1);
    return DN_OK;
}
