/* contract_metrics.h - the series that a daemon promises to show, each as a selector that Prometheus takes too.
 * Its text is how the series stands in the page up to its value; a bare name may have labels that are not promised. */
#ifndef DIURNAL_TESTS_E2E_CONTRACT_METRICS_H
#define DIURNAL_TESTS_E2E_CONTRACT_METRICS_H

#define OF_EACH_SLO(name)                                                                          \
    name "{slo=\"tick_budget\"}", name "{slo=\"saturation\"}", name "{slo=\"queue_pressure\"}",    \
        name "{slo=\"job_latency\"}", name "{slo=\"cutoff_miss_rate\"}"
#define OF_EACH_ACTOR(name)                                                                        \
    name "{actor=\"tick\"}", name "{actor=\"queue\"}", name "{actor=\"executor\"}",                \
        name "{actor=\"kv\"}", name "{actor=\"web\"}"
#define OF_A_HISTOGRAM(name) name "_bucket{le=\"+Inf\"}", name "_sum", name "_count"
#define OF_EACH_RESULT(name, more)                                                                 \
    name "{result=\"ok\"" more "}", name "{result=\"error\"" more "}",                             \
        name "{result=\"timeout\"" more "}"

static const char *const contract_metrics[] = {
    OF_A_HISTOGRAM("diurnal_tick_duration_seconds"),
    "diurnal_tick_users_scanned",
    "diurnal_tick_users_eligible",
    "diurnal_tick_users_enqueued",
    "diurnal_queue_depth",
    "diurnal_executor_in_flight",
    "diurnal_executor_max_concurrency",
    OF_EACH_RESULT("diurnal_job_duration_seconds_bucket", ",le=\"+Inf\""),
    OF_EACH_RESULT("diurnal_job_duration_seconds_sum", ""),
    OF_EACH_RESULT("diurnal_job_duration_seconds_count", ""),
    "diurnal_jobs_total{result=\"ok\",error_class=\"\"}",
    "diurnal_jobs_total{result=\"timeout\",error_class=\"\"}",
    "diurnal_jobs_total{result=\"error\",error_class=\"req\"}",
    "diurnal_jobs_total{result=\"error\",error_class=\"llm\"}",
    "diurnal_jobs_total{result=\"error\",error_class=\"parse\"}",
    "diurnal_jobs_total{result=\"error\",error_class=\"unknown\"}",
    "diurnal_finalizations_total{status=\"success\"}",
    "diurnal_finalizations_total{status=\"cutoff_reached\"}",
    "diurnal_late_successes_total",
    OF_A_HISTOGRAM("diurnal_store_commit_seconds"),
    "diurnal_store_failures_total",
    OF_EACH_SLO("diurnal_slo_value"),
    OF_EACH_SLO("diurnal_slo_threshold"),
    OF_EACH_SLO("diurnal_slo_breached"),
    OF_EACH_ACTOR("diurnal_actor_mailbox_depth"),
    OF_EACH_ACTOR("diurnal_actor_handled_total"),
    OF_EACH_ACTOR("diurnal_actor_restarts_total"),
    OF_EACH_ACTOR("diurnal_actor_heap_bytes"),
    "diurnal_dead_letters_total",
    "process_cpu_seconds_total",
    "process_open_fds",
    "process_max_fds",
    "process_virtual_memory_bytes",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "diurnal_build_info",
};
enum { CONTRACT_METRICS = sizeof contract_metrics / sizeof *contract_metrics };

#endif
