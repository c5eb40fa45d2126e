/* url_file.h - DATA/url: the address of the daemon of a data directory, written by that daemon.
 * The first line is the URL, the second the signature in the directory's lock (dn_store_held). With HTTPS a third line is
 * the pinned key ("sha256//…"), because the certificate is hardly for this address. The file is valid only while the lock
 * has the same signature: the address in a killed daemon's file may belong to another process by now. */
#ifndef DIURNAL_CLI_URL_FILE_H
#define DIURNAL_CLI_URL_FILE_H

#include "diurnal/base.h"

enum { URL_FILE_WHY = 512, URL_FILE_LINE = 512 };

/* Writes the file of the daemon that holds the directory. listens: HOST:PORT, with the final port; an address for all
 * interfaces becomes a loopback address. sign: the signature in its lock. pin: NULL without HTTPS. */
DN_MUST_USE int url_file_put(const char *data, const char *listens, const char *sign,
                             const char *pin, char *why);
void            url_file_remove(const char *data);

typedef struct url_file {
    char     url[URL_FILE_LINE], sign[URL_FILE_LINE], pin[URL_FILE_LINE]; /* "": none */
    uint32_t owner;                                                       /* user id of the owner */
} url_file;

/* DN_EDEAD: there is no such file. DN_EIO: it cannot be read; why has the error. */
DN_MUST_USE int url_file_get(const char *data, url_file *out, char *why);

#endif
