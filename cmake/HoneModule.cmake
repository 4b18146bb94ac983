# Files of a module that are compiled as one: the headers that they share are read once, and what templates make of them is made
# once. For that, names in unnamed namespaces are unique in their module (docs/decisions/0026-files-compiled-together.md). Other
# presets (debug, clang's) compile each file by itself, and would notice an include that is missing.
set(HONE_TOGETHER 1 CACHE STRING "How many files of a module to compile as one; 0: all, which finds every name that is there twice")

# hone_compiled(TARGET [QUICK] LINK libraries...): how the files of a library are compiled.
function(hone_compiled target)
  cmake_parse_arguments(ARG "QUICK" "" "LINK" ${ARGN})
  target_link_libraries(${target} PUBLIC hone_options PRIVATE ${ARG_LINK})
  hone_precompiled(${target} hone_pch)
  if(ARG_QUICK)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(NOT HONE_TOGETHER EQUAL 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${HONE_TOGETHER})
  endif()
endfunction()

# hone_module(NAME [QUICK] [DEVICE_TESTS] [QUICK_FILES REGEX] [LINK libraries...] [TEST_MODULES modules...]): the static
# library of src/NAME from every .cpp below that folder, and, from every *_test.cpp, its test program hone_NAME_test. It is linked with the
# modules that src/LAYERS lets it include (scripts/check_layers.py checks that it includes no other) and with LINK; its
# tests also with TEST_MODULES, which tests/support needs. DEVICE_TESTS: those named Device... have the label NAME-device. QUICK is for modules without inner loops: -O1 compiles a
# quarter faster, and what they compute does not depend on it. QUICK_FILES is for those of a module that are like that.
function(hone_module name)
  cmake_parse_arguments(ARG "QUICK;DEVICE_TESTS" "QUICK_FILES" "LINK;TEST_MODULES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  hone_libraries(below ${HONE_BELOW_${name}})
  set(link ${below} fmt::fmt ${ARG_LINK})

  set(level)
  if(ARG_QUICK)
    set(level QUICK)
  elseif(ARG_QUICK_FILES)
    set(quick ${sources})
    list(FILTER quick INCLUDE REGEX "${ARG_QUICK_FILES}")
    list(FILTER sources EXCLUDE REGEX "${ARG_QUICK_FILES}")
    add_library(hone_${name}_quick OBJECT ${quick})
    hone_compiled(hone_${name}_quick QUICK LINK ${link})
    list(APPEND sources $<TARGET_OBJECTS:hone_${name}_quick>)
  endif()
  add_library(hone_${name} STATIC ${sources})
  hone_compiled(hone_${name} ${level} LINK ${link})

  if(HONE_TESTS AND tests)
    set(device)
    if(ARG_DEVICE_TESTS)
      set(device DEVICE_TESTS)
    endif()
    hone_test(hone_${name}_test ${device} SOURCES ${tests} MODULES ${name} ${ARG_TEST_MODULES} LINK ${ARG_LINK} LABELS ${name})
  endif()
endfunction()

# hone_test(NAME [DEVICE_TESTS] SOURCES ... [MODULES ...] [LINK ...] [LABELS ...]): a GoogleTest program, one ctest entry per
# TEST.
function(hone_test name)
  cmake_parse_arguments(ARG "DEVICE_TESTS" "" "SOURCES;MODULES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES HONE_UNWATCHED "${HONE_TESTS_UNWATCHED}")
  hone_libraries(modules ${ARG_MODULES})
  # What tests share (tests/support) stands on tools; the tests of base do without.
  set(support)
  if(NOT ARG_MODULES STREQUAL "base")
    set(support hone_test_support)
  endif()
  target_link_libraries(${name} PRIVATE ${support} ${modules} ${ARG_LINK} fmt::fmt hone_options GTest::gtest GTest::gtest_main)
  hone_precompiled(${name} hone_pch_test)
  target_compile_options(${name} PRIVATE ${HONE_TEST_OPTIONS})
  target_compile_definitions(${name} PRIVATE
    HONE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" HONE_BINARY="${CMAKE_BINARY_DIR}/hone")
  if(HONE_SANITIZE)
    target_compile_definitions(${name} PRIVATE HONE_SANITIZED)  # tests/support/patience.h
  endif()
  # Tests compare with what the processor computes, also where there is a GPU; those of devices say which one they want, and
  # find it in the build. One value per property: gtest_discover_tests takes lists apart.
  set(properties TIMEOUT 300 ENVIRONMENT HONE_DEVICE=cpu)
  if(HONE_CUDA_LIBRARY)
    list(APPEND properties ENVIRONMENT_MODIFICATION HONE_CUDA_LIBRARY=set:${HONE_CUDA_LIBRARY})
  endif()
  set(others)
  if(ARG_DEVICE_TESTS)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_FILTER "Device*"
      PROPERTIES ${properties} LABELS "${ARG_LABELS}-device")
    # Those of the whole engine a second time, on the device that needs none (tests/support/tested_device.h).
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_FILTER "Engine.*:Sampler.*:Lora.*" TEST_PREFIX "OnReference."
      PROPERTIES TIMEOUT 300 ENVIRONMENT HONE_TEST_DEVICE=reference LABELS "${ARG_LABELS}-device")
    set(others TEST_FILTER "-Device*")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST ${others} PROPERTIES ${properties} LABELS "${ARG_LABELS}")
endfunction()
