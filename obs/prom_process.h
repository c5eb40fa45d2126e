/* prom_process.h - what the kernel knows of this process. */
#ifndef DIURNAL_OBS_PROM_PROCESS_H
#define DIURNAL_OBS_PROM_PROCESS_H

typedef struct prom_collector prom_collector_t;

/* NULL: no memory. */
prom_collector_t *prom_process_collector_new(void);

#endif
