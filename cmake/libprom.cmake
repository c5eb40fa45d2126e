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
