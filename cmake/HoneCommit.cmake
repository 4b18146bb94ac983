# Run by every build (src/app/CMakeLists.txt): writes OUT, a header with the commit of SOURCE, and only when it is another one
# than before: a build after a commit compiles one small file and links. Without git, or outside of a checkout,
# cmake/commit.txt says it where `git archive` wrote it there; else the commit stays unknown.
set(commit "")
set(changed false)
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${git} -C ${SOURCE} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE status ERROR_QUIET)
  if(commit AND NOT status STREQUAL "")
    set(changed true)
  endif()
else()
  file(READ ${SOURCE}/cmake/commit.txt text)
  string(REGEX MATCH "[0-9a-f]+" text "${text}")
  string(LENGTH "${text}" length)
  if(length EQUAL 40)
    string(SUBSTRING ${text} 0 12 commit)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once\n\n#define HONE_COMMIT \"@commit@\"\n#define HONE_CHANGED @changed@\n" @ONLY)
