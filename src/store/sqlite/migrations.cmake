# migrations.cmake - puts migrations/*.sql into the binary, in the order of their numbers.
# Included by CMakeLists.txt for the target store; run as a script (-P) at build time, whenever a .sql
# has changed, it writes them as one array of C strings.
if(CMAKE_SCRIPT_MODE_FILE)
    set(rows "")
    set(expected 1)
    file(GLOB files ${FOLDER}/*.sql)
    list(SORT files)
    foreach(file IN LISTS files)
        get_filename_component(name ${file} NAME)
        if(NOT name MATCHES "^0*([1-9][0-9]*)_[a-z0-9_]+\\.sql$" OR NOT CMAKE_MATCH_1 EQUAL expected)
            message(FATAL_ERROR "${file}: want migration number ${expected}, as 000${expected}_words.sql")
        endif()
        set(number ${expected})
        math(EXPR expected "${expected} + 1")
        # As numbers, byte by byte: nothing in the SQL needs to be quoted, and no string is too long.
        file(READ ${file} bytes HEX)
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
        string(APPEND rows "static const char sql_${number}[] = {${bytes}0};\n")
        string(APPEND table "    sql_${number}, /* ${name} */\n")
    endforeach()
    math(EXPR count "${expected} - 1")
    file(WRITE ${OUT} "/* Made from src/store/sqlite/migrations by migrations.cmake. */\n"
        "#include \"migrations.h\"\n\n${rows}\n"
        "const char *const migrations[] = {\n${table}};\nconst int migrations_len = ${count};\n")
    return()
endif()

set(migrations_dir ${CMAKE_CURRENT_LIST_DIR}/migrations)
set(migrations_c ${CMAKE_BINARY_DIR}/generated/store/migrations.c)
file(GLOB migrations_sql CONFIGURE_DEPENDS ${migrations_dir}/*.sql)
add_custom_command(OUTPUT ${migrations_c}
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${migrations_dir} -D OUT=${migrations_c}
            -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${migrations_sql} ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "Embedding the migrations of the store"
    VERBATIM)
target_sources(store PRIVATE ${migrations_c})
target_include_directories(store PRIVATE ${CMAKE_CURRENT_LIST_DIR})
