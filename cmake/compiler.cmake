# compiler.cmake - how C is compiled here, whatever the target.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

set(DIURNAL_SANITIZE "" CACHE STRING "What -fsanitize= gets; empty: nothing")
option(DIURNAL_LTO "Optimise across files when linking" OFF)

# No _FORTIFY_SOURCE and no stack protector: both add checks to every call of the hot path.
set(CMAKE_C_FLAGS_RELEASE "-O3 -g -fno-plt")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")
# -O1: the sanitizers' reports still name the right lines, and the tests take half as long.
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g -fno-omit-frame-pointer")
# Counters are shared by threads and by the handlers of several loops: atomic, or counts get lost.
set(CMAKE_C_FLAGS_COVERAGE "-O0 -g --coverage -fprofile-update=atomic")

if(DIURNAL_LTO)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
    # Fat objects can be linked both ways: diurnal and the benches with LTO, tests without it (testing.cmake).
    set(CMAKE_C_COMPILE_OPTIONS_IPO -flto=auto -ffat-lto-objects)
endif()

if(DIURNAL_SANITIZE)
    add_compile_options(-fsanitize=${DIURNAL_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${DIURNAL_SANITIZE})
endif()

add_compile_options(
    # Asserts stay on in every build. Last on the command line, so it wins over any -DNDEBUG.
    -UNDEBUG
    # __FILE__ reads src/actor/x.c on every machine: the binaries tell nobody where they were built.
    -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=
    -Wall -Wextra -Wconversion -Werror
    -Wshadow -Wundef -Wvla -Wformat=2
    -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
    -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough)

if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wlogical-op -Wduplicated-cond -Wduplicated-branches
        # A reason is cut to what its report holds: that is what snprintf is for.
        -Wno-format-truncation)
endif()
