/* main.c - the program diurnal: one command, and its exit code. */
#define _GNU_SOURCE
#include "cli/command.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

/* Opens /dev/null for each closed standard stream. Otherwise the next opened file, the lock or the database, would get its
 * number and the output. The mode is the opposite of the stream's, so that using it still fails. False: /dev/null cannot
 * be opened. */
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
