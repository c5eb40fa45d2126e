/* about.h - what GET /api/v1/status says about the daemon itself. */
#ifndef DIURNAL_API_ABOUT_H
#define DIURNAL_API_ABOUT_H

#include "service/service.h"

/* Borrowed for the life of the runtime. */
typedef struct dn_about {
    const dn_service_config *service;
    const char              *data; /* the directory */
    const char              *version;
    const char              *runner;  /* without secrets */
    const char              *listens; /* HOST:PORT of HTTP */
} dn_about;

#endif
