# What holds for every target: language, output folders, sanitizers, warnings.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

if("fuzz" IN_LIST BRAINTRACE_TESTS AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(STATUS "fuzz tests need Clang (libFuzzer); this build uses ${CMAKE_CXX_COMPILER_ID} and leaves them out")
  list(REMOVE_ITEM BRAINTRACE_TESTS fuzz)
endif()

if(BRAINTRACE_SANITIZE)
  add_compile_options(-fsanitize=${BRAINTRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BRAINTRACE_SANITIZE})
  find_program(gold ld.gold)
  if(gold) # instrumented programs are large; this linker takes half the time
    add_link_options(-fuse-ld=gold)
  endif()
  # While it instruments them, GCC 12 cannot evaluate null tests of function pointers in consteval functions.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND BRAINTRACE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
  endif()
  # The sanitizers of GCC 12 and Clang 14 need room at fixed addresses, which newer kernels may hand out at random;
  # tests then start through this command, where it is permitted.
  execute_process(COMMAND setarch -R true RESULT_VARIABLE refused OUTPUT_QUIET ERROR_QUIET)
  if(refused EQUAL 0)
    set(bt_launcher setarch -R)
  endif()
endif()
if("fuzz" IN_LIST BRAINTRACE_TESTS)
  add_compile_options(-fsanitize=fuzzer-no-link
                      -fsanitize-coverage-allowlist=${PROJECT_SOURCE_DIR}/tests/fuzz/guides.txt)
endif()

if(BRAINTRACE_PORTABLE) # Debian has {fmt} as a shared library or as headers
  add_compile_definitions(FMT_HEADER_ONLY=1)
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--as-needed)
endif()

# GCC 12 sees overlapping or endless copies in every "literal" + std::string, and elements beyond the end of vectors.
function(bt_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra
                                           "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>"
                                           $<$<BOOL:${BRAINTRACE_WERROR}>:-Werror>)
endfunction()

# One compilation for the sources of each folder, when BRAINTRACE_MERGE asks for it: what nearly all files include is read,
# and what they instantiate is compiled, once for all of them. So names in unnamed namespaces differ within a folder. GCC takes
# what is in them for part of a header. With a number, each folder becomes so many compilations: the last ones of a build share
# the cores.
function(bt_merge target)
  if(NOT BRAINTRACE_MERGE)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/.*\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "^${PROJECT_BINARY_DIR}/")
  set(part 1)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(REPLACE "/" "_" group ${folder})
    if(ARGN)
      math(EXPR part "${part} % ${ARGN} + 1")
      string(APPEND group "_${part}")
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# For code whose own speed matters little, such as tracing, reports and commands: lightly optimized, which compiles in two thirds
# of the time.
function(bt_fast_build target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# For code around the library, whose own speed does not matter: not optimized, which compiles in half the time. Not for what
# is timed: of an inline function that several files hold, the linker takes the copy of the first, also for the library.
function(bt_quick_build target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
endfunction()
