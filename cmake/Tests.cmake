# Test suites, chosen by BRAINTRACE_TESTS.
#
#   unit      one binary per layer (tests beside their sources) and one per folder of tests/ (tests across layers);
#             clang-tidy over what changed last
#   long      those of them that run many whole networks, for optimized builds
#   threads   tests/threads, meant for the thread sanitizer
#   project   what surrounds the code: layers, install, header weight, command line, examples, hostile use
#   fuzz      tests/fuzz, run for a fixed number of inputs
#
# A folder of tests/ with its own CMakeLists.txt builds itself.
set(project_folders fuzz hostile install project soak threads)

if(BRAINTRACE_TESTS MATCHES "unit|long|threads")
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  include(GoogleTest)
endif()

# Headers of nearly every test, precompiled once.
if(BRAINTRACE_PRECOMPILE)
  file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cpp "int main() {}\n")
  add_executable(test_headers ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(test_headers PRIVATE braintrace GTest::gtest)
  target_compile_definitions(test_headers PRIVATE BRAINTRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_precompile_headers(test_headers PRIVATE <gtest/gtest.h> braintrace/ops/math.h braintrace/ops/move.h)
  bt_warnings(test_headers)
  bt_quick_build(test_headers)
endif()

function(bt_test name)
  add_executable(test_${name} ${ARGN} ${PROJECT_SOURCE_DIR}/tests/support/locale.cpp)
  if(BRAINTRACE_PRECOMPILE)
    target_precompile_headers(test_${name} REUSE_FROM test_headers)
  endif()
  target_link_libraries(test_${name} PRIVATE ${bt_verify} braintrace GTest::gtest_main
                                             $<TARGET_NAME_IF_EXISTS:rapidcheck>)
  target_compile_definitions(test_${name} PRIVATE BRAINTRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  bt_warnings(test_${name})
  bt_quick_build(test_${name})
  add_test(NAME ${name} COMMAND ${bt_launcher} $<TARGET_FILE:test_${name}>)
  # The interpreter is the judge; tests of compiled code ask for it by name.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT
                       "BRAINTRACE_BACKEND=reference;BRAINTRACE_CACHE_DIR=${PROJECT_BINARY_DIR}/compiled")
endfunction()

# The tests of each folder below tests/ as one program.
function(bt_suites)
  foreach(suite ${ARGN})
    file(GLOB_RECURSE suite_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${suite}/*.cpp)
    if(suite_tests)
      bt_test(all_${suite} ${suite_tests})
    endif()
  endforeach()
endfunction()

# The tests beside the sources of each layer as one program.
function(bt_layers)
  foreach(layer ${ARGN})
    file(GLOB_RECURSE layer_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/braintrace/${layer}/*_test.cpp)
    if(layer_tests)
      bt_test(${layer} ${layer_tests})
    endif()
  endforeach()
endfunction()

set(long_suites algorithms golden kit oracle parallel transforms zoo)
set(long_layers algorithms tasks train)
if("long" IN_LIST BRAINTRACE_TESTS)
  bt_suites(${long_suites})
  bt_layers(${long_layers})
  add_subdirectory(tests/soak)
endif()

if("unit" IN_LIST BRAINTRACE_TESTS)
  file(GLOB layers RELATIVE ${PROJECT_SOURCE_DIR}/braintrace CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/braintrace/*)
  list(REMOVE_ITEM layers ${long_layers})
  bt_layers(${layers})
  file(GLOB suites RELATIVE ${PROJECT_SOURCE_DIR}/tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*)
  list(REMOVE_ITEM suites ${project_folders} ${long_suites})
  bt_suites(${suites})
  # Compiled code is held to the samples and random programs of other suites.
  target_sources(test_all_codegen PRIVATE tests/ops/laws.cpp tests/transforms/random_program.cpp
                                          tests/transforms/words.cpp)
  target_sources(test_all_cuda PRIVATE tests/codegen/agreement.cpp tests/codegen/learning_jobs.cpp tests/codegen/op_jobs.cpp
                                       tests/codegen/random_job.cpp tests/ops/laws.cpp
                                       tests/transforms/random_program.cpp tests/transforms/words.cpp)
  set_tests_properties(all_codegen all_cuda PROPERTIES COST 100) # wait for the C compiler: first, beside the others
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang") # clang-tidy reads the commands of this build
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    add_test(NAME tidy COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy.py ${PROJECT_BINARY_DIR} --jobs 1)
    set_tests_properties(tidy PROPERTIES COST 90)
  endif()
endif()

# What machines read is the same in every language: suites that write and read text run once more where numbers have a
# decimal comma. The locale is made in the build folder, from the files of Debian's package `locales`. Messages of the
# system stay English, which tests read; the C library itself leaks a few bytes with such a folder.
if("unit" IN_LIST BRAINTRACE_TESTS)
  set(comma_locale ${PROJECT_BINARY_DIR}/locale/de_DE.UTF-8)
  if(NOT EXISTS ${comma_locale}/LC_NUMERIC)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/locale)
    execute_process(COMMAND localedef -i de_DE -f UTF-8 ${comma_locale} OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(EXISTS ${comma_locale}/LC_NUMERIC)
    foreach(suite base ir io export data advise all_codegen)
      if(TARGET test_${suite})
        set(only "*")
        if(suite STREQUAL "all_codegen") # the others write no further kinds of text
          set(only "EmittedText.*:CompiledFiles.*:CompiledFunctions.*")
        endif()
        add_test(NAME comma_${suite} COMMAND ${bt_launcher} $<TARGET_FILE:test_${suite}> --gtest_filter=${only})
        set_tests_properties(comma_${suite} PROPERTIES DEPENDS ${suite} ENVIRONMENT
                             "BRAINTRACE_BACKEND=reference;BRAINTRACE_CACHE_DIR=${PROJECT_BINARY_DIR}/compiled;\
LOCPATH=${PROJECT_BINARY_DIR}/locale;BRAINTRACE_TEST_LOCALE=de_DE.UTF-8;LANGUAGE=en;ASAN_OPTIONS=detect_leaks=0")
      endif()
    endforeach()
  else()
    message(WARNING "localedef cannot make de_DE.UTF-8 (package locales): no test with a decimal comma.")
  endif()
endif()

if("threads" IN_LIST BRAINTRACE_TESTS)
  file(GLOB thread_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/threads/*.cpp)
  bt_test(threads ${thread_tests})
endif()

if("project" IN_LIST BRAINTRACE_TESTS)
  add_subdirectory(tests/project)
  add_subdirectory(tests/hostile)
  add_subdirectory(tests/install)
endif()
if("fuzz" IN_LIST BRAINTRACE_TESTS)
  add_subdirectory(tests/fuzz)
endif()
