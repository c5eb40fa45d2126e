/* token.h - the text of a token, and its hash.
 * A token is 256 bits of the system's randomness, shown once; only their SHA-256 is stored. It needs no salt and no slow
 * hash, because 256 random bits cannot be guessed. Any thread. */
#ifndef DIURNAL_API_TOKEN_H
#define DIURNAL_API_TOKEN_H

#include "store/tokens.h"

/* The prefix lets people and secret scanners recognize a leaked token. */
#define DN_TOKEN_BEGIN "diurnal_"
enum { DN_TOKEN_TEXT = sizeof DN_TOKEN_BEGIN + 43 };

/* DN_EIO: the system has no randomness. */
DN_MUST_USE int dn_token_make(char text[DN_TOKEN_TEXT], uint8_t hash[DN_TOKEN_HASH]);

/* False: the text has not the form of a token. */
bool dn_token_hash(const char *text, size_t len, uint8_t hash[DN_TOKEN_HASH]);

/* "read", "operate", "admin"; NULL for DN_SCOPE_NONE. And back: DN_SCOPE_NONE for any other text. */
const char *dn_scope_text(dn_scope scope);
dn_scope    dn_scope_read(const char *text, size_t len);

#endif
