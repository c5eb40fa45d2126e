/* disk_room.h - blocks of a disk, asked for before a file is written into them. A file system puts something aside for each
 * page that is written, and looks for its block later, unless it has been asked ahead: then a write takes two thirds of
 * the time (measured, ext4). It need not be able to; and that a disk is full, a write tells. */
#ifndef DIURNAL_SERVICE_DISK_ROOM_H
#define DIURNAL_SERVICE_DISK_ROOM_H

#include "diurnal/base.h"

typedef struct dn_disk_room {
    int64_t asked; /* bytes of the file that have blocks, or more */
    bool    asks;
} dn_disk_room;

/* fd: a file that is empty. */
void dn_disk_room_begin(dn_disk_room *room, int fd);

void dn_disk_room_ask_slow_(dn_disk_room *room, int fd, int64_t bytes);
/* It will have so many bytes soon. Its length stays as it is. */
static inline void dn_disk_room_ask(dn_disk_room *room, int fd, int64_t bytes) {
    if (room->asks && bytes > room->asked) dn_disk_room_ask_slow_(room, fd, bytes);
}

/* It has so many, and no more are coming: what was not needed is given back. DN_EIO: errno says why; they are in it. */
DN_MUST_USE int dn_disk_room_end(dn_disk_room *room, int fd, int64_t bytes);

/* What a file has of it beyond its length: nobody writes to it any more, or it could not be had in whole. */
void dn_disk_room_give_back(int fd);

#endif
