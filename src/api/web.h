/* web.h - HTTP of a running daemon.
 * One actor on the main loop accepts connections, reads requests, asks the other actors, and writes their answers. It may
 * restart without a job noticing. routes.c lists the paths. */
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
    const dn_about          *about;     /* the daemon itself */
    const char              *settings;  /* as JSON */
    bool                     on_loopback; /* of dn_web_on_loopback */
    dn_web_tls              *tls;         /* NULL: nothing is encrypted */
    void (*renewed)(void *context); /* another certificate is in use; called on the actor's loop */
    void *context;
} dn_web_config;

/* Each takes a descriptor that jobs cannot have. */
enum { DN_WEB_CONNS_LEAST = 16, DN_WEB_CONNS_MOST = 1024 };

/* A child for the edge supervisor. */
dn_child_spec dn_web_child(const dn_web_config *config);

enum { DN_WEB_WHY = 512, DN_WEB_ADDRESS = 128, DN_WEB_BACKLOG = 1024, DN_WEB_PIN = 64 };

/* Listens at HOST:PORT or [V6]:PORT. On DN_OK the caller closes *out_fd, and `bound` is the address: with port 0 the system
 * chooses a port. DN_EINVAL: the address is malformed, or not of a loopback interface without `elsewhere`. DN_EIO: it
 * cannot be opened. why says what is wrong and what would be right. Before any loop runs: resolving a name may block. */
DN_MUST_USE int dn_web_listen(const char *address, bool elsewhere, int *out_fd,
                              char bound[DN_WEB_ADDRESS], char why[DN_WEB_WHY]);

/* For HTTPS, from files (PEM). DN_EINVAL: they are unusable, and why says what would be right. Any thread. */
DN_MUST_USE int dn_web_tls_new(const char *certificate, const char *key, dn_web_tls **out_tls,
                               char why[DN_WEB_WHY]);
/* The pin of the certificate's key, in the form of libcurl: "sha256//…". DN_ENOMEM. */
DN_MUST_USE int dn_web_tls_pin(const dn_web_tls *tls, char pin[DN_WEB_PIN]);
void            dn_web_tls_free(dn_web_tls *tls); /* accepts NULL */

/* Can only this machine connect there? */
bool dn_web_on_loopback(int fd);

/* Checks a setting before it is used: refuses what dn_web_listen would refuse, as far as that is known without resolving a
 * name or opening a socket. DN_EINVAL, DN_EIO; why as above. At any time. */
DN_MUST_USE int dn_web_check(const char *address, bool elsewhere, char why[DN_WEB_WHY]);

/* Could the address be opened once `present`, of dn_web_listen, is closed? As far as that is known without resolving a
 * name and while `present` is open. DN_EINVAL, DN_EIO; why as above. At any time. */
DN_MUST_USE int dn_web_probe(const char *address, int present, char why[DN_WEB_WHY]);

#endif
