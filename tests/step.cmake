# Killed and stopped at every machine instruction: the library as it ships, and compiled without any
# optimization. All symbols are bound before the first call, so that a call is the same each time.
function(usher_step_test name library)
  usher_test(${name} "crash" tests/step_test.c ${library})
  target_sources(${name} PRIVATE tests/step_run.c tests/step_scene.c tests/step_judge.c
    tests/step_trace.c tests/step_peers.c tests/step_situations.c)
  target_link_options(${name} PRIVATE -Wl,-z,now)
  set_tests_properties(${name} PROPERTIES TIMEOUT 900) # minutes under a sanitizer
endfunction()

# usher_step_library(NAME OPTION..): the library once more, compiled otherwise.
function(usher_step_library name)
  add_library(${name} STATIC ${USHER_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${name} PRIVATE
    $<TARGET_PROPERTY:usher_objects,COMPILE_DEFINITIONS>)
  target_compile_options(${name} PRIVATE -ftls-model=initial-exec ${ARGN})
  target_link_libraries(${name} PUBLIC usher_flags Threads::Threads)
endfunction()

usher_step_test(step_test usher_static)
usher_step_library(usher_plain -O0)
usher_step_test(step_plain_test usher_plain)
target_compile_definitions(step_plain_test PRIVATE STEP_LIBRARY="compiled with -O0" STEP_SHARE=4)

# And one with a guard dropped: a test that finds nothing wrong with that fails.
foreach(guard REAP_FINISH_TAKE FINISH_V)
  usher_step_library(usher_without_${guard} -DCORE_BROKEN=CORE_GUARD_${guard})
  usher_step_test(step_without_${guard} usher_without_${guard})
  target_compile_definitions(step_without_${guard} PRIVATE STEP_BROKEN=1 SUPPORT_PATIENCE_S=3
    STEP_LIBRARY="without the guard ${guard}")
endforeach()
