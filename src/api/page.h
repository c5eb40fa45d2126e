/* page.h - the files of the dashboard: src/web, as they were when this was built. */
#ifndef DIURNAL_API_PAGE_H
#define DIURNAL_API_PAGE_H

#include <stddef.h>

typedef struct page_file {
    const char          *name, *type; /* of its content */
    const unsigned char *plain, *gzip;
    size_t               plain_len, gzip_len;
} page_file;

/* The first is index.html. The others are found below /page/VERSION/, and what stands there never changes: another file
 * has another version. */
extern const page_file page_files[];
extern const size_t    page_files_len;
extern const char      page_version[];

#endif
