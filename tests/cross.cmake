# The tests of the library that run on other processors and with another libc: `tools/cross/run` builds
# cross_tests and runs the label cross. All unit and crash tests, except
#     step*, header*   stop after each machine instruction with ptrace(2), which qemu-user does not
#                      offer; need a C++ compiler
#     zk_*             need a ZooKeeper server and its client library, except zk_state_test
#     kill_test, repeat_test   take more than two minutes under an emulator
#     version_test     with musl: it asks glibc for the names of errors
#     faults_test      with musl: in a static program it replaces the calls of the libc itself, too
add_custom_target(cross_tests)
get_property(tests DIRECTORY PROPERTY TESTS)
set(elsewhere "^(step|header|kill_test|repeat_test|zk_)")
if(CMAKE_TOOLCHAIN_FILE MATCHES "musl")
  set(elsewhere "^(step|header|kill_test|repeat_test|zk_|version_test|faults_test)")
endif()
foreach(test ${tests})
  get_property(labels TEST ${test} PROPERTY LABELS)
  if(TARGET ${test} AND labels MATCHES "unit|crash" AND
      (test STREQUAL zk_state_test OR NOT test MATCHES "${elsewhere}"))
    set_property(TEST ${test} APPEND PROPERTY LABELS cross)
    add_dependencies(cross_tests ${test})
  endif()
endforeach()

# emulator_fails(TEST WORD): the test fails because qemu-user does not offer what WORD says in
# tools/cross/emulator.c. tools/cross/run reads this list and runs that program: it names such tests,
# and does not count them as passed. docs/testing.md has the evidence.
function(emulator_fails test word)
  if(NOT TEST ${test})
    message(FATAL_ERROR "tests/cross.cmake names ${test}, which is no test")
  endif()
endfunction()
emulator_fails(fork_test exec)
emulator_fails(many_test exec)
emulator_fails(strangers_test exec)
emulator_fails(contest_test seccomp)
emulator_fails(barrier_test seccomp)
emulator_fails(spawn_test vfork)
emulator_fails(crowd_test subreaper)
