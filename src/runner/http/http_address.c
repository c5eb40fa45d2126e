/* http_address.c - see http_address.h. */
#include "http_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool v4_is_forbidden(uint32_t ip) {
    return ip >> 16 == 0xa9fe   /* 169.254.0.0/16: link-local; .169.254 and others are metadata */
           || ip == 0x646464c8  /* 100.100.100.200: Alibaba's metadata */
           || ip == 0xc00000c0  /* 192.0.0.192: Oracle's */
           || ip == 0xa83f8110; /* 168.63.129.16: Azure's host */
}

static uint32_t v4_at(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool v6_is_forbidden(const unsigned char ip[16]) {
    static const unsigned char zeros[12] = {0};
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const unsigned char nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    static const unsigned char amazon[16] = {0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54};
    static const unsigned char google[16] = {0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54};

    if (ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80) return true; /* fe80::/10: link-local */
    if (memcmp(ip, amazon, 16) == 0 || memcmp(ip, google, 16) == 0) return true;
    if (memcmp(ip, mapped, 12) == 0 || memcmp(ip, zeros, 12) == 0 || memcmp(ip, nat64, 12) == 0)
        return v4_is_forbidden(v4_at(ip + 12));
    return ip[0] == 0x20 && ip[1] == 0x02 && v4_is_forbidden(v4_at(ip + 2)); /* 6to4 */
}

bool address_is_forbidden(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return v4_is_forbidden(ntohl(v4.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        return v6_is_forbidden(v6.sin6_addr.s6_addr);
    }
    return true; /* neither is anything we asked for */
}

bool address_of_host(const char *host, struct sockaddr_storage *out_address) {
    struct sockaddr_in  v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    char                bare[INET6_ADDRSTRLEN];
    const size_t        len = strlen(host);

    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(out_address, &v4, sizeof v4);
        return true;
    }
    if (len >= 2 && host[0] == '[' && host[len - 1] == ']')
        (void)snprintf(bare, sizeof bare, "%.*s", (int)len - 2, host + 1);
    else (void)snprintf(bare, sizeof bare, "%s", host);
    bare[strcspn(bare, "%")] = '\0'; /* a zone */
    if (inet_pton(AF_INET6, bare, &v6.sin6_addr) != 1) return false;
    memcpy(out_address, &v6, sizeof v6);
    return true;
}

void address_write(const struct sockaddr *address, char text[ADDRESS_TEXT]) {
    struct sockaddr_in  v4;
    struct sockaddr_in6 v6;

    text[0] = '\0';
    if (address->sa_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        (void)inet_ntop(AF_INET, &v4.sin_addr, text, ADDRESS_TEXT);
    } else if (address->sa_family == AF_INET6) {
        memcpy(&v6, address, sizeof v6);
        (void)inet_ntop(AF_INET6, &v6.sin6_addr, text, ADDRESS_TEXT);
    }
}
