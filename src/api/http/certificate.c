/* certificate.c - the TLS certificate, as web.h offers it. */
#include "http/http_tls.h"
#include "web.h"

#include <assert.h>

static_assert((int)HTTP_TLS_WHY <= (int)DN_WEB_WHY, "one sentence is as long as the other");

int dn_web_tls_new(const char *certificate, const char *key, dn_web_tls **out_tls,
                   char why[DN_WEB_WHY]) {
    return http_tls_new(certificate, key, out_tls, why);
}

static_assert((int)HTTP_TLS_PIN <= (int)DN_WEB_PIN, "and one pin");

int dn_web_tls_pin(const dn_web_tls *tls, char pin[DN_WEB_PIN]) { return http_tls_pin(tls, pin); }

void dn_web_tls_free(dn_web_tls *tls) { http_tls_free(tls); }
