/* prom_process.h - metrics of this process, read from the kernel. */
#ifndef DIURNAL_OBS_PROM_PROCESS_H
#define DIURNAL_OBS_PROM_PROCESS_H

typedef struct prom_collector prom_collector_t;

/* NULL if memory runs out. */
prom_collector_t *prom_process_collector_new(void);

#endif
