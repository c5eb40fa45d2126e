# compiler.cmake - how C is compiled here, whatever the target.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

set(DIURNAL_SANITIZE "" CACHE STRING "What -fsanitize= gets; empty: nothing")
option(DIURNAL_LTO "Optimise across files when linking" OFF)

# Hardening (_FORTIFY_SOURCE, stack protector, relro) is left to the final daemon: both check
# on every call what the hot path does a hundred million times a second, and the figures of the
# benches would be those of the checks.
set(CMAKE_C_FLAGS_RELEASE "-O3 -g -fno-plt")
# Left to itself gcc copies and empties a few dozen bytes with `rep movs` and `rep stos`, which take 10 to 40 ns to begin:
# as long as all else that is done with an id or a message. (Measured: a replay took a fifth less time.)
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    set(few_bytes unrolled_loop:256:noalign,libcall:-1:noalign)
    string(APPEND CMAKE_C_FLAGS_RELEASE
           " -mmemcpy-strategy=${few_bytes} -mmemset-strategy=${few_bytes}")
endif()
# What is called once, or a million times a second, stands in small functions of many files: gcc is to put more of them where
# they are called. (Measured: a replay takes a twenty-fifth less time, and the program is a quarter larger.)
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    string(APPEND CMAKE_C_FLAGS_RELEASE
           " --param=max-inline-insns-auto=90 --param=inline-unit-growth=100"
           " --param=inline-min-speedup=5 --param=large-function-growth=400")
endif()
# Intel's cores of 2015 to 2020 do not keep decoded what holds a jump across a 32-byte boundary (their erratum SKX102): padded
# so that none lies there, a hop in a ring of actors takes a tenth less time on them, and elsewhere a hundredth more bytes.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    include(CheckCCompilerFlag)
    foreach(flag -Wa,-mbranches-within-32B-boundaries -mbranches-within-32B-boundaries)
        string(MAKE_C_IDENTIFIER "DIURNAL_HAS${flag}" has)
        check_c_compiler_flag(${flag} ${has})
        if(${has})
            string(APPEND CMAKE_C_FLAGS_RELEASE " ${flag}")
            break()
        endif()
    endforeach()
endif()
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")
# -O1: the sanitizers' reports still name the right lines, and the tests take half as long.
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g -fno-omit-frame-pointer")
# Counters are shared by threads and by the handlers of several loops: atomic, or counts get lost.
set(CMAKE_C_FLAGS_COVERAGE "-O0 -g --coverage -fprofile-update=atomic")

if(DIURNAL_LTO)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
    # Fat objects can be linked both ways: what is shipped and measured with it, tests without (testing.cmake).
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

# ./dev build trained: built so that it counts what it does, run (tools/train), and built by those counts, which lie beside
# the objects. What it did not do is built as without them. That something was not counted is told and is no failure: the
# release build answers for the code.
set(DIURNAL_TRAINING "" CACHE STRING "collect: a program that counts what it does; use: one by those counts")
if(DIURNAL_TRAINING AND NOT CMAKE_C_COMPILER_ID STREQUAL GNU)
    message(FATAL_ERROR "DIURNAL_TRAINING is ${DIURNAL_TRAINING}: only gcc is trained here; leave it out")
endif()
if(DIURNAL_TRAINING STREQUAL collect)
    add_compile_options(-fprofile-generate -fprofile-update=prefer-atomic)
    add_link_options(-fprofile-generate)
elseif(DIURNAL_TRAINING STREQUAL use)
    add_compile_options(-fprofile-use -fprofile-partial-training -Wno-missing-profile -Wno-error)
    add_link_options(-fprofile-use -fprofile-partial-training)
endif()
