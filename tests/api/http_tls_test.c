/* http_tls_test.c - files of certificates: which are taken, and when they are looked at again. */
#include "certificate.h"
#include "http/http_tls.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], paths[4][96];
static char why[HTTP_TLS_WHY];

/* A directory of the test's own, with "a.pem" and "b.pem" and their keys. */
static void begins(void) {
    (void)snprintf(dir, sizeof dir, "/tmp/diurnal-tls-XXXXXX");
    CHECK(mkdtemp(dir));
    for (int i = 0; i < 4; i++)
        (void)snprintf(paths[i], sizeof paths[i], "%s/%c%s.pem", dir, i < 2 ? 'a' : 'b',
                       i % 2 ? "-key" : "");
    certificate_write("IP:127.0.0.1", paths[0], paths[1]);
    certificate_write("IP:127.0.0.1", paths[2], paths[3]);
}

static void ends(void) {
    for (int i = 0; i < 4; i++) (void)unlink(paths[i]);
    CHECK_INT(rmdir(dir), 0);
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Takes the key. With a cipher: behind a passphrase. */
static void key_write(EVP_PKEY *key, const EVP_CIPHER *cipher, const char *path) {
    FILE *file = fopen(path, "w");

    CHECK(file && key);
    CHECK(PEM_write_PrivateKey(file, key, cipher, (const unsigned char *)"secret", 6, NULL, NULL));
    CHECK_INT(fclose(file), 0);
    EVP_PKEY_free(key);
}

#define CHECK_REFUSED(certificate, key, words)                                                     \
    do {                                                                                           \
        http_tls *refused_ = NULL;                                                                 \
        CHECK_INT(http_tls_new((certificate), (key), &refused_, why), DN_EINVAL);                  \
        CHECK_MSG(strstr(why, (words)), "it says: %s", why);                                       \
        CHECK(!strchr(why, '\n'));                                                                 \
    } while (0)

TEST(what_is_no_certificate_and_its_key_is_refused_in_a_sentence) {
    http_tls *t = NULL;

    begins();
    CHECK_INT(http_tls_new(paths[0], paths[1], &t, why), DN_OK);
    http_tls_free(t);
    CHECK_REFUSED("/nowhere", paths[1],
                  "tls_certificate: /nowhere cannot be read: No such file or directory");
    CHECK_REFUSED(paths[1], paths[1],
                  "a-key.pem has no certificate in PEM; use a PEM file with the certificate");
    CHECK_REFUSED(paths[0], "/nowhere",
                  "tls_key: /nowhere cannot be read: No such file or directory; use a PEM file");
    CHECK_REFUSED(paths[0], paths[0],
                  "/a.pem has no key in PEM; use a PEM file with the certificate's key");
    CHECK_REFUSED(paths[0], paths[3], "/b-key.pem is the key of another certificate; ");
    ends();
}

/* To OpenSSL they are all files with nothing in them, or one to wait at. */
TEST(what_is_no_file_with_something_in_it_is_said_to_be_none) {
    begins();
    CHECK_REFUSED(dir, paths[1],
                  " is a directory; use a PEM file with the certificate and its chain");
    CHECK_REFUSED(paths[0], dir, " is a directory; use a PEM file with the certificate's key");
    CHECK_REFUSED("/dev/null", paths[1], "tls_certificate: /dev/null is not a regular file; ");
    CHECK_REFUSED(paths[0], "/dev/null", "tls_key: /dev/null is not a regular file; ");
    put(paths[2], "");
    CHECK_REFUSED(paths[2], paths[1],
                  "/b.pem is empty; use a PEM file with the certificate and its chain");
    CHECK_REFUSED(paths[0], paths[2], "/b.pem is empty; use a PEM file with the certificate's key");
    ends();
}

TEST(what_is_in_a_file_and_of_no_use_is_said) {
    begins();
    put(paths[2], "hello\n");
    CHECK_REFUSED(paths[2], paths[1], "/b.pem has no certificate in PEM; ");
    CHECK_REFUSED(paths[0], paths[2], "/b.pem has no key in PEM; ");
    put(paths[2], "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
    CHECK_REFUSED(paths[2], paths[1], "/b.pem has no usable certificate: bad base64 decode; ");
    put(paths[2], "-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\n"
                  "DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n"
                  "-----END CERTIFICATE-----\n");
    CHECK_REFUSED(paths[2], paths[1], "/b.pem has a passphrase; ");
    key_write(EVP_EC_gen("P-256"), EVP_aes_128_cbc(), paths[3]);
    CHECK_REFUSED(paths[0], paths[3],
                  "/b-key.pem has a passphrase; use a PEM file with the certificate's key");
    key_write(EVP_RSA_gen(2048), NULL, paths[3]); /* beside the certificate's own kind */
    CHECK_REFUSED(paths[0], paths[3], "/b-key.pem is the key of another certificate; ");
    ends();
}

TEST(a_renewed_certificate_is_taken_and_one_that_is_no_good_leaves_the_old_one) {
    http_tls *t = NULL;
    bool      renewed = true;

    begins();
    CHECK_INT(http_tls_new(paths[0], paths[1], &t, why), DN_OK);
    CHECK_INT(http_tls_renew(t, &renewed, why), DN_OK);
    CHECK(!renewed);
    CHECK_INT(rename(paths[2], paths[0]), 0); /* the key is still the old one's */
    CHECK_INT(http_tls_renew(t, &renewed, why), DN_EINVAL);
    CHECK(strstr(why, "tls_key"));
    CHECK_INT(http_tls_renew(t, &renewed, why), DN_OK); /* said once */
    CHECK(!renewed);
    tls_conn *c = tls_conn_new(t, 0); /* it still serves */
    CHECK(c);
    tls_conn_free(c);
    CHECK_INT(rename(paths[3], paths[1]), 0);
    CHECK_INT(http_tls_renew(t, &renewed, why), DN_OK);
    CHECK(renewed);
    CHECK_INT(http_tls_renew(t, &renewed, why), DN_OK);
    CHECK(!renewed);
    http_tls_free(t);
    ends();
}

/* By which the commands of its machine know it, whatever name is in it. */
TEST(a_certificate_is_known_by_its_key_and_another_one_by_another) {
    char      pin[HTTP_TLS_PIN], later[HTTP_TLS_PIN];
    http_tls *t = NULL;
    bool      renewed = false;

    begins();
    CHECK_INT(http_tls_new(paths[0], paths[1], &t, why), DN_OK);
    CHECK_INT(http_tls_pin(t, pin), DN_OK);
    CHECK(strncmp(pin, "sha256//", 8) == 0);
    CHECK_UINT(strlen(pin), HTTP_TLS_PIN - 1);
    CHECK_INT(rename(paths[2], paths[0]), 0);
    CHECK_INT(rename(paths[3], paths[1]), 0);
    CHECK_INT(http_tls_renew(t, &renewed, why), DN_OK);
    CHECK_INT(http_tls_pin(t, later), DN_OK);
    CHECK(renewed && strcmp(pin, later) != 0);
    http_tls_free(t);
    ends();
}
