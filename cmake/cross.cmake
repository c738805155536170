# Build for another processor with Debian's cross compilers, and run the tests with qemu-user:
#
#     cmake -B build/cross/aarch64 --toolchain cmake/cross.cmake -DUSHER_PROCESSOR=aarch64
#
# USHER_PROCESSOR: aarch64, riscv64, s390x. USHER_LIBRARIES: where jansson and ncurses for it are
# installed (tools/cross builds them there); without it only the library and its tests are built.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES USHER_PROCESSOR USHER_LIBRARIES)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${USHER_PROCESSOR})
set(CMAKE_C_COMPILER ${USHER_PROCESSOR}-linux-gnu-gcc)
# Debian has the libc for another processor under /usr/TRIPLET
set(CMAKE_FIND_ROOT_PATH ${USHER_LIBRARIES} /usr/${USHER_PROCESSOR}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${USHER_LIBRARIES}/lib/pkgconfig")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${USHER_PROCESSOR} -L /usr/${USHER_PROCESSOR}-linux-gnu)
