/* page.h - the files of the dashboard: src/web, embedded at build time. */
#ifndef DIURNAL_API_PAGE_H
#define DIURNAL_API_PAGE_H

#include <stddef.h>

typedef struct page_file {
    const char          *name, *type; /* of its content */
    const unsigned char *plain, *gzip;
    size_t               plain_len, gzip_len;
} page_file;

/* The first is index.html. The others are served below /page/VERSION/, where nothing ever changes: changed files get
 * another version. */
extern const page_file page_files[];
extern const size_t    page_files_len;
extern const char      page_version[];

#endif
