/* token.h - the text of a token, and what is kept of it.
 * 256 bits of the system's randomness, shown once; at rest there is only their SHA-256. No salt and no slow hash: nobody
 * guesses 256 bits. Any thread. */
#ifndef DIURNAL_API_TOKEN_H
#define DIURNAL_API_TOKEN_H

#include "store/tokens.h"

/* The beginning is for who finds one lying about, programs that look for secrets included. */
#define DN_TOKEN_BEGIN "diurnal_"
enum { DN_TOKEN_TEXT = sizeof DN_TOKEN_BEGIN + 43 };

/* DN_EIO: the system has no randomness. */
DN_MUST_USE int dn_token_make(char text[DN_TOKEN_TEXT], uint8_t hash[DN_TOKEN_HASH]);

/* False: no token looks like that. */
bool dn_token_hash(const char *text, size_t len, uint8_t hash[DN_TOKEN_HASH]);

/* "read", "operate", "admin"; NULL of none. And back: DN_SCOPE_NONE if it is no word for one. */
const char *dn_scope_text(dn_scope scope);
dn_scope    dn_scope_read(const char *text, size_t len);

#endif
