# Precompiled headers: reading the same standard headers in every file is half of a build. Each file still includes
# what it uses: builds with clang (tidy, fuzz) do without, and would notice.
option(HONE_PCH "Precompile the headers that nearly every file includes" ${HONE_PCH_DEFAULT})

# Tests spend their time in the libraries; to optimise the tests themselves takes longer than it saves.
set(HONE_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)
# What sanitizers watch is the libraries. But the thread sanitizer must see every lock, those of tests too.
if(HONE_SANITIZE)
  set(HONE_TEST_OPTIONS -O0 -g0)
endif()
if(HONE_SANITIZE AND NOT HONE_SANITIZE MATCHES "thread")
  set(HONE_TESTS_UNWATCHED ON)
endif()

if(HONE_PCH)
  set(common <algorithm> <array> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <optional> <set>
    <span> <string> <string_view> <utility> <variant> <vector> ${CMAKE_SOURCE_DIR}/src/base/json.h)
  add_library(hone_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
  target_link_libraries(hone_pch PRIVATE hone_options fmt::fmt)
  target_precompile_headers(hone_pch PRIVATE ${common} <fmt/format.h>)
  if(HONE_TESTS)
    add_library(hone_pch_test OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
    set_target_properties(hone_pch_test PROPERTIES HONE_UNWATCHED "${HONE_TESTS_UNWATCHED}")
    target_link_libraries(hone_pch_test PRIVATE hone_options GTest::gtest)
    target_compile_options(hone_pch_test PRIVATE ${HONE_TEST_OPTIONS})
    target_precompile_headers(hone_pch_test PRIVATE ${common} <gtest/gtest.h>)
  endif()
endif()

# hone_precompiled(TARGET hone_pch|hone_pch_test): lets the target use them.
function(hone_precompiled target from)
  if(HONE_PCH)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()
