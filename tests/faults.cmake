# Each call of libusher that can fail, fails: tests/faults.c replaces these calls. Not with clang's
# sanitizers: they are part of the program and would call the replacements, too.
if(CMAKE_C_FLAGS MATCHES "sanitize" AND CMAKE_C_COMPILER_ID MATCHES "Clang")
  return()
endif()
usher_test(faults_test "crash" tests/faults_test.c usher_static)
target_sources(faults_test PRIVATE tests/scene.c tests/faults.c)
foreach(call mmap posix_fallocate fchmod fstat stat fstatat fstatfs linkat mkdir unlinkat pread read
    poll madvise pthread_key_create pthread_atfork pthread_setspecific calloc aligned_alloc realloc
    strdup free open openat fcntl syscall clock_gettime)
  target_link_options(faults_test PRIVATE -Wl,--wrap=${call})
endforeach()
