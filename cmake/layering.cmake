# layering.cmake - a library sees the headers of the libraries it names, and no others.
#
# All public headers stand in include/diurnal/, but no target has that folder on its include path.
# Each library gets a folder of its own in the build tree, with links to just the headers it offers,
# and a target sees the folders of the libraries it USES. USES is not passed on: whoever wants the
# headers of a library further down has to say so too.
#
# What only diurnal's own libraries see of each other is no public header: it stays in the library's folder,
# and is included as "store/store.h" by whoever USES store.

# diurnal_system(name module>=version): a library of the system, found by pkg-config.
function(diurnal_system name)
    pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${ARGN})
    find_package(Threads REQUIRED)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE PkgConfig::${name} Threads::Threads)
endfunction()

# diurnal_uses(target library...): may include what these offer, and links them.
function(diurnal_uses target)
    foreach(library IN LISTS ARGN)
        if(NOT TARGET ${library})
            message(FATAL_ERROR "${target} uses ${library}, which does not stand below it: "
                                "declare ${library} first, or do without it")
        endif()
    endforeach()
    target_link_libraries(${target} PRIVATE ${ARGN})
endfunction()

# diurnal_library(name DIR folder [SUBDIRS folder...] OFFERS header... SHARES header... USES library...): all
# of folder/*.c, offering include/diurnal/<header> to everyone and folder/<header> to the libraries
# above. The other headers in the folder are the library's own business.
function(diurnal_library name)
    cmake_parse_arguments(PARSE_ARGV 1 LIB "" "DIR" "SUBDIRS;OFFERS;SHARES;USES")
    set(patterns ${LIB_DIR}/*.c)
    foreach(subdir IN LISTS LIB_SUBDIRS)
        list(APPEND patterns ${LIB_DIR}/${subdir}/*.c)
    endforeach()
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    list(FILTER sources EXCLUDE REGEX "/main\\.c$") # a program's
    if(NOT sources)
        message(FATAL_ERROR "${name}: no source in ${LIB_DIR}")
    endif()
    add_library(${name} STATIC ${sources})
    set(offers ${CMAKE_BINARY_DIR}/offers/${name})
    file(REMOVE_RECURSE ${offers})
    file(MAKE_DIRECTORY ${offers}/diurnal)
    foreach(header IN LISTS LIB_OFFERS)
        if(NOT EXISTS ${CMAKE_SOURCE_DIR}/include/diurnal/${header})
            message(FATAL_ERROR "${name} offers ${header}: there is no include/diurnal/${header}")
        endif()
        file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include/diurnal/${header} ${offers}/diurnal/${header}
             SYMBOLIC)
    endforeach()
    set(visible ${LIB_OFFERS})
    list(TRANSFORM visible PREPEND diurnal/)
    foreach(header IN LISTS LIB_SHARES)
        if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${LIB_DIR}/${header})
            message(FATAL_ERROR "${name} shares ${header}: there is no ${LIB_DIR}/${header}")
        endif()
        get_filename_component(file ${header} NAME) # included as library/file.h from any subfolder
        file(MAKE_DIRECTORY ${offers}/${name})
        file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${LIB_DIR}/${header} ${offers}/${name}/${file}
             SYMBOLIC)
        list(APPEND visible ${name}/${file})
    endforeach()
    target_include_directories(${name} PUBLIC ${offers})
    if(LIB_SUBDIRS)
        target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/${LIB_DIR})
    endif()
    diurnal_uses(${name} ${LIB_USES})

    # For the test of the layering itself (tests/layering).
    set_target_properties(${name} PROPERTIES DIURNAL_DIR "${LIB_DIR}"
                          DIURNAL_VISIBLE "${visible}" DIURNAL_USES "${LIB_USES}")
    set_property(GLOBAL APPEND PROPERTY DIURNAL_VISIBLE ${visible})
    set_property(GLOBAL APPEND PROPERTY DIURNAL_LIBRARIES ${name})
    set_property(GLOBAL APPEND PROPERTY DIURNAL_OFFERED ${LIB_OFFERS})
endfunction()

# A header nobody offers could not be included by anyone; one offered twice has no owner.
function(diurnal_every_header_is_offered)
    get_property(offered GLOBAL PROPERTY DIURNAL_OFFERED)
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/include/diurnal
         include/diurnal/*.h)
    list(SORT offered)
    list(SORT headers)
    if(NOT offered STREQUAL headers)
        message(FATAL_ERROR "include/diurnal holds ${headers}; the libraries offer ${offered}: "
                            "each header is offered by exactly one library")
    endif()
endfunction()
