# Run by cpack once all is laid out: what only a Debian package has.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
# The Python package is where Debian's python3 looks, and the program's copy leads there.
if(EXISTS ${usr}/share/hone/python/hone)
  file(MAKE_DIRECTORY ${usr}/lib/python3/dist-packages)
  file(COPY ${usr}/share/hone/python/hone DESTINATION ${usr}/lib/python3/dist-packages)
  file(REMOVE_RECURSE ${usr}/share/hone/python/hone)
  file(CREATE_LINK ../../../lib/python3/dist-packages/hone ${usr}/share/hone/python/hone SYMBOLIC)
endif()
# Names that Debian's policy wants.
file(RENAME ${usr}/share/doc/hone/LICENSE ${usr}/share/doc/hone/copyright)
file(RENAME ${usr}/share/doc/hone/CHANGELOG.md ${usr}/share/doc/hone/changelog)
execute_process(COMMAND gzip -9nf ${usr}/share/doc/hone/changelog)
