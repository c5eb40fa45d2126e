/* disk_room.h - blocks of a disk, asked for before a file is written into them. A file system puts something aside for each
 * page that is written, and looks for its block later, unless it has been asked ahead: then a write takes two thirds of
 * the time (measured, ext4). It need not be able to; and that a disk is full, a write tells. */
#ifndef DIURNAL_BASE_PREALLOCATE_H
#define DIURNAL_BASE_PREALLOCATE_H

#include "diurnal/base.h"

typedef struct dn_preallocation {
    int64_t asked; /* bytes of the file that have blocks, or more */
    bool    asks;
} dn_preallocation;

/* fd: a file that is empty. */
void dn_preallocate_begin(dn_preallocation *room, int fd);

void dn_preallocate_ask_slow_(dn_preallocation *room, int fd, int64_t bytes);
/* It will have so many bytes soon. Its length stays as it is. */
static inline void dn_preallocate_ask(dn_preallocation *room, int fd, int64_t bytes) {
    if (room->asks && bytes > room->asked) dn_preallocate_ask_slow_(room, fd, bytes);
}

/* It has so many, and no more are coming: what was not needed is given back. DN_EIO: errno says why; they are in it. */
DN_MUST_USE int dn_preallocate_end(dn_preallocation *room, int fd, int64_t bytes);

/* What a file has of it beyond its length: nobody writes to it any more, or it could not be had in whole. */
void dn_preallocate_give_back(int fd);

#endif
