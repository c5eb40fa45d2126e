/* certificate.h - certificates of a test's own making. */
#ifndef DIURNAL_TESTS_CERTIFICATE_H
#define DIURNAL_TESTS_CERTIFICATE_H

#include "test.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

/* Signed by itself, good for an hour either way; names as "IP:127.0.0.1". */
static inline X509 *certificate(EVP_PKEY *key, const char *names) {
    X509      *x = X509_new();
    X509_NAME *name = X509_get_subject_name(x);

    CHECK(x && name);
    CHECK(X509_set_version(x, 2) && ASN1_INTEGER_set(X509_get_serialNumber(x), 1));
    CHECK(X509_gmtime_adj(X509_getm_notBefore(x), -3600));
    CHECK(X509_gmtime_adj(X509_getm_notAfter(x), 3600));
    CHECK(X509_set_pubkey(x, key));
    CHECK(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"peer", -1,
                                     -1, 0));
    CHECK(X509_set_issuer_name(x, name));
    X509_EXTENSION *alt = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);
    CHECK(alt && X509_add_ext(x, alt, -1));
    X509_EXTENSION_free(alt);
    CHECK(X509_sign(x, key, EVP_sha256()) > 0);
    return x;
}

/* A new key and its certificate, as two files. */
static inline void certificate_write(const char *names, const char *certificate_path,
                                     const char *key_path) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509     *x = certificate(key, names);
    FILE     *file = fopen(certificate_path, "w");

    CHECK(file && PEM_write_X509(file, x) == 1 && fclose(file) == 0);
    file = fopen(key_path, "w");
    CHECK(file && PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1 &&
          fclose(file) == 0);
    X509_free(x);
    EVP_PKEY_free(key);
}

#endif
