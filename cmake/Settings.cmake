# What holds for every target: language, output folders, sanitizers, warnings.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
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
endif()
if("fuzz" IN_LIST BRAINTRACE_TESTS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

function(bt_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${BRAINTRACE_WERROR}>:-Werror>)
endfunction()
