# Generate bench_build.h: commit and compiler of usher-bench. CMakeLists.txt runs this at each
# build.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --tags
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT commit)
  set(commit unknown)
endif()
string(STRIP "${FLAGS}" FLAGS)
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[
/* Made by src/bench/build_header.cmake. */
#define BENCH_COMMIT "@commit@"
#define BENCH_COMPILER "@COMPILER@"
#define BENCH_FLAGS "@FLAGS@"
#define BENCH_SPIN_COMPARE "@SOURCE@/src/bench/spin-compare"
#define BENCH_KAZOO "@SOURCE@/src/bench/kazoo-semaphore"
]])
