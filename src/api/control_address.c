/* control_address.c - where the control socket is.
 * A socket's address holds 107 bytes, a data directory's path may have thousands. */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static const char socket_name[] = "control.sock";

int dn_control_address(const char *data, struct sockaddr_un *out_address, int *out_dir) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t       room = sizeof address.sun_path;
    int                dir = -1;

    if (strlen(data) + sizeof socket_name + 1 > room) {
        dir = open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0) return DN_EIO;
        (void)snprintf(address.sun_path, room, "/proc/self/fd/%d/%s", dir, socket_name);
    } else {
        (void)snprintf(address.sun_path, room, "%s/%s", data, socket_name);
    }
    *out_address = address;
    *out_dir = dir;
    return DN_OK;
}
