# Compiler options shared by every target, kept in one interface library.
#
# -ffp-contract=off: g++ would otherwise fuse a*b+c where the instruction set allows it, and the same
# source would give different bits on different machines. No -march, no -ffast-math, anywhere.
add_library(hone_options INTERFACE)
target_compile_options(hone_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough -Wno-missing-field-initializers -Werror -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlaps and negative sizes in std::string + std::string that are not there (GCC bugs 105329, 105651; with
  # precompiled headers it no longer knows that they are the library's own), and uninitialised members in the inactive
  # alternatives of a std::variant (GCC bug 105562). clang and the sanitizers look for the real ones.
  target_compile_options(hone_options INTERFACE
    -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-array-bounds)
endif()
target_include_directories(hone_options INTERFACE ${CMAKE_SOURCE_DIR}/src)

if(HONE_SANITIZE)
  # Targets with the property HONE_UNWATCHED are only linked with it.
  target_compile_options(hone_options INTERFACE
    "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:HONE_UNWATCHED>>>:-fsanitize=${HONE_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  target_link_options(hone_options INTERFACE -fsanitize=${HONE_SANITIZE})
endif()

find_program(HONE_CCACHE ccache)
if(HONE_CCACHE)
  # Precompiled headers are only cached when ccache is told that time stamps in them do not matter.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${HONE_CCACHE})
endif()
