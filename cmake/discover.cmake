# discover.cmake - run after a test program is linked: writes its sentences down for ctest.
execute_process(COMMAND ${PROGRAM} --list OUTPUT_VARIABLE sentences
                OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed OR NOT sentences)
    message(FATAL_ERROR "${PROGRAM} --list names no test (${failed}): "
                        "a test program needs at least one TEST")
endif()
string(REPLACE "\n" ";" sentences "${sentences}")
set(tests "")
set(cost 0)
if(FIRST)
    set(cost 1000) # of those at hand ctest begins with the dearest
endif()
foreach(sentence IN LISTS sentences)
    # 120 s: nothing here sleeps, so what takes longer hangs.
    string(APPEND tests "add_test([==[${PREFIX}: ${sentence}]==] [==[${PROGRAM}]==] ${sentence})\n"
           "set_tests_properties([==[${PREFIX}: ${sentence}]==] PROPERTIES TIMEOUT 120 COST ${cost}"
           " ENVIRONMENT [==[${ENVIRONMENT}]==])\n")
endforeach()
file(WRITE ${OUT} "${tests}")
