# Variables: BUILD CONFIG COMPILER VERSION OUTSIDE WORK.
function(check)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(code)
    message(FATAL_ERROR "${ARGN}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
check(${CMAKE_COMMAND} --install ${BUILD} --config "${CONFIG}" --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix) # the installed tree may be moved

message(STATUS "private headers stay at home")
file(GLOB_RECURSE private ${WORK}/prefix/include/braintrace/codegen/*.h ${WORK}/prefix/include/braintrace/backends/*.h)
if(private)
  message(FATAL_ERROR "installed: ${private}")
endif()

message(STATUS "find_package")
check(${CMAKE_COMMAND} -S ${OUTSIDE} -B ${WORK}/build -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
      -DCMAKE_PREFIX_PATH=${WORK}/prefix -DWANTED=${VERSION})
check(${CMAKE_COMMAND} --build ${WORK}/build)
check(${WORK}/build/outside)
check(${WORK}/build/executor)

message(STATUS "find_package rejects a version that does not fit")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${OUTSIDE} -B ${WORK}/refused -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
                        -DCMAKE_PREFIX_PATH=${WORK}/prefix -DWANTED=99.0 RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
if(NOT code)
  message(FATAL_ERROR "version 99.0 was accepted")
endif()

message(STATUS "pkg-config")
find_program(pkg_config pkg-config REQUIRED)
file(GLOB_RECURSE pc ${WORK}/prefix/braintrace.pc)
cmake_path(GET pc PARENT_PATH pc_dir)
check(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_dir} ${pkg_config} --exact-version=${VERSION} braintrace)
check(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_dir} ${pkg_config} --static --cflags --libs braintrace)
separate_arguments(flags UNIX_COMMAND "${out}")
check(${COMPILER} ${OUTSIDE}/main.cpp -o ${WORK}/by_pkg_config ${flags})
check(${WORK}/by_pkg_config)

file(GLOB_RECURSE cli ${WORK}/prefix/bin/braintrace)
check(${cli} info)
file(REMOVE_RECURSE ${WORK})
