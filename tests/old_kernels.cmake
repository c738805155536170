# Kernels that know less of processes: without pidfs (Linux 5.3 to 6.8), and without pidfds (4.18 to
# 5.2). src/os/os_identity.c is compiled once more for each, and takes the place of the library's.
set(old_tests reaper/identity_test reaper/witness_test reaper/process_test reaper/assign_test
  reaper/namespace_test reaper/spare_test pool/spawn_test)
foreach(kernel pidfs pidfd)
  string(TOUPPER ${kernel} name)
  add_library(os_without_${kernel} OBJECT src/os/os_identity.c)
  target_compile_definitions(os_without_${kernel} PRIVATE OS_WITHOUT_PIDFS OS_WITHOUT_${name})
  target_link_libraries(os_without_${kernel} PRIVATE usher_flags)
  foreach(test ${old_tests})
    get_filename_component(name ${test} NAME)
    set(name ${name}_without_${kernel})
    usher_test(${name} "crash" src/${test}.c usher_static)
    target_sources(${name} PRIVATE tests/scene.c $<TARGET_OBJECTS:os_without_${kernel}>)
  endforeach()
  target_link_options(spawn_test_without_${kernel} PRIVATE -Wl,--wrap=getppid)
  if(TARGET usher)
    add_executable(usher_without_${kernel} $<TARGET_OBJECTS:usher>
      $<TARGET_OBJECTS:os_without_${kernel}>)
    target_link_libraries(usher_without_${kernel} PRIVATE usher_flags usher_static
      ${JANSSON_ARCHIVES} ${NCURSES_ARCHIVES})
    set_target_properties(usher_without_${kernel} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME usher
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/without_${kernel})
    foreach(script acquire holder namespace container)
      add_test(NAME cli_${script}_without_${kernel} COMMAND
        ${PROJECT_SOURCE_DIR}/tests/cli_${script}.sh ${PROJECT_BINARY_DIR}/without_${kernel}
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      set_tests_properties(cli_${script}_without_${kernel} PROPERTIES LABELS "cli" TIMEOUT 300
        SKIP_RETURN_CODE 77)
    endforeach()
  endif()
endforeach()
# A watchdog needs pidfds.
usher_test(watchdog_test_without_pidfs "crash" src/reaper/watchdog_test.c usher_static)
target_sources(watchdog_test_without_pidfs PRIVATE tests/scene.c
  $<TARGET_OBJECTS:os_without_pidfs>)
