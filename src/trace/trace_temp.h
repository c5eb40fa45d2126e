/* trace_temp.h - files without a name: for what is too long for memory, gone with the process however it ends. */
#ifndef DIURNAL_TRACE_TRACE_TEMP_H
#define DIURNAL_TRACE_TRACE_TEMP_H

#include "diurnal/base.h"

/* In TMPDIR, else /var/tmp: /tmp is memory on many machines. The caller closes it. DN_EIO: there can be none. */
DN_MUST_USE int trace_temp_open(int *out_fd);

/* All of it, or DN_EIO. */
DN_MUST_USE int trace_temp_write(int fd, const void *bytes, size_t len, int64_t at);
DN_MUST_USE int trace_temp_read(int fd, void *bytes, size_t len, int64_t at);

#endif
