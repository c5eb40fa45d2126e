/* starving.c - stands between a program and its allocator, by the linker's --wrap. */
#include "starving.h"

#include <stddef.h>

/* Volatile: the compiler knows that malloc changes no variable of the program. */
static _Thread_local volatile uint64_t left; /* 0: plenty */
static _Thread_local volatile bool     failed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void starve_nth(uint64_t n) {
    left = n;
    failed = false;
}

bool starve_end(void) {
    left = 0;
    return failed;
}

static bool fails(void) {
    if (left == 0) return false;
    left = left - 1;
    if (left > 0) return false;
    failed = true;
    return true;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
    return fails() ? NULL : __real_realloc(memory, size);
}
