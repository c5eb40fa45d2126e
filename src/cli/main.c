/* main.c - the program diurnal: one command, and its exit code. */
#include "cli/command.h"

#include <stdlib.h>

extern char **environ;

int main(int argc, char **argv) { return commands_run(argc, argv, environ); }
