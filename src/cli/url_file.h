/* url_file.h - DATA/url: where the daemon of a data directory is to be found, written by itself.
 * The first line is the URL, the second by which the lock of the directory is signed (dn_store_held). A third one, for HTTPS,
 * is by which key it is known there ("sha256//…"), since its certificate is for a name that is hardly that of this address.
 * It is believed only as long as the lock is held by whoever signed so: what a killed daemon left may be somebody else's
 * address by now, also while somebody looks at its store. */
#ifndef DIURNAL_CLI_URL_FILE_H
#define DIURNAL_CLI_URL_FILE_H

#include "diurnal/base.h"

enum { URL_FILE_WHY = 512, URL_FILE_LINE = 512 };

/* Of the daemon that holds the directory. listens: HOST:PORT, as it has come to be; one for all addresses becomes a loopback
 * one. sign: its lock's. pin: NULL: it is not HTTPS. */
DN_MUST_USE int url_file_put(const char *data, const char *listens, const char *sign,
                             const char *pin, char *why);
void            url_file_remove(const char *data);

typedef struct url_file {
    char     url[URL_FILE_LINE], sign[URL_FILE_LINE], pin[URL_FILE_LINE]; /* "": none */
    uint32_t owner;                                                       /* a user's number */
} url_file;

/* DN_EDEAD: there is none. DN_EIO: it cannot be read; why says so. */
DN_MUST_USE int url_file_get(const char *data, url_file *out, char *why);

#endif
