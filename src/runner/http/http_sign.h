/* http_sign.h - Standard Webhooks 1.0.0: the symmetric signature of a request.
 * A signer belongs to one loop. Its keys are wiped when it goes. */
#ifndef DIURNAL_RUNNER_HTTP_SIGN_H
#define DIURNAL_RUNNER_HTTP_SIGN_H

#include "diurnal/base.h"

typedef struct signer signer;

enum {
    SIGN_SECRETS_MAX = 4, /* the old and the new while a secret is exchanged, and some to spare */
    SIGN_KEY_MIN = 24,    /* bytes, as the specification has it */
    SIGN_KEY_MAX = 64,
    SIGN_TEXT_MAX = SIGN_SECRETS_MAX * 48, /* "v1," and 44 characters for each, spaces, an end */
};

/* secrets: "whsec_" and base64, several with a space between. DN_EINVAL: *out_fault is what is wrong
 * with them, the end of a sentence, with nothing of the secret in it. DN_ENOMEM. */
DN_MUST_USE int signer_new(const char *secrets, signer **out_signer, const char **out_fault);
void            signer_free(signer *s); /* accepts NULL */

/* "v1,{base64}", one for each secret in their order, over id.unix_s.body. On DN_ENOMEM
 * text is untouched. */
DN_MUST_USE int signer_sign(signer *s, const char *id, int64_t unix_s, const char *body,
                            size_t body_len, char text[SIGN_TEXT_MAX]);

#endif
