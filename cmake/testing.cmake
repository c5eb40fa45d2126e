# testing.cmake - every TEST of every *_test.c becomes a ctest test of its own.

# diurnal_test_program(name SOURCE file.c FOLDER folder [FIRST] USES library...): one program, and after
# it is linked, its sentences, asked from itself, as "folder/file: sentence". FIRST: ctest begins with them.
function(diurnal_test_program name)
    cmake_parse_arguments(PARSE_ARGV 1 TEST "FIRST" "SOURCE;FOLDER" "USES")
    get_filename_component(file ${TEST_SOURCE} NAME_WE)
    set(list ${CMAKE_CURRENT_BINARY_DIR}/${name}.ctest.cmake)
    set(environment "")
    if(DIURNAL_SANITIZE STREQUAL thread)
        set(environment TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tsan.supp)
    endif()
    add_executable(${name} ${TEST_SOURCE})
    diurnal_uses(${name} harness ${TEST_USES})
    # To optimise the whole program anew for each of a hundred tests would take most of the time a run has. The program
    # that is shipped is built with it, and tests/e2e runs that one.
    set_property(TARGET ${name} PROPERTY INTERPROCEDURAL_OPTIMIZATION OFF)
    target_link_options(${name} PRIVATE $<$<C_COMPILER_ID:GNU>:-fno-lto>)
    # Nor is what a test itself does looked at for its speed: compiled so it takes three fifths of the time.
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    add_custom_command(TARGET ${name} POST_BUILD
        COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${name}> -D PREFIX=${TEST_FOLDER}/${file}
                -D FIRST=${TEST_FIRST} -D ENVIRONMENT=${environment} -D OUT=${list} -P ${CMAKE_SOURCE_DIR}/cmake/discover.cmake
        BYPRODUCTS ${list}
        VERBATIM)
    set_property(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} APPEND PROPERTY TEST_INCLUDE_FILES ${list})
endfunction()

# diurnal_tests(folder [EXCEPT regex] [FIRST file...] [UNSANITIZED file...] [ONE_THREAD] USES library...):
# tests/folder/*_test.c, a program each, but for those. FIRST: they take longest, and who begins with them does not wait
# for them alone at the end. UNSANITIZED: not in the builds with a sanitizer, which would find in them what it finds in
# others. ONE_THREAD: none of them ever has a second one, so the thread sanitizer could find nothing.
function(diurnal_tests folder)
    cmake_parse_arguments(PARSE_ARGV 1 TESTS "ONE_THREAD" "EXCEPT" "FIRST;UNSANITIZED;USES")
    set_property(GLOBAL APPEND PROPERTY DIURNAL_TEST_FOLDERS ${folder})
    if(TESTS_ONE_THREAD AND DIURNAL_SANITIZE STREQUAL thread)
        return()
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*_test.c)
    if(TESTS_EXCEPT)
        list(FILTER sources EXCLUDE REGEX "/${folder}/${TESTS_EXCEPT}$")
    endif()
    foreach(source IN LISTS sources)
        get_filename_component(file ${source} NAME_WE)
        if(DIURNAL_SANITIZE AND file IN_LIST TESTS_UNSANITIZED)
            continue()
        endif()
        set(first "")
        if(file IN_LIST TESTS_FIRST)
            set(first FIRST)
        endif()
        diurnal_test_program(${folder}_${file} SOURCE ${source} FOLDER ${folder} ${first}
                             USES ${TESTS_USES})
    endforeach()
endfunction()

# A test in a folder that no diurnal_tests() names would silently never run.
function(diurnal_every_test_is_run)
    get_property(folders GLOBAL PROPERTY DIURNAL_TEST_FOLDERS)
    file(GLOB tests CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} */*_test.c)
    foreach(test IN LISTS tests)
        get_filename_component(folder ${test} DIRECTORY)
        if(NOT folder IN_LIST folders)
            message(FATAL_ERROR "tests/${test} is in no folder that tests/CMakeLists.txt names: "
                                "add diurnal_tests(${folder} USES ...)")
        endif()
    endforeach()
endfunction()

# diurnal_fuzz_programs(folder USES library...): tests/folder/*.c, a libFuzzer program each.
function(diurnal_fuzz_programs folder)
    cmake_parse_arguments(PARSE_ARGV 1 FUZZ "" "" "USES")
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
    foreach(source IN LISTS sources)
        get_filename_component(file ${source} NAME_WE)
        add_executable(fuzz_${file} ${source})
        set_target_properties(fuzz_${file} PROPERTIES
            OUTPUT_NAME ${file} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
        target_link_options(fuzz_${file} PRIVATE -fsanitize=fuzzer)
        diurnal_uses(fuzz_${file} ${FUZZ_USES})
    endforeach()
endfunction()

# diurnal_layering_tests(script): for each library one test that compiles an include of every header
# there is, with that library's own include path: those it may see must compile, the others not.
function(diurnal_layering_tests script)
    get_property(libraries GLOBAL PROPERTY DIURNAL_LIBRARIES)
    get_property(headers GLOBAL PROPERTY DIURNAL_VISIBLE)
    foreach(library IN LISTS libraries)
        get_target_property(visible ${library} DIURNAL_VISIBLE)
        get_target_property(uses ${library} DIURNAL_USES)
        get_target_property(own ${library} DIURNAL_DIR)
        foreach(used IN LISTS uses)
            get_property(offers TARGET ${used} PROPERTY DIURNAL_VISIBLE)
            list(APPEND visible ${offers})
        endforeach()
        set(hidden ${headers})
        list(REMOVE_ITEM hidden ${visible})
        foreach(other IN LISTS libraries)
            get_target_property(folder ${other} DIURNAL_DIR)
            file(GLOB private CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/${folder}
                 ${CMAKE_SOURCE_DIR}/${folder}/*.h)
            foreach(header IN LISTS private)
                if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${own}/${header})
                    list(APPEND hidden ${header})
                endif()
            endforeach()
        endforeach()
        add_test(NAME "${script}: ${library}_sees_what_it_names_and_nothing_else"
            COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${script} "${CMAKE_C_COMPILER}"
                    "$<JOIN:$<TARGET_PROPERTY:${library},INCLUDE_DIRECTORIES>,:>"
                    "${visible}" "${hidden}")
    endforeach()
endfunction()
