# Style sheets and scripts of pages, and C and CUDA that emitted code is made of, are files beside the code that writes them:
# FOLDER/NAME.css becomes the function `std::string_view NAME_css()` of namespace braintrace, FOLDER/NAME.js
# `NAME_script()`, FOLDER/NAME.c `NAME_c()`, FOLDER/NAME.cu `NAME_cu()`, which a header or source declares.
#
#   bt_embed(TARGET FILE…)                       generates one source per file and adds it to the target
#   cmake -DIN=FILE -DOUT=FILE -P Embed.cmake    writes such a source
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_path(GET OUT STEM function)
  file(READ ${IN} text)
  if(text MATCHES "\\)embedded\"")
    message(FATAL_ERROR "${IN}: holds the mark that ends the text in C++")
  endif()
  file(WRITE ${OUT} "// Written by the build.\n#include <string_view>\n\nnamespace braintrace {\n"
                    "std::string_view ${function}() {\n  return R\"embedded(\n${text})embedded\";\n}\n}\n")
  return()
endif()

set(bt_embed_script ${CMAKE_CURRENT_LIST_FILE})
function(bt_embed target)
  foreach(file ${ARGN})
    cmake_path(GET file STEM name)
    cmake_path(GET file EXTENSION LAST_ONLY kind)
    string(REPLACE ".js" "script" kind ${kind})
    string(REPLACE ".css" "css" kind ${kind})
    string(REPLACE ".c" "c" kind ${kind})
    set(source ${PROJECT_BINARY_DIR}/embedded/${name}_${kind}.cpp)
    add_custom_command(OUTPUT ${source} DEPENDS ${file} ${bt_embed_script}
                       COMMAND ${CMAKE_COMMAND} -DIN=${file} -DOUT=${source} -P ${bt_embed_script})
    target_sources(${target} PRIVATE ${source})
    set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()
