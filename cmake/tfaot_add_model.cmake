# SPDX-License-Identifier: Apache-2.0
#[=[
## tfaot_add_model

Compiles a model during the build and makes it a library.

### Signature

    tfaot_add_model(<target> CONFIG <file> | MODEL <path>
                    [BATCH_SIZES <size>...] [CPU_LEVELS <level>...] [DIMENSIONS <name>=<size>...]
                    [NAMESPACE <namespace>] [NAME <name>] [VERSION <version>] [SIGNATURE <key>]
                    [HEADERS self_contained | cmssw] [ROWS alone | coupled]
                    [BATCH first | none] [OPSET known | any] [OPTIMIZE speed | size]
                    [WEIGHTS shared | embedded]
                    [WEIGHTS_TYPE float32 | bfloat16 | float16 | int8]
                    [COMPUTE float32 | bfloat16]
                    [OUTPUT_DIR <folder>] [SHARED | STATIC] [TUNE])

`<target>` is a name of your choice, or the C++ name of the model, such as `tfaot_model::test`.

`MODEL` needs no config: the keywords say what a config would. "The config's" in the table is then
what a config says that has only a name, a version and batch sizes.

### Keywords

| Keyword | Default | Meaning |
|---|---|---|
| `CONFIG` | this or `MODEL` is required | The `aot_config.yaml`, relative to the current source folder. |
| `MODEL` | this or `CONFIG` is required | A SavedModel's folder, an ONNX file or a file with StableHLO, relative to the current source folder. |
| `BATCH_SIZES` | the config's `compilation.batch_sizes`; of a `MODEL` 1 | Batch sizes to compile. |
| `CPU_LEVELS` | the config's `compilation.cpu_levels` | CPU levels or CPUs to compile for, such as `x86-64-v3` or `znver4` (config.md). |
| `NAMESPACE` | the config's `compilation.namespace`, else `tfaot_model` | C++ namespace of the model's class. |
| `DIMENSIONS` | the config's `model.dimensions` and `compilation.dimensions` | Sizes of dimensions that the model leaves open, such as `n_tracks=50`, or by input and axis `x:1=50`. A range, `n_tracks=1..50`, lets each call choose ([dimensions.md](dimensions.md)). |
| `NAME` | the config's `model.name`; of a `MODEL` the target's name | It must equal the config's. With `CONFIG` required in a project that builds tfaot itself: when CMake runs, tfaot is not built yet, so it cannot read the config. |
| `HEADERS` | the config's `compilation.headers`, else `self_contained` | `cmssw`: the headers are for CMSSW's own PhysicsTools/TensorFlowAOT; their users need that and TensorFlow's XLA runtime (cmssw.md). |
| `VERSION` | the config's `model.version`; of a `MODEL` 1.0.0 | It must equal the config's. Required like `NAME`, but only with `SHARED`. |
| `SIGNATURE` | `serving_default` | Of a `MODEL` that is a SavedModel: the signature to compile. |
| `ROWS` | the config's `compilation.rows`, else `alone` | `coupled`: rows of a batch depend on each other, so only batches of the compiled sizes run (config.md). |
| `BATCH` | the config's `compilation.batch`, else `first` | `none`: the model has no batch, and one run computes whole tensors (config.md). |
| `OPSET` | the config's `model.opset`, else `known` | `any`: also ONNX models of newer opsets than tfaot knows. |
| `OPTIMIZE` | the config's `compilation.optimize`, else `speed` | `size`: less memory for weights, slower. |
| `WEIGHTS` | the config's `compilation.weights`, else `shared` | `embedded`: the weights are constants in every object. |
| `WEIGHTS_TYPE` | the config's `compilation.weights_type`, else `float32` | Of products: fewer bits are smaller and less accurate (weights.md). |
| `COMPUTE` | the config's `compilation.compute`, else `float32` | `bfloat16`: faster products and convolutions, less accurate (weights.md). |
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
    tfaot_add_model(vertex MODEL models/vertex.onnx BATCH_SIZES 1 16 DIMENSIONS n_tracks=50)
    add_library(plugin MODULE plugin.cc)
    target_link_libraries(plugin PRIVATE tfaot_model::tagger tfaot_model::vertex)
#]=]
function(tfaot_add_model target)
  set(options SHARED STATIC TUNE)
  set(values CONFIG MODEL NAME NAMESPACE VERSION SIGNATURE OUTPUT_DIR BATCH COMPUTE HEADERS OPSET OPTIMIZE ROWS WEIGHTS WEIGHTS_TYPE)
  set(lists BATCH_SIZES CPU_LEVELS DIMENSIONS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "${options}" "${values}" "${lists}")
  _tfaot_check_args(tfaot_add_model "${options};${values};${lists}" "${arg_UNPARSED_ARGUMENTS}" "${arg_BATCH_SIZES};${arg_CPU_LEVELS};${arg_DIMENSIONS}"
                    "${arg_KEYWORDS_MISSING_VALUES}")
  _tfaot_require(tfaot_add_model "CONFIG or MODEL" "${arg_CONFIG}${arg_MODEL}")
  foreach(other IN ITEMS MODEL SIGNATURE)
    if(DEFINED arg_CONFIG AND DEFINED arg_${other})
      message(FATAL_ERROR "tfaot_add_model: CONFIG and ${other} exclude each other; give only one")
    endif()
  endforeach()
  if(arg_SHARED AND arg_STATIC)
    message(FATAL_ERROR "tfaot_add_model: SHARED and STATIC exclude each other; give only one")
  endif()
  set(words_BATCH first none)
  set(words_COMPUTE float32 bfloat16)
  set(words_HEADERS self_contained cmssw)
  set(words_OPSET known any)
  set(words_OPTIMIZE speed size)
  set(words_ROWS alone coupled)
  set(words_WEIGHTS shared embedded)
  set(words_WEIGHTS_TYPE float32 bfloat16 float16 int8)
  set(modes BATCH COMPUTE HEADERS OPSET OPTIMIZE ROWS WEIGHTS WEIGHTS_TYPE)
  foreach(keyword IN LISTS modes)
    if(DEFINED arg_${keyword} AND NOT arg_${keyword} IN_LIST words_${keyword})
      string(JOIN " nor " words ${words_${keyword}})
      message(FATAL_ERROR "tfaot_add_model: ${keyword} '${arg_${keyword}}' is neither ${words}")
    endif()
  endforeach()
  foreach(dimension IN LISTS arg_DIMENSIONS)
    if(NOT dimension MATCHES "^.+=[^=]+$" OR dimension MATCHES "=0+$")
      message(FATAL_ERROR "tfaot_add_model: DIMENSIONS takes <name>=<size>, not '${dimension}'")
    endif()
  endforeach()
  _tfaot_check_toolkit(tfaot_add_model)
  foreach(keyword IN ITEMS CONFIG MODEL)
    _tfaot_absolute_path(arg_${keyword} "${CMAKE_CURRENT_SOURCE_DIR}")
  endforeach()
  if(DEFINED arg_MODEL)
    set(default_NAME "${target}")
    set(default_NAMESPACE tfaot_model)
    set(default_VERSION 1.0.0)
    if(target MATCHES "^(.*)::([^:]*)$")
      set(default_NAMESPACE "${CMAKE_MATCH_1}")
      set(default_NAME "${CMAKE_MATCH_2}")
    endif()
    foreach(keyword IN ITEMS NAME NAMESPACE VERSION)
      if(NOT DEFINED arg_${keyword})
        set(arg_${keyword} "${default_${keyword}}")
      endif()
    endforeach()
    _tfaot_config_of_model(tfaot_add_model arg_CONFIG MODEL "${arg_MODEL}" NAME "${arg_NAME}" NAMESPACE "${arg_NAMESPACE}" VERSION "${arg_VERSION}"
                           SIGNATURE "${arg_SIGNATURE}" BATCH "${arg_BATCH}" BATCH_SIZES ${arg_BATCH_SIZES})
    set(_tfaot_place "${CMAKE_CURRENT_LIST_FILE}:0")  # for errors of the compilation (tfaot_command.cmake)
  endif()
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
  foreach(keyword IN LISTS modes ITEMS BATCH_SIZES CPU_LEVELS NAMESPACE)
    if(DEFINED arg_${keyword})  # not if(arg_...): 0 and "no" are values too
      string(TOLOWER "--${keyword}" option)
      string(REPLACE "_" "-" option "${option}")
      string(REPLACE ";" "," value "${arg_${keyword}}")
      list(APPEND tool_options ${option} "${value}")
    endif()
  endforeach()
  foreach(dimension IN LISTS arg_DIMENSIONS)
    list(APPEND tool_options --dimension "${dimension}")
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
