/* web.h - the HTTP door of a running daemon.
 * One actor on the main loop takes connections, reads requests, asks the other actors, and writes what they answer. It
 * comes and goes without a job noticing. Which paths there are stands in routes.c. */
#ifndef DIURNAL_API_WEB_H
#define DIURNAL_API_WEB_H

#include "about.h"
#include "diurnal/supervisor.h"
#include "service/service.h"

/* A certificate and its key. */
typedef struct http_tls dn_web_tls;

/* Borrowed for the life of the runtime. */
typedef struct dn_web_config {
    const dn_service_config *service;
    int                      listener;  /* of dn_web_listen; open for as long as the program runs */
    uint32_t                 conns_max; /* at once: DN_WEB_CONNS_LEAST to DN_WEB_CONNS_MOST */
    const dn_about          *about;     /* what is told of the daemon */
    const char              *settings;  /* as JSON */
    bool                     on_loopback; /* of dn_web_on_loopback */
    dn_web_tls              *tls;         /* NULL: nothing is encrypted */
    void (*renewed)(void *context); /* there is another certificate; on the loop of the door */
    void *context;
} dn_web_config;

/* A descriptor each, which the jobs then do not have. */
enum { DN_WEB_CONNS_LEAST = 16, DN_WEB_CONNS_MOST = 1024 };

/* A child for the edge supervisor. */
dn_child_spec dn_web_child(const dn_web_config *config);

enum { DN_WEB_WHY = 512, DN_WEB_ADDRESS = 128, DN_WEB_BACKLOG = 1024, DN_WEB_PIN = 64 };

/* Opens HOST:PORT or [V6]:PORT. On DN_OK *out_fd is the caller's to close and `bound` says
 * where it is: with port 0 the system chooses one. DN_EINVAL: it is no such address, or not one of a loopback
 * interface and elsewhere is not allowed. DN_EIO: it cannot be had. why says what and what would be right. Before any
 * loop runs: it may have to ask for the host's address. */
DN_MUST_USE int dn_web_listen(const char *address, bool elsewhere, int *out_fd,
                              char bound[DN_WEB_ADDRESS], char why[DN_WEB_WHY]);

/* For HTTPS, of files (PEM). DN_EINVAL: they are no good, and why says what would be right. Any thread. */
DN_MUST_USE int dn_web_tls_new(const char *certificate, const char *key, dn_web_tls **out_tls,
                               char why[DN_WEB_WHY]);
/* By what the key of its certificate is known, as libcurl wants it: "sha256//…". DN_ENOMEM. */
DN_MUST_USE int dn_web_tls_pin(const dn_web_tls *tls, char pin[DN_WEB_PIN]);
void            dn_web_tls_free(dn_web_tls *tls); /* accepts NULL */

/* Can only this machine knock there? */
bool dn_web_on_loopback(int fd);

/* What dn_web_listen would refuse, as far as that can be known without asking for a host's address or touching one: for
 * a setting that is to be good before it is needed. DN_EINVAL, DN_EIO; why as above. At any time. */
DN_MUST_USE int dn_web_check(const char *address, bool elsewhere, char why[DN_WEB_WHY]);

/* Can it be had, when `present`, of dn_web_listen, is closed? As far as that can be known without asking for a host's
 * address, and while that one is open. DN_EINVAL, DN_EIO; why as above. At any time. */
DN_MUST_USE int dn_web_probe(const char *address, int present, char why[DN_WEB_WHY]);

#endif
