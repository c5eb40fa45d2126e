# install.cmake - what is installed: the program, and what it writes of itself, the page of man and completions.
include(GNUInstallDirs)

set(written ${CMAKE_BINARY_DIR}/written)
file(MAKE_DIRECTORY ${written})
# diurnal_written(file argument...): what `diurnal argument...` prints, each time the program is new. Without what the
# environment says of us: the settings of a bench or a test are none of the program's, and it would say so.
function(diurnal_written file)
    add_custom_command(OUTPUT ${written}/${file}
        COMMAND env -i $<TARGET_FILE:diurnal> ${ARGN} > ${written}/${file} DEPENDS diurnal VERBATIM)
    set_property(GLOBAL APPEND PROPERTY DIURNAL_WRITTEN ${written}/${file})
endfunction()
diurnal_written(diurnal.1 man)
diurnal_written(diurnal.bash completion bash)
diurnal_written(_diurnal completion zsh)
diurnal_written(diurnal.fish completion fish)
get_property(files GLOBAL PROPERTY DIURNAL_WRITTEN)
add_custom_target(written ALL DEPENDS ${files})

install(TARGETS diurnal)
install(FILES ${written}/diurnal.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${written}/diurnal.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME diurnal)
install(FILES ${written}/_diurnal DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${written}/diurnal.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
