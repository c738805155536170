# Generate build.h: commit, format of pools, compiler. CMakeLists.txt runs this at each build.
#
# The commit is in packaging/commit if the sources come from an archive (git archive fills it in). In
# a checkout git knows it. Otherwise it is "unknown".
file(STRINGS ${SOURCE}/packaging/commit commit LIMIT_COUNT 1)
if(NOT commit MATCHES "^[0-9a-f]+$")
  set(commit unknown)
  # of a repository whose top is here: the sources may lie within another one
  execute_process(COMMAND git -C ${SOURCE} rev-parse --show-cdup
    OUTPUT_VARIABLE above OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND above STREQUAL "")
    execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=7 --exclude=*
      OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND described)
      set(commit ${described})
    endif()
  endif()
endif()
file(STRINGS ${SOURCE}/src/pool/format.h format REGEX "FORMAT_VERSION = [0-9]+")
string(REGEX REPLACE ".*FORMAT_VERSION = ([0-9]+).*" "\\1" format "${format}")
string(STRIP "${FLAGS}" FLAGS)
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[
/* Made by cmake/build_header.cmake. */
#define BUILD_COMMIT "@commit@"
#define BUILD_FORMAT "@format@"
#define BUILD_ABOUT USHER_VERSION_STRING " (commit " BUILD_COMMIT ", pool format " BUILD_FORMAT ")"
#define BUILD_COMPILER "@COMPILER@"
#define BUILD_FLAGS "@FLAGS@"
#define BUILD_SOURCE "@SOURCE@"
]])
