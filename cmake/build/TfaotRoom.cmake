# SPDX-License-Identifier: Apache-2.0
include_guard()

#[=[
tfaot_add_room(<room> SOURCES <file>... [USES <room>...] [LIBRARIES <target>...] [PUBLIC_LIBRARIES <target>...])
Creates the static library tfaot_<room> with public headers under include/. USES names other rooms. A release optimises little,
but for the rooms that call a model's code.
#]=]
function(tfaot_add_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;LIBRARIES;PUBLIC_LIBRARIES")
  add_library(tfaot_${room} STATIC ${arg_SOURCES})
  target_include_directories(tfaot_${room} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include")
  list(TRANSFORM arg_USES PREPEND tfaot_ OUTPUT_VARIABLE used)
  target_link_libraries(tfaot_${room} PUBLIC ${used} ${arg_PUBLIC_LIBRARIES}
                        PRIVATE ${arg_LIBRARIES})
  target_compile_features(tfaot_${room} PUBLIC cxx_std_20)
  set_target_properties(tfaot_${room} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  tfaot_target_warnings(tfaot_${room})
  if(NOT "runtime" IN_LIST arg_USES)
    tfaot_optimise_little(tfaot_${room})
  endif()
endfunction()

# tfaot_optimise_little(<target>): for code that waits for the engine and for files. -Og compiles in 0.6 of the time of -O1.
function(tfaot_optimise_little target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

#[=[
tfaot_embed_texts(<header> FOLDER <folder> FILES <file>... [SUFFIX <suffix>])
Fills <header>.in with texts: @NAME@ with the text of <folder>/<file><suffix>, where NAME is <file> as an identifier. Editing a text
makes CMake configure again.
#]=]
function(tfaot_embed_texts header)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;SUFFIX" "FILES")
  foreach(name IN LISTS arg_FILES)
    set(text_file "${PROJECT_SOURCE_DIR}/${arg_FOLDER}/${name}${arg_SUFFIX}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${text_file}")
    string(MAKE_C_IDENTIFIER "${name}" variable)
    file(READ "${text_file}" ${variable})
  endforeach()
  configure_file("${header}.in" "${header}" @ONLY)
endfunction()
