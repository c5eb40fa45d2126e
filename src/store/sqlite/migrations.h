/* migrations.h - the .sql files of migrations/, embedded by migrations.cmake. The first is number 1. */
#ifndef DIURNAL_STORE_SQLITE_MIGRATIONS_H
#define DIURNAL_STORE_SQLITE_MIGRATIONS_H

extern const char *const migrations[];
extern const int         migrations_len;

#endif
