# SPDX-License-Identifier: Apache-2.0
include_guard()

#[=[
tfaot_add_room(<room> [TOOLS] SOURCES <file>... [USES <room>...] [LIBRARIES <target>...] [PUBLIC_LIBRARIES <target>...]
               [FOLDERS <folder>...] [DEFINITIONS <definition>...])
Creates the static library tfaot_<room> with public headers under include/. USES names other rooms; FOLDERS and DEFINITIONS are for
its own sources. A release optimises little, but for the rooms that call a model's code.
With TOOLS, tfaot_<room> is another name of the library tfaot_tools, whose rooms are compiled together: each room alone would read the
same headers and compile the same templates again. With fuzzers each room is by itself, since they watch only those that they test.
#]=]
function(tfaot_add_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOOLS" "" "SOURCES;USES;LIBRARIES;PUBLIC_LIBRARIES;FOLDERS;DEFINITIONS")
  set(target tfaot_${room})
  if(arg_TOOLS AND NOT TFAOT_BUILD_FUZZERS)
    set(target tfaot_tools)
    if(NOT TARGET tfaot_tools)
      _tfaot_add_room_library(tfaot_tools)
      tfaot_optimise_little(tfaot_tools)
      # In a few parts: who changes one source waits for a part.
      set_target_properties(tfaot_tools PROPERTIES UNITY_BUILD_BATCH_SIZE 30)
    endif()
    add_library(tfaot_${room} ALIAS tfaot_tools)
  else()
    _tfaot_add_room_library(${target})
    if(NOT "runtime" IN_LIST arg_USES)
      tfaot_optimise_little(${target})
    endif()
  endif()
  target_sources(${target} PRIVATE ${arg_SOURCES})
  target_include_directories(${target} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include" PRIVATE ${arg_FOLDERS})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  set(used "")
  foreach(other IN LISTS arg_USES)
    get_target_property(library tfaot_${other} ALIASED_TARGET)
    if(NOT library STREQUAL target)
      list(APPEND used tfaot_${other})
    endif()
  endforeach()
  target_link_libraries(${target} PUBLIC ${used} ${arg_PUBLIC_LIBRARIES} PRIVATE ${arg_LIBRARIES})
endfunction()

function(_tfaot_add_room_library target)
  add_library(${target} STATIC)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  tfaot_target_warnings(${target})
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
