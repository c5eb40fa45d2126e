/* ask.c - what others ask of a supervisor: calls, and nothing more. */
#include "diurnal/supervisor.h"

#include <string.h>

/* A name too long to be one is cut behind the limit: the supervisor then knows no such child. */
static int ask_by_name(dn_self *self, dn_ref supervisor, uint32_t kind, const char *name,
                       int64_t timeout_ms, dn_call_id *out_id) {
    char   body[DN_NAME_MAX + 2] = "";
    size_t len;

    dn_require(name != NULL);
    len = strlen(name);
    if (len > DN_NAME_MAX + 1) len = DN_NAME_MAX + 1;
    memcpy(body, name, len);
    return dn_call(self, supervisor, kind, body, len + 1, timeout_ms, out_id);
}

int dn_dynamic_start(dn_self *self, dn_ref supervisor, const void *config, size_t size,
                     int64_t timeout_ms, dn_call_id *out_id) {
    if (size > DN_DYNAMIC_CONFIG_MAX || (size > 0 && !config)) return DN_EINVAL;
    return dn_call(self, supervisor, DN_SUP_START, config, size, timeout_ms, out_id);
}

int dn_sup_ask_counts(dn_self *self, dn_ref supervisor, int64_t timeout_ms, dn_call_id *out_id) {
    return dn_call(self, supervisor, DN_SUP_ASK_COUNTS, NULL, 0, timeout_ms, out_id);
}

int dn_sup_ask_child(dn_self *self, dn_ref supervisor, const char *name, int64_t timeout_ms,
                     dn_call_id *out_id) {
    return ask_by_name(self, supervisor, DN_SUP_ASK_CHILD, name, timeout_ms, out_id);
}

int dn_sup_stop_child(dn_self *self, dn_ref supervisor, const char *name, int64_t timeout_ms,
                      dn_call_id *out_id) {
    return ask_by_name(self, supervisor, DN_SUP_STOP_CHILD, name, timeout_ms, out_id);
}

int dn_sup_restart_child(dn_self *self, dn_ref supervisor, const char *name, int64_t timeout_ms,
                         dn_call_id *out_id) {
    return ask_by_name(self, supervisor, DN_SUP_RESTART_CHILD, name, timeout_ms, out_id);
}
