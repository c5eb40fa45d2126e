/* main.c - the program diurnal: one command, and its exit code. */
#define _GNU_SOURCE
#include "cli/command.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

/* Of a stream that is closed the next file that is opened takes the number, and what is said would be written into it: into
 * the lock, or the database. What nobody can read or write fails as it would have: only the errors, which nobody is to
 * hear, go nowhere. False: it cannot be had. */
static bool streams_are_open(void) {
    static const int way[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", way[fd] | O_NOCTTY) != fd) return false;
    return true;
}

int main(int argc, char **argv) {
    if (!streams_are_open()) return DN_EXIT_FAILED;
    return commands_run(argc, argv, environ);
}
