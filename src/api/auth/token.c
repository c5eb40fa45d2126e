/* token.c - see token.h. */
#include "token.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

enum { BEGIN_LEN = sizeof DN_TOKEN_BEGIN - 1, SECRET_BYTES = 32 };

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static bool digest(const void *bytes, size_t len, uint8_t hash[DN_TOKEN_HASH]) {
    unsigned int hash_len = 0;

    return EVP_Digest(bytes, len, hash, &hash_len, EVP_sha256(), NULL) == 1 &&
           hash_len == DN_TOKEN_HASH;
}

static void base64url_write(const unsigned char *bytes, size_t len, char *out) {
    uint32_t bits = 0;
    int      have = 0;

    for (size_t i = 0; i < len; i++) {
        bits = bits << 8 | bytes[i];
        for (have += 8; have >= 6; have -= 6) *out++ = digits[bits >> (have - 6) & 63];
    }
    if (have > 0) *out++ = digits[bits << (6 - have) & 63];
    *out = '\0';
}

int dn_token_make(char text[DN_TOKEN_TEXT], uint8_t hash[DN_TOKEN_HASH]) {
    unsigned char secret[SECRET_BYTES];

    if (RAND_bytes(secret, sizeof secret) != 1) return DN_EIO;
    memcpy(text, DN_TOKEN_BEGIN, BEGIN_LEN);
    base64url_write(secret, sizeof secret, text + BEGIN_LEN);
    return digest(text, DN_TOKEN_TEXT - 1, hash) ? DN_OK : DN_EIO;
}

bool dn_token_hash(const char *text, size_t len, uint8_t hash[DN_TOKEN_HASH]) {
    return len == DN_TOKEN_TEXT - 1 && memcmp(text, DN_TOKEN_BEGIN, BEGIN_LEN) == 0 &&
           digest(text, len, hash);
}

/* ---- Scopes ---- */

static const char *const scopes[] = {
    [DN_SCOPE_READ] = "read", [DN_SCOPE_OPERATE] = "operate", [DN_SCOPE_ADMIN] = "admin"};

const char *dn_scope_text(dn_scope scope) {
    return scope > DN_SCOPE_NONE && scope <= DN_SCOPE_ADMIN ? scopes[scope] : NULL;
}

dn_scope dn_scope_read(const char *text, size_t len) {
    for (dn_scope s = DN_SCOPE_READ; s <= DN_SCOPE_ADMIN; s++)
        if (strlen(scopes[s]) == len && memcmp(scopes[s], text, len) == 0) return s;
    return DN_SCOPE_NONE;
}
