# `cmake --install build/release --prefix P` and the Debian package (`./dev package`, docs/install.md). Only the program must
# have been built: manual pages and completion are made by it, while it is installed.
include(GNUInstallDirs)
install(TARGETS hone RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(HONE_CUDA_LIBRARY)
  # Where the program looks for it (src/engine/device/device.h); only where it was built.
  install(PROGRAMS ${HONE_CUDA_LIBRARY} DESTINATION lib/hone OPTIONAL)
endif()

# What commands find as recipes/NAME from any folder (src/app/installed/shipped_files.h).
set(share ${CMAKE_INSTALL_DATADIR}/hone)
install(DIRECTORY recipes comparisons DESTINATION ${share} FILES_MATCHING PATTERN "*.toml" PATTERN "*.md")
install(DIRECTORY examples DESTINATION ${share}
  PATTERN "*.cpp" EXCLUDE PATTERN "CMakeLists.txt" EXCLUDE PATTERN "tour" EXCLUDE PATTERN "__pycache__" EXCLUDE)
if(EXISTS ${CMAKE_SOURCE_DIR}/python)
  install(DIRECTORY python DESTINATION ${share}
    PATTERN "__pycache__" EXCLUDE PATTERN "*_test.py" EXCLUDE PATTERN "tests" EXCLUDE)
endif()

install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(CODE "
  set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  set(program \"\${root}/${CMAKE_INSTALL_BINDIR}/hone\")
  function(made_by_hone out)
    execute_process(COMMAND \"\${program}\" \${ARGN} OUTPUT_FILE \"\${out}\" RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR \"hone \${ARGN} failed; build the program first: ./dev build release hone\")
    endif()
    message(STATUS \"Installing: \${out}\")
  endfunction()
  set(bash \"\${root}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions\")
  set(zsh \"\${root}/${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions\")
  set(man \"\${root}/${CMAKE_INSTALL_MANDIR}/man1\")
  file(MAKE_DIRECTORY \"\${bash}\" \"\${zsh}\" \"\${man}\")
  made_by_hone(\"\${bash}/hone\" completion bash)
  made_by_hone(\"\${zsh}/_hone\" completion zsh)
  file(GLOB old \"\${man}/hone.1*\" \"\${man}/hone-*.1*\")
  if(old)
    file(REMOVE \${old})
  endif()
  execute_process(COMMAND \"\${program}\" man --out \"\${man}\" RESULT_VARIABLE failed)
  file(GLOB pages \"\${man}/hone.1\" \"\${man}/hone-*.1\")
  execute_process(COMMAND gzip -9n \${pages})
")

# The package. Which libraries it needs is found out by dpkg-shlibdeps.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hone)
set(CPACK_PACKAGE_VENDOR "The Hone authors")
set(CPACK_PACKAGE_CONTACT "The Hone authors <hone@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "trains language-model agents to use tools")
set(CPACK_PACKAGE_DESCRIPTION "Imitation of conversations, simulated APIs learned from recorded calls,
reinforcement learning with credit for each call, evaluation with intervals,
a dashboard and a server, in one program that needs no GPU.")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The sandbox that agents' code runs in; tools and rewards in Python.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "bubblewrap, python3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nodejs, npm")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/HonePackage.cmake)
include(CPack)
