// SPDX-License-Identifier: Apache-2.0
#include "braintrace/export/export.h"

#include <fmt/format.h>

#include "braintrace/export/program.h"

namespace braintrace {

namespace {

std::string cmake_text(const std::string& name) {
  return fmt::format(R"(cmake_minimum_required(VERSION 3.13)
project({0} LANGUAGES C)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# A name of two words: CMake keeps some names, such as test, to itself, and m is the C library's.
add_library({0}_model STATIC model.c)
target_include_directories({0}_model PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options({0}_model PRIVATE -Wall -Wextra -pedantic)
  # 64-bit integers wrap; places in the arena hold values of several types, one after the other.
  target_compile_options({0}_model PRIVATE -fwrapv -fno-strict-aliasing)
endif()

add_executable({0}_test test_main.c)
target_link_libraries({0}_test PRIVATE {0}_model)
if(UNIX)
  target_link_libraries({0}_model PUBLIC m)
endif()
enable_testing()
add_test(NAME {0}_test COMMAND {0}_test)
)",
                     name);
}

}  // namespace

Exported export_model(Module& model, const Type& input, const ExportOptions& options) {
  const exporting::LearningProgram program = exporting::trace_learning(model, input, options);
  const exporting::ModelText       text    = exporting::model_text(program, options);
  Exported                         out;
  out.sizes  = text.sizes;
  out.files  = {{"model.h", text.header},
                {"model.c", text.source},
                {"test_data.h", exporting::test_data_text(program, options)},
                {"test_main.c", exporting::test_main_text(program, options)},
                {"CMakeLists.txt", cmake_text(exporting::identifier(options.name))}};
  out.name   = exporting::identifier(options.name);
  out.input  = program.x;
  out.output = program.y;
  out.target = program.target;
  for (const exporting::Slot& s : program.slots)
    if (s.is_written) out.states.push_back({s.path, s.name, s.initial.type(), s.label});
  return out;
}

}  // namespace braintrace
