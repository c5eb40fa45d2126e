/* conn.h - one connection at the control door: lines in, lines out, both bounded.
 * Plain data and a descriptor; control.c decides what to do. */
#ifndef DIURNAL_API_CONN_H
#define DIURNAL_API_CONN_H

#include "fd_watch.h"
#include "ops.h"

typedef enum conn_state {
    CONN_FREE,
    CONN_READING, /* waits for a line */
    CONN_ASKING,  /* one request is under way; nothing is read meanwhile */
    CONN_WRITING, /* its answer goes out; nothing is read meanwhile */
} conn_state;

typedef struct conn {
    conn_state state;
    uint32_t   use; /* counts up: tells this connection from others in the same slot */
    fd_watch  *watch;
    bool       ends;     /* after what is being written */
    int64_t    moved_ns; /* when it last got on */
    ask        ask;
    size_t     in_len;
    size_t     out_len, out_at;
    char      *out;
    char      *in; /* DN_CONTROL_LINE_MAX */
} conn;

void conn_close(conn *c);

typedef enum conn_got { CONN_GOT_LINE, CONN_GOT_PART, CONN_GOT_END, CONN_GOT_TOO_MUCH } conn_got;

/* Reads what there is. CONN_GOT_LINE: a line begins at c->in, *out_len bytes without its end. */
conn_got conn_read(conn *c, size_t *out_len);
/* Forgets the line of so many bytes. */
void conn_take_line(conn *c, size_t len);

/* Puts a line to be written; takes text (of malloc). */
void conn_put(conn *c, char *text);

typedef enum conn_wrote { CONN_WROTE_ALL, CONN_WROTE_PART, CONN_WROTE_GONE } conn_wrote;
conn_wrote conn_write(conn *c);

#endif
