/* mem.c - the system's allocator behind one door, with a way to shut it. */
#include "mem.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A transparent huge page. Big pools are faulted in by this much: 64-byte timers then cost 8 ns of page
 * faults each instead of 23. */
#define HUGE_PAGE ((size_t)2 << 20)

static _Thread_local mem_refuse_fn *refuse_now;
static _Thread_local void          *refuse_context;

void mem_refuse(mem_refuse_fn *refuse, void *context) {
    refuse_now = refuse;
    refuse_context = context;
}

static bool refused(void) { return refuse_now && refuse_now(refuse_context); }

void *mem_alloc(size_t size) { return refused() ? NULL : calloc(1, size); }

void *mem_alloc_unzeroed(size_t size) { return refused() ? NULL : malloc(size); }

void mem_free(void *memory) { free(memory); }

void *mem_reserve(size_t size) {
    const size_t with_slack = size + HUGE_PAGE;

    if (refused()) return NULL;
    /* PROT_NONE is not counted as memory by any overcommit setting; committing is what is counted. */
    char *raw =
        mmap(NULL, with_slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return NULL;

    const size_t head = (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE) % HUGE_PAGE;
    if (head > 0) munmap(raw, head);
    if (with_slack - head > size) munmap(raw + head + size, with_slack - head - size);
    return raw + head;
}

bool mem_commit(void *start, size_t size) {
    if (refused()) return false;
    if (mprotect(start, size, PROT_READ | PROT_WRITE) != 0) return false;
    /* Small pools stay on small pages: a daemon with ten actors should not look like 2 MiB a pool. */
    if (size >= HUGE_PAGE) (void)madvise(start, size, MADV_HUGEPAGE);
    return true;
}

void mem_unreserve(void *start, size_t size) {
    const int rc = munmap(start, size);
    assert(rc == 0 && "unreserving what was not reserved");
    (void)rc;
}
