# report.cmake - puts the report's page into the binary: report/page.html with its style and its scripts in their places.
# Included by CMakeLists.txt for the target replay; run as a script (-P) at build time, whenever one of
# them has changed, it writes the page as two arrays of bytes: before its data, and behind.
set(report_scripts words.js data.js draw.js chart.js times.js strip.js spread.js tables.js page.js)

if(CMAKE_SCRIPT_MODE_FILE)
    # What may run on the page, and how it may look, is what stands here, and nothing that got in with the data: the
    # policy names both by their hash. Base64 of it, three bytes at a time.
    function(policy_source text out)
        string(SHA256 hash "${text}")
        set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        set(source "")
        string(REGEX MATCHALL "......" groups "${hash}00") # 32 bytes, and one to fill
        foreach(group IN LISTS groups)
            foreach(shift 18 12 6 0)
                math(EXPR at "(0x${group} >> ${shift}) & 63")
                string(SUBSTRING "${letters}" ${at} 1 letter)
                string(APPEND source "${letter}")
            endforeach()
        endforeach()
        string(REGEX REPLACE "A$" "=" source "${source}")
        set(${out} "'sha256-${source}'" PARENT_SCOPE)
    endfunction()

    # As the digits of their bytes: CMake has its own mind about brackets and semicolons in a text.
    function(hex_of text out)
        file(WRITE ${OUT}.part "${text}")
        file(READ ${OUT}.part hex HEX)
        set(${out} "${hex}" PARENT_SCOPE)
    endfunction()

    file(READ ${FOLDER}/page.css style)
    file(READ ${FOLDER}/page.html page HEX)
    set(script "'use strict';\n(() => {\n")
    foreach(name IN LISTS report_scripts)
        file(READ ${FOLDER}/${name} part)
        string(APPEND script "${part}")
    endforeach()
    string(APPEND script "})();\n")

    policy_source("${style}" style_source)
    policy_source("${script}" script_source)
    foreach(place style script style_source script_source)
        hex_of("{{${place}}}" mark)
        hex_of("${${place}}" bytes)
        string(FIND "${page}" "${mark}" at)
        if(at EQUAL -1)
            message(FATAL_ERROR "${FOLDER}/page.html: there is no place for {{${place}}}")
        endif()
        string(REPLACE "${mark}" "${bytes}" page "${page}")
    endforeach()
    hex_of("{{data}}" mark)
    string(FIND "${page}" "${mark}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "${FOLDER}/page.html: there is no place for {{data}}")
    endif()
    string(LENGTH "${mark}" mark_length)
    math(EXPR behind "${at} + ${mark_length}")
    string(SUBSTRING "${page}" 0 ${at} head)
    string(SUBSTRING "${page}" ${behind} -1 tail)

    set(text "/* Made from ${FOLDER} by report.cmake. */\n#include \"report_parts.h\"\n\n")
    foreach(half head tail)
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${${half}}")
        string(APPEND text "static const unsigned char ${half}[] = {${bytes}};\n"
               "const report_text report_page_${half} = {(const char *)${half}, sizeof ${half}};\n")
    endforeach()
    file(WRITE ${OUT} "${text}")
    file(REMOVE ${OUT}.part)
    return()
endif()

set(report_dir ${CMAKE_CURRENT_LIST_DIR}/report)
set(report_page_c ${CMAKE_BINARY_DIR}/generated/replay/report_page.c)
set(report_sources page.html page.css ${report_scripts})
list(TRANSFORM report_sources PREPEND ${report_dir}/)
add_custom_command(OUTPUT ${report_page_c}
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${report_dir} -D OUT=${report_page_c}
            -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${report_sources} ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "Embedding the page of the report"
    VERBATIM)
target_sources(replay PRIVATE ${report_page_c})
target_include_directories(replay PRIVATE ${CMAKE_CURRENT_LIST_DIR})
