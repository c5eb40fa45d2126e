# embed.cmake - puts a file into a library, byte for byte.
# diurnal_embed(target file symbol): const char symbol[], ended by a zero that is not counted, and const size_t symbol_len.
# Run as a script (-P) at build time, whenever the file has changed, it writes both.
if(CMAKE_SCRIPT_MODE_FILE)
    # As numbers, byte by byte: nothing needs to be quoted, and no string is too long.
    file(READ ${FILE} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    get_filename_component(name ${FILE} NAME)
    file(WRITE ${OUT} "/* Made from ${name} by embed.cmake. */\n#include <stddef.h>\n\n"
        "extern const char ${SYMBOL}[];\nextern const size_t ${SYMBOL}_len;\n"
        "const char ${SYMBOL}[] = {${bytes}0};\nconst size_t ${SYMBOL}_len = sizeof ${SYMBOL} - 1;\n")
    return()
endif()

set(diurnal_embed_script ${CMAKE_CURRENT_LIST_FILE})

function(diurnal_embed target file symbol)
    set(out ${CMAKE_BINARY_DIR}/generated/${target}/${symbol}.c)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -D FILE=${CMAKE_CURRENT_SOURCE_DIR}/${file} -D SYMBOL=${symbol}
                -D OUT=${out} -P ${diurnal_embed_script}
        DEPENDS ${file} ${diurnal_embed_script}
        COMMENT "Embedding ${file}"
        VERBATIM)
    target_sources(${target} PRIVATE ${out})
endfunction()
