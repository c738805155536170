# The tests of the library that run on other processors and with another libc: `tools/cross` builds
# cross_tests and runs the label cross. All unit and crash tests, except
#   step*     stops after each machine instruction with ptrace(2), which qemu-user does not offer
#   zk*, crowd_test, race_test, kill_test, soak_test, faults_test
#             minutes each under an emulator, or a server is needed
add_custom_target(cross_tests)
get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test ${tests})
  get_property(labels TEST ${test} PROPERTY LABELS)
  if(TARGET ${test} AND labels MATCHES "unit|crash" AND NOT test MATCHES "^(step|header|zk_t|zk_w|zk_l|zk_c)")
    set_property(TEST ${test} APPEND PROPERTY LABELS cross)
    add_dependencies(cross_tests ${test})
  endif()
endforeach()
