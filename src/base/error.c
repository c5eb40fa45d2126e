/* error.c - the sentence of each code. */
#include "diurnal/base.h"

const char *dn_error_text(int code) {
    switch (code) {
#define SENTENCE(name, value, text)                                                                \
    case name: return text;
        DN_CODES(SENTENCE)
#undef SENTENCE
    default: return "a code of no meaning";
    }
}
