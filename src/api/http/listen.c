/* listen.c - the socket that is listened at, before anything else of the daemon runs. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "web.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOST_MAX = 256, PORT_MAX = 8 };

/* HOST:PORT into its two parts; brackets go. */
static bool split(const char *address, char host[HOST_MAX], char port[PORT_MAX]) {
    const char *colon = strrchr(address, ':');

    if (!colon || strlen(colon + 1) == 0 || strlen(colon + 1) >= PORT_MAX) return false;
    size_t len = (size_t)(colon - address);
    if (len >= 2 && address[0] == '[' && colon[-1] == ']') {
        address++;
        len -= 2;
    }
    if (len >= HOST_MAX) return false;
    memcpy(host, address, len);
    host[len] = '\0';
    memcpy(port, colon + 1, strlen(colon + 1) + 1);
    return true;
}

static bool is_loopback(const struct sockaddr *a) {
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)a;
        return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    if (a->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)a;
        return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    }
    return false;
}

bool dn_web_on_loopback(int fd) {
    struct sockaddr_storage address = {0};
    socklen_t               len = sizeof address;

    return getsockname(fd, (struct sockaddr *)(void *)&address, &len) == 0 &&
           is_loopback((const struct sockaddr *)(const void *)&address);
}

/* listens: else the address is only had, and nobody can come yet. */
static int open_at(const struct addrinfo *a, bool listens, int *out_fd) {
    const int on = 1, off = 0;
    const int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);

    if (fd < 0) return DN_EIO;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->ai_family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, a->ai_addr, a->ai_addrlen) < 0 || (listens && listen(fd, DN_WEB_BACKLOG) < 0)) {
        const int error = errno;
        (void)close(fd);
        errno = error;
        return DN_EIO;
    }
    *out_fd = fd;
    return DN_OK;
}

static void say_where(int fd, char bound[DN_WEB_ADDRESS]) {
    struct sockaddr_storage a;
    socklen_t               len = sizeof a;
    char                    host[INET6_ADDRSTRLEN + 20] = "?", port[PORT_MAX] = "?";

    if (getsockname(fd, (struct sockaddr *)&a, &len) == 0)
        (void)getnameinfo((const struct sockaddr *)&a, len, host, sizeof host, port, sizeof port,
                          NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(bound, DN_WEB_ADDRESS, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static void say_why(const char *address, char why[DN_WEB_WHY]) {
    if (errno == EADDRINUSE)
        snprintf(why, DN_WEB_WHY,
                 "listen: %s is in use by another program, perhaps another diurnal; choose another "
                 "with --listen",
                 address);
    else if (errno == EACCES)
        snprintf(why, DN_WEB_WHY,
                 "listen: no permission for %s; ports below 1024 need CAP_NET_BIND_SERVICE",
                 address);
    else snprintf(why, DN_WEB_WHY, "listen: cannot listen at %s: %s", address, strerror(errno));
}

/* ai_flags: AI_NUMERICHOST asks nobody for a name. On DN_OK *out_found is the caller's, or NULL: it is a name. */
static int look_up(const char *address, int ai_flags, struct addrinfo **out_found,
                   char why[DN_WEB_WHY]) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV | ai_flags};
    char                  host[HOST_MAX], port[PORT_MAX];

    *out_found = NULL;
    if (!split(address, host, port))
        return dn_refuse(DN_EINVAL, why, DN_WEB_WHY, "listen: \"%.200s\" is not ADDRESS:PORT",
                         address);
    const int code = getaddrinfo(host, port, &hints, out_found);
    if (code == 0 || (code == EAI_NONAME && ai_flags & AI_NUMERICHOST)) return DN_OK;
    return dn_refuse(DN_EIO, why, DN_WEB_WHY, "listen: unknown address %.200s: %s", host,
                     gai_strerror(code));
}

static int check_reach(const struct addrinfo *a, const char *address, bool elsewhere,
                       char why[DN_WEB_WHY]) {
    if (elsewhere || is_loopback(a->ai_addr)) return DN_OK;
    return dn_refuse(DN_EINVAL, why, DN_WEB_WHY,
                     "listen: %s can be reached from other machines without encryption; set "
                     "tls_certificate and tls_key, listen at 127.0.0.1, or use --insecure-listen "
                     "behind a proxy that encrypts",
                     address);
}

int dn_web_check(const char *address, bool elsewhere, char why[DN_WEB_WHY]) {
    struct addrinfo *found;
    int              rc = look_up(address, AI_NUMERICHOST, &found, why);

    if (!found) return rc;
    rc = check_reach(found, address, elsewhere, why);
    freeaddrinfo(found);
    return rc;
}

int dn_web_listen(const char *address, bool elsewhere, int *out_fd, char bound[DN_WEB_ADDRESS],
                  char why[DN_WEB_WHY]) {
    struct addrinfo *found;
    int              rc = look_up(address, /* ai_flags= */ 0, &found, why);

    if (rc < 0) return rc;
    rc = check_reach(found, address, elsewhere, why);
    if (rc == DN_OK) rc = open_at(found, /* listens= */ true, out_fd);
    if (rc == DN_OK) say_where(*out_fd, bound);
    else if (rc == DN_EIO) say_why(address, why);
    freeaddrinfo(found);
    return rc;
}

/* ---- Beside one that is open ---- */

static bool is_any(const struct sockaddr *a) {
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr == INADDR_ANY;
    return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static bool is_same_host(const struct sockaddr *a, const struct sockaddr *b) {
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
    return IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
                              &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr);
}

/* The port stands at the same place in both. */
static in_port_t port_of(const struct sockaddr *a) {
    return ((const struct sockaddr_in *)(const void *)a)->sin_port;
}

/* May it be that this one is in the way of that? An address of either family may be one of the other in disguise. */
static bool is_in_the_way(int present, const struct sockaddr *a) {
    struct sockaddr_storage own;
    socklen_t               len = sizeof own;
    const struct sockaddr  *b = (const struct sockaddr *)&own;

    memset(&own, 0, sizeof own);
    if (getsockname(present, (struct sockaddr *)&own, &len) < 0 || port_of(a) != port_of(b))
        return false;
    return a->sa_family != b->sa_family || is_any(a) || is_any(b) || is_same_host(a, b);
}

int dn_web_probe(const char *address, int present, char why[DN_WEB_WHY]) {
    struct addrinfo *found;
    int              fd, rc = look_up(address, AI_NUMERICHOST, &found, why);

    if (!found) return rc;
    if (!is_in_the_way(present, found->ai_addr)) {
        rc = open_at(found, /* listens= */ false, &fd);
        if (rc == DN_OK) (void)close(fd);
        else say_why(address, why);
    }
    freeaddrinfo(found);
    return rc;
}
