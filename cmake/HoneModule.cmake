# hone_module(NAME [QUICK] [QUICK_FILES REGEX] LINK libraries... [TEST_LINK libraries...]): the static library of src/NAME from every .cpp in that folder,
# and, from every *_test.cpp, its test program hone_NAME_test. Which modules may include which is
# written in src/LAYERS and checked by scripts/check_layers.py. QUICK is for modules without inner loops: -O1 compiles a
# quarter faster, and what they compute does not depend on it. QUICK_FILES is for those of a module that are like that.
function(hone_module name)
  cmake_parse_arguments(ARG "QUICK" "QUICK_FILES" "LINK;TEST_LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  add_library(hone_${name} STATIC ${sources})
  target_link_libraries(hone_${name} PUBLIC hone_options PRIVATE ${ARG_LINK})
  hone_precompiled(hone_${name} hone_pch)
  if(ARG_QUICK)
    target_compile_options(hone_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(ARG_QUICK_FILES)
    list(FILTER sources INCLUDE REGEX "${ARG_QUICK_FILES}")
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
  endif()

  if(HONE_TESTS AND tests)
    hone_test(hone_${name}_test SOURCES ${tests} LINK ${ARG_TEST_LINK} hone_${name} ${ARG_LINK}
      LABELS ${name})
  endif()
endfunction()

# hone_test(NAME SOURCES ... LINK ... [LABELS ...]): a GoogleTest program, one ctest entry per TEST.
function(hone_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} hone_options GTest::gtest GTest::gtest_main)
  hone_precompiled(${name} hone_pch_test)
  target_compile_options(${name} PRIVATE ${HONE_TEST_OPTIONS})
  target_compile_definitions(${name} PRIVATE
    HONE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" HONE_BINARY="${CMAKE_BINARY_DIR}/hone")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
    PROPERTIES TIMEOUT 300 LABELS "${ARG_LABELS}")
endfunction()
