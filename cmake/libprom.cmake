# libprom.cmake - which library counts: obs/prom_*.c, or an installed prometheus-client-c of the same functions.
# Nothing but this file knows which.

option(DIURNAL_SYSTEM_LIBPROM "Use an installed libprom (prometheus-client-c) instead of obs/prom_*.c" OFF)

# diurnal_libprom(library): the library that has both, with the sources of one of them. Either way its users
# include <prom.h>.
function(diurnal_libprom library)
    if(DIURNAL_SYSTEM_LIBPROM)
        # It brings no file for pkg-config. CMAKE_PREFIX_PATH says where it is, if not in the usual places.
        find_path(DIURNAL_LIBPROM_INCLUDE prom.h REQUIRED)
        find_library(DIURNAL_LIBPROM prom REQUIRED)
        set(others "/prom_[a-z_]*\\.c$")
        target_include_directories(${library} SYSTEM PUBLIC ${DIURNAL_LIBPROM_INCLUDE})
        target_link_libraries(${library} PUBLIC ${DIURNAL_LIBPROM})
    else()
        set(others "/libprom_shim\\.c$")
        target_include_directories(${library} PUBLIC ${CMAKE_SOURCE_DIR}/obs/libprom)
    endif()
    get_target_property(sources ${library} SOURCES)
    list(FILTER sources EXCLUDE REGEX "${others}")
    set_target_properties(${library} PROPERTIES SOURCES "${sources}")
endfunction()

# diurnal_libprom_except(out): for diurnal_tests(obs), what is left out with an installed one. Beside prom_test.c, which
# holds with both, those tests are of the parts of obs/prom_*.c and of what it promises beyond a libprom. And so are
# these few elsewhere, which ctest is told not to run.
function(diurnal_libprom_except out)
    set(${out} "" PARENT_SCOPE)
    file(REMOVE ${CMAKE_BINARY_DIR}/CTestCustom.cmake)
    if(DIURNAL_SYSTEM_LIBPROM)
        set(${out} EXCEPT "prom_[a-z]+_test\\.c" PARENT_SCOPE)
        file(WRITE ${CMAKE_BINARY_DIR}/CTestCustom.cmake "set(CTEST_CUSTOM_TESTS_IGNORE
            [==[api/scrape_test: a_page_is_in_the_format_it_was_asked_in]==]
            [==[e2e/metrics_test: every_series_that_is_promised_is_there_before_anything_has_happened_and_they_are_at_most_300]==]
            [==[e2e/metrics_test: promtool_has_nothing_to_say_about_them]==]
            [==[e2e/metrics_test: whoever_accepts_openmetrics_gets_it_whole_and_nobody_is_told_that_he_wants_too_much]==]
            [==[e2e/prometheus_test: a_prometheus_scrapes_a_daemon_for_a_minute_and_has_every_series_and_every_rule]==])\n")
    endif()
endfunction()
