/* base.h - error codes and ownership helpers, shared by every diurnal header.
 * Functions return DN_OK or a negative DN_E code, never a bare -1. Only functions whose header says so return a positive
 * code. */
#ifndef DIURNAL_BASE_H
#define DIURNAL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Name, value, sentence. */
#define DN_CODES(X)                                                                                \
    X(DN_OK, 0, "ok")                                                                              \
    X(DN_STOP, 1, "the actor asks to end normally")                                                \
    X(DN_PENDING, 2, "begun; a message will tell the outcome")                                     \
    X(DN_ENOMEM, -1, "out of memory")                                                              \
    X(DN_EFULL, -2, "the mailbox is full")                                                         \
    X(DN_EDEAD, -3, "no such actor is alive")                                                      \
    X(DN_ETIME, -4, "the deadline passed")                                                         \
    X(DN_EUNANSWERED, -5, "the request was let go without an answer")                              \
    X(DN_EEXIST, -6, "the name is taken")                                                          \
    X(DN_EINVAL, -7, "an argument is out of range")                                                \
    X(DN_EFAILED, -8, "a requirement did not hold")                                                \
    X(DN_EKILLED, -9, "killed")                                                                    \
    X(DN_ESHUTDOWN, -10, "stopped on request")                                                     \
    X(DN_EINTENSITY, -11, "children failed more often than the supervisor allows")                 \
    X(DN_EIO, -12, "input or output failed")                                                       \
    X(DN_EAWAY, -13, "the store cannot be reached")

enum {
#define DN_CODE_ENUM(name, value, sentence) name = (value),
    DN_CODES(DN_CODE_ENUM)
#undef DN_CODE_ENUM
};

/* The sentence of a code; never NULL. Any thread. */
const char *dn_error_text(int code);

/* Ignoring the result is a compile-time warning. */
#define DN_MUST_USE __attribute__((warn_unused_result))

/* DN_AUTO: a pointer that is freed at the end of its scope. MSG_TAKE: returns the pointer and sets the owner to NULL. */
#define DN_AUTO(type) __attribute__((cleanup(type##_freep))) type *
#define DN_TAKE(owner)                                                                             \
    __extension__({                                                                                \
        __auto_type dn_taken_ = (owner);                                                           \
        (owner) = NULL;                                                                            \
        dn_taken_;                                                                                 \
    })

/* An array and its length, for tables that are passed by value. */
#define DN_SLICE(array)                                                                            \
    { (array), sizeof(array) / sizeof((array)[0]) }

#endif
