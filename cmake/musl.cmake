# Build static programs with musl:
#
#     cmake -B build/static/x86_64 --toolchain cmake/musl.cmake -DUSHER_PROCESSOR=x86_64 \
#         -DUSHER_LIBRARIES=DIRECTORY
#
# USHER_LIBRARIES: a directory that tools/static fills: include/ and lib/ with jansson and ncurses,
# the compiler's lib/musl-gcc.specs, and the headers of the kernel. USHER_PROCESSOR: x86_64 or aarch64.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES USHER_PROCESSOR USHER_LIBRARIES)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${USHER_PROCESSOR})
set(CMAKE_C_COMPILER ${USHER_PROCESSOR}-linux-gnu-gcc)
set(CMAKE_C_FLAGS_INIT "-specs=${USHER_LIBRARIES}/lib/musl-gcc.specs")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
set(CMAKE_FIND_ROOT_PATH ${USHER_LIBRARIES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${USHER_LIBRARIES}/lib/pkgconfig")
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL USHER_PROCESSOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${USHER_PROCESSOR})
endif()
