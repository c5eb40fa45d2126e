/* about.h - what a daemon tells of itself to those who ask. */
#ifndef DIURNAL_API_ABOUT_H
#define DIURNAL_API_ABOUT_H

#include "service/service.h"

/* Borrowed for the life of the runtime. */
typedef struct dn_about {
    const dn_service_config *service;
    const char              *data; /* the directory */
    const char              *version;
    const char              *runner;  /* as it may be shown */
    const char              *listens; /* HOST:PORT of the HTTP door */
} dn_about;

#endif
