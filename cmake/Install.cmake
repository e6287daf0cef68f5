# Public headers, libraries, find_package(braintrace CONFIG) and a pkg-config file.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/braintrace)
install(TARGETS braintrace ${bt_verify} EXPORT braintrace
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tools/public_headers.txt)
file(STRINGS tools/public_headers.txt public_headers REGEX "^braintrace/")
foreach(header ${public_headers})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(EXPORT braintrace NAMESPACE braintrace:: FILE braintraceTargets.cmake DESTINATION ${package_dir})

configure_package_config_file(cmake/braintraceConfig.cmake.in braintraceConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(braintraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/braintraceConfig.cmake ${PROJECT_BINARY_DIR}/braintraceConfigVersion.cmake
        DESTINATION ${package_dir})

# Paths are relative to the file itself, so the prefix may be chosen, or moved, at install time.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
           BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig OUTPUT_VARIABLE pc_to_prefix)
configure_file(cmake/braintrace.pc.in braintrace.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/braintrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
