# SPDX-License-Identifier: Apache-2.0
#[=[
## tfaot_add_model

Compiles a model during the build and makes it a library.

### Signature

    tfaot_add_model(<target> CONFIG <file>
                    [BATCH_SIZES <size>...] [CPU_LEVELS <level>...]
                    [NAMESPACE <namespace>] [NAME <name>] [VERSION <version>]
                    [HEADERS self_contained | cmssw] [ROWS alone | coupled]
                    [OUTPUT_DIR <folder>] [SHARED | STATIC] [TUNE])

`<target>` is a name of your choice, or the C++ name of the model, such as `tfaot_model::test`.

### Keywords

| Keyword | Default | Meaning |
|---|---|---|
| `CONFIG` | required | The `aot_config.yaml`, relative to the current source folder. |
| `BATCH_SIZES` | the config's `compilation.batch_sizes` | Batch sizes to compile. |
| `CPU_LEVELS` | the config's `compilation.cpu_levels` | CPU levels or CPUs to compile for, such as `x86-64-v3` or `znver4` (config.md). |
| `NAMESPACE` | the config's `compilation.namespace`, else `tfaot_model` | C++ namespace of the model's class. |
| `NAME` | the config's `model.name` | It must equal the config's. Required in a project that builds tfaot itself: when CMake runs, tfaot is not built yet, so it cannot read the config. |
| `HEADERS` | the config's `compilation.headers`, else `self_contained` | `cmssw`: the headers are for CMSSW's own PhysicsTools/TensorFlowAOT; their users need that and TensorFlow's XLA runtime (cmssw.md). |
| `VERSION` | the config's `model.version` | It must equal the config's. Required like `NAME`, but only with `SHARED`. |
| `ROWS` | the config's `compilation.rows`, else `alone` | `coupled`: rows of a batch depend on each other, so only batches of the compiled sizes run (config.md). |
| `OUTPUT_DIR` | `<target>.tfaot/package` in the current build folder | The package tree, relative to the current build folder. |
| `STATIC` | on | Make a static library. |
| `TUNE` | off | Run `tfaot tune` during the build: it measures the compiled batch sizes on this machine, and batches are composed by these costs. The package then differs from build to build. |
| `SHARED` | off | Make a shared library, which contains code and weights once for all its users. Its version, also in its SONAME, is the config's `model.version`. |

### Creates

- The library `<target>`, and an alias with the C++ name of the model, such as `tfaot_model::test`.
  Link either. Users get the include folder of `tfaot-model-<name>/model.h` (`_` in the name becomes
  `-`) and the runtime. If `<target>` is the C++ name, the targets have this name with `_` instead
  of `::`.
- The target `<target>_compile`, which makes the package tree.

`install(TARGETS ... EXPORT)` takes the library, and libraries that link it: see
[Installing what links a model](#installing-what-links-a-model).

The model is compiled again when the config, any file of the model, the keywords or the toolkit
change. Its users are compiled or linked again only if the files they use have changed.

### Example

    find_package(tfaot REQUIRED)
    tfaot_add_model(tagger CONFIG models/tagger/aot_config.yaml BATCH_SIZES 1 16 64)
    add_library(plugin MODULE plugin.cc)
    target_link_libraries(plugin PRIVATE tfaot_model::tagger)
#]=]
function(tfaot_add_model target)
  set(options SHARED STATIC TUNE)
  set(values CONFIG HEADERS NAME NAMESPACE OUTPUT_DIR ROWS VERSION)
  set(lists BATCH_SIZES CPU_LEVELS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "${options}" "${values}" "${lists}")
  _tfaot_check_args(tfaot_add_model "${options};${values};${lists}" "${arg_UNPARSED_ARGUMENTS}" "${arg_BATCH_SIZES};${arg_CPU_LEVELS}"
                    "${arg_KEYWORDS_MISSING_VALUES}")
  _tfaot_require(tfaot_add_model CONFIG "${arg_CONFIG}")
  if(arg_SHARED AND arg_STATIC)
    message(FATAL_ERROR "tfaot_add_model: SHARED and STATIC exclude each other; give only one")
  endif()
  if(DEFINED arg_HEADERS AND NOT arg_HEADERS MATCHES "^(self_contained|cmssw)$")
    message(FATAL_ERROR "tfaot_add_model: HEADERS '${arg_HEADERS}' is neither self_contained nor cmssw")
  endif()
  if(DEFINED arg_ROWS AND NOT arg_ROWS MATCHES "^(alone|coupled)$")
    message(FATAL_ERROR "tfaot_add_model: ROWS '${arg_ROWS}' is neither alone nor coupled")
  endif()
  _tfaot_check_toolkit(tfaot_add_model)
  _tfaot_absolute_path(arg_CONFIG "${CMAKE_CURRENT_SOURCE_DIR}")
  set(given "")
  foreach(keyword IN ITEMS NAME NAMESPACE VERSION)
    if(DEFINED arg_${keyword})
      list(APPEND given ${keyword} "${arg_${keyword}}")
    endif()
  endforeach()
  _tfaot_model_identity(tfaot_add_model "${arg_CONFIG}" name namespace version ${given})
  _tfaot_plain_target(tfaot_add_model target "${namespace}::${name}")

  foreach(made IN ITEMS ${target} ${target}_compile)
    _tfaot_check_new_target(tfaot_add_model ${made} "Give the model another target name.")
  endforeach()

  set(work "${CMAKE_CURRENT_BINARY_DIR}/${target}.tfaot")
  set(tree "${work}/package")
  if(DEFINED arg_OUTPUT_DIR)
    set(tree "${arg_OUTPUT_DIR}")
  endif()
  _tfaot_absolute_path(tree "${CMAKE_CURRENT_BINARY_DIR}")
  string(REPLACE "_" "-" tool_name "tfaot-model-${name}")
  _tfaot_target_options(tool_options)
  foreach(keyword IN ITEMS BATCH_SIZES CPU_LEVELS HEADERS NAMESPACE ROWS)
    if(DEFINED arg_${keyword})  # not if(arg_...): 0 and "no" are values too
      string(TOLOWER "--${keyword}" option)
      string(REPLACE "_" "-" option "${option}")
      string(REPLACE ";" "," value "${arg_${keyword}}")
      list(APPEND tool_options ${option} "${value}")
    endif()
  endforeach()
  set(type STATIC)
  if(arg_SHARED)
    set(type SHARED)
    if(version STREQUAL "")
      message(FATAL_ERROR "tfaot_add_model: give the VERSION of the SHARED library (model.version of ${arg_CONFIG})")
    endif()
  endif()

  set(tune "")
  if(arg_TUNE)
    set(tune TUNE)
  endif()

  _tfaot_remove_renamed_model("${tree}" "${tool_name}")
  _tfaot_compile_command(${target} CONFIG "${arg_CONFIG}" TREE "${tree}" WORK "${work}" NAME "${name}" ${tune}
                         NAMESPACE "${namespace}" VERSION "${version}" TOOL_NAME "${tool_name}" OPTIONS ${tool_options})
  _tfaot_model_library(${target} ${type} OBJECT "${work}/model.o" TREE "${tree}" ALIAS "${namespace}::${name}" VERSION "${version}")
  string(TOLOWER "${tool_name}" tool_name)
  set_property(GLOBAL PROPERTY "TFAOT_MODEL_TOOL_${tool_name}" "${namespace}::${name}")  # scram's name for it
endfunction()
