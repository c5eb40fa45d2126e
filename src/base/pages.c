/* pages.c - small blocks are malloc's, large ones are mapped. */
#define _GNU_SOURCE /* mremap */
#include "pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNED = 2 << 20 };

static bool is_pages(size_t bytes) { return bytes >= DN_PAGES_PAGES; }

/* Aligned to 2 MB, so that mremap moves page tables and not pages: half a gigabyte in microseconds. */
static void *pages_new(size_t bytes) {
    const size_t slack = bytes >= ALIGNED ? ALIGNED : 0;
    char        *raw = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /* fd= */ -1, 0);

    if (raw == MAP_FAILED) return NULL;
    if (slack == 0) return raw;
    const size_t page = 4096, kept = (bytes + page - 1) / page * page;
    const size_t head = (ALIGNED - (uintptr_t)raw % ALIGNED) % ALIGNED;
    if (head > 0) (void)munmap(raw, head);
    if (raw + bytes + slack > raw + head + kept)
        (void)munmap(raw + head + kept, bytes + slack - head - kept);
    return raw + head;
}

/* Where it is, or at another aligned address. */
static void *pages_grow(void *pages, size_t from, size_t to) {
    void *grown = mremap(pages, from, to, /* flags= */ 0);

    if (grown != MAP_FAILED) return grown;
    void *there = pages_new(to);
    if (!there) return NULL;
    grown = mremap(pages, from, to, MREMAP_MAYMOVE | MREMAP_FIXED, there);
    if (grown != MAP_FAILED) return grown;
    (void)munmap(there, to);
    return NULL;
}

void *dn_pages_new(size_t bytes) {
    if (!is_pages(bytes)) return calloc(1, bytes);
    void *room = pages_new(bytes);
    /* Tables are touched here and there: a first touch must zero 4 KB and not 2 MB. */
    if (room) (void)madvise(room, bytes, MADV_NOHUGEPAGE);
    return room;
}

void *dn_pages_grow(void *room, size_t from, size_t to) {
    assert(from < to);
    if (!is_pages(to)) return realloc(room, to);
    if (is_pages(from)) return pages_grow(room, from, to);
    void *pages = pages_new(to);
    if (!pages) return NULL;
    if (room) memcpy(pages, room, from);
    free(room);
    return pages;
}

void dn_pages_free(void *room, size_t bytes) {
    if (!room) return;
    if (!is_pages(bytes)) {
        free(room);
        return;
    }
    const int rc = munmap(room, bytes);
    assert(rc == 0 && "freed by another size");
    (void)rc;
}

/* Copied, because remapped pages stay as small as they were. */
void *dn_pages_grow_large(void *room, size_t from, size_t to) {
    assert(from < to);
    if (to < ALIGNED) return dn_pages_grow(room, from, to);
    void *pages = pages_new(to);
    if (!pages) return NULL;
    (void)madvise(pages, to, MADV_HUGEPAGE);
    if (room) memcpy(pages, room, from);
    dn_pages_free(room, from);
    return pages;
}

void dn_pages_drain(void *room, size_t bytes, size_t at) {
    assert(at % DN_PAGES_BLOCK == 0);
    if (bytes > DN_PAGES_BLOCK) (void)madvise((char *)room + at, DN_PAGES_BLOCK, MADV_DONTNEED);
}
