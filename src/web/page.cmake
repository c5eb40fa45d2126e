# page.cmake - puts the dashboard's files into the binary, as they are and as gzip makes them.
# Included by CMakeLists.txt for the target api; run as a script (-P) at build time, whenever one of them has
# changed. Nothing is translated: what a browser is given is what stands here, but that index.html is told the version, which
# is a hash of all files, and that all modules come as one main.js, a plain script: to fetch two dozen one by one took a browser
# a quarter of a second, and a script that is a module waits until the document is read.
if(CMAKE_SCRIPT_MODE_FILE)
    set(type.html "\"text/html; charset=utf-8\"")
    set(type.css "\"text/css; charset=utf-8\"")
    set(type.js "\"text/javascript; charset=utf-8\"")
    set(type.svg "\"image/svg+xml\"")

    # The bytes of a file as numbers.
    function(bytes_of file out)
        file(READ ${file} hex HEX)
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
        set(${out} "${bytes}" PARENT_SCOPE)
    endfunction()

    file(GLOB names RELATIVE ${FOLDER} ${FOLDER}/*.css ${FOLDER}/*.js ${FOLDER}/*.svg)
    list(SORT names)
    set(all "")
    foreach(name index.html ${names})
        file(SHA256 ${FOLDER}/${name} hash)
        string(APPEND all "${name} ${hash}\n")
    endforeach()
    string(SHA256 version "${all}")
    string(SUBSTRING "${version}" 0 16 version)

    # Each module as a function that gives what others import of it, behind those it imports from.
    set(modules "")
    foreach(name IN LISTS names)
        if(name MATCHES "^([a-z]+)\\.js$")
            list(APPEND modules ${CMAKE_MATCH_1})
        endif()
    endforeach()
    foreach(module IN LISTS modules)
        file(READ ${FOLDER}/${module}.js text)
        set(from.${module} "")
        string(REGEX MATCHALL "import {[^}]*} from '\\./[a-z]+\\.js'" imports "${text}")
        foreach(import IN LISTS imports)
            string(REGEX MATCH "{([^}]*)} from '\\./([a-z]+)\\.js'" import "${import}")
            set(of ${CMAKE_MATCH_2})
            string(REGEX MATCHALL "[A-Za-z_]+" wanted "${CMAKE_MATCH_1}")
            list(APPEND from.${module} ${of})
            list(APPEND gives.${of} ${wanted})
        endforeach()
    endforeach()
    set(bundle "")
    set(left ${modules})
    while(left)
        set(waiting "")
        foreach(module IN LISTS left)
            set(missing ${from.${module}})
            list(REMOVE_ITEM missing ${done})
            if(missing)
                list(APPEND waiting ${module})
                continue()
            endif()
            list(APPEND done ${module})
            list(REMOVE_DUPLICATES gives.${module})
            string(REPLACE ";" ", " gives "${gives.${module}}")
            file(READ ${FOLDER}/${module}.js text)
            string(REGEX REPLACE "import ({[^}]*}) from '\\./([a-z]+)\\.js'" "const \\1 = $\\2" text "${text}")
            string(REGEX REPLACE "\nexport " "\n" text "${text}")
            string(APPEND bundle "const $${module} = (() => {\n${text}return { ${gives} };\n})();\n\n")
        endforeach()
        if(waiting STREQUAL left)
            message(FATAL_ERROR "src/web: ${left} import from one another; somebody has to come first")
        endif()
        set(left ${waiting})
    endwhile()
    file(WRITE ${OUT}.main.js "'use strict';\n{\n${bundle}}\n")
    list(FILTER names EXCLUDE REGEX "\\.js$")
    list(APPEND names main.js)

    file(READ ${FOLDER}/index.html index)
    string(REPLACE "{{version}}" "${version}" index "${index}")
    file(WRITE ${OUT}.index.html "${index}")

    set(arrays "")
    set(rows "")
    set(i 0)
    foreach(name index.html ${names})
        set(file ${FOLDER}/${name})
        if(name STREQUAL "index.html" OR name STREQUAL "main.js")
            set(file ${OUT}.${name})
        endif()
        # Without a name and a time in it: so one build is like the other.
        execute_process(COMMAND gzip -9nc ${file} OUTPUT_FILE ${OUT}.gz COMMAND_ERROR_IS_FATAL ANY)
        bytes_of(${file} plain)
        bytes_of(${OUT}.gz gzip)
        get_filename_component(ending ${name} LAST_EXT)
        string(APPEND arrays "static const unsigned char plain_${i}[] = {${plain}};\n"
               "static const unsigned char gzip_${i}[] = {${gzip}};\n")
        string(APPEND rows "    {\"${name}\", ${type${ending}}, plain_${i}, gzip_${i}, sizeof plain_${i}, "
               "sizeof gzip_${i}},\n")
        math(EXPR i "${i} + 1")
    endforeach()
    file(WRITE ${OUT} "/* Made from src/web by page.cmake. */\n#include \"page.h\"\n\n${arrays}\n"
         "const page_file page_files[] = {\n${rows}};\nconst size_t page_files_len = ${i};\n"
         "const char page_version[] = \"${version}\";\n")
    file(REMOVE ${OUT}.gz ${OUT}.index.html ${OUT}.main.js)
    return()
endif()

set(page_dir ${CMAKE_CURRENT_LIST_DIR})
set(page_c ${CMAKE_BINARY_DIR}/generated/api/page_files.c)
file(GLOB page_sources CONFIGURE_DEPENDS ${page_dir}/*.html ${page_dir}/*.css ${page_dir}/*.js
     ${page_dir}/*.svg)
add_custom_command(OUTPUT ${page_c}
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${page_dir} -D OUT=${page_c} -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${page_sources} ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "Embedding the dashboard"
    VERBATIM)
target_sources(api PRIVATE ${page_c})
target_include_directories(api PRIVATE ${CMAKE_SOURCE_DIR}/src/api)
