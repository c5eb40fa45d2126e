/* metrics_library.h - what metrics.c asks of the library that counts: prom_shim.c answers, or libprom_shim.c. */
#ifndef DIURNAL_OBS_METRICS_LIBRARY_H
#define DIURNAL_OBS_METRICS_LIBRARY_H

#include "metrics.h"

bool dn_metrics_offered(dn_metrics_format format);

/* Registers what the library has to say of itself. DN_ENOMEM. */
DN_MUST_USE int dn_metrics_of_library(void);

#endif
