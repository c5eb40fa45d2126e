/* queue_room.h - memory for what comes and goes all day in a few sizes: taken and given at the cost of a list, and
 * returned when a piece of it is empty, so that a herd leaves nothing behind. */
#ifndef DIURNAL_SERVICE_QUEUE_ROOM_H
#define DIURNAL_SERVICE_QUEUE_ROOM_H

#include "diurnal/base.h"

enum { ROOM_STEP = 16, ROOM_BLOCK_MAX = 512, ROOM_PIECE_BYTES = 16384 };

typedef struct room_piece room_piece;

/* Zeroed it has none. */
typedef struct room {
    /* By size: those with free blocks stand before those without. */
    struct {
        room_piece *first, *last;
    } sizes[ROOM_BLOCK_MAX / ROOM_STEP + 1];
    size_t pieces;
} room;

void room_done(room *r); /* all that was taken too */

/* Contents undefined. NULL: no memory. */
void *room_take(room *r, size_t size);
void  room_give(room *r, void *block);

#endif
