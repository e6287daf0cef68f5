# `cpack` writes what `cmake --install` installs as a .tar.gz and, if the tools for it are installed, as a .deb. Releases are
# made by `cmake --workflow --preset package`, whose command needs nothing but the C library.
set(CPACK_PACKAGE_NAME braintrace)
set(CPACK_PACKAGE_VENDOR "BrainTrace")
set(CPACK_PACKAGE_CONTACT "BrainTrace maintainers <maintainers@braintrace.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "online learning in recurrent and spiking networks with eligibility traces")
set(CPACK_PACKAGE_DESCRIPTION "Trains recurrent and spiking networks step by step: gradients are carried forward in
eligibility traces, so memory does not grow with the length of a sequence. This package has the command braintrace, the
C++20 library with its headers, manual pages and shell completion.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME braintrace-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(CPACK_GENERATOR TGZ)
find_program(dpkg_shlibdeps dpkg-shlibdeps)
find_program(file_utility file)
mark_as_advanced(dpkg_shlibdeps file_utility)
if(dpkg_shlibdeps AND file_utility)
  list(APPEND CPACK_GENERATOR DEB)
else()
  message(STATUS "No .deb will be made: it needs Debian's packages dpkg-dev and file.")
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
# With a C compiler, models run as machine code; your own programs need the rest.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc, libc6-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, libfmt-dev, nlohmann-json3-dev, zlib1g-dev")

install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
include(CPack)
