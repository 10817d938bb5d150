# SPDX-License-Identifier: Apache-2.0
#[=[
## tfaot_package_model

Packs a model into an archive each time it is compiled.

### Signature

    tfaot_package_model(<target> [OUTPUT_DIR <folder>] [FORMAT <format>])

`<target>` was made by `tfaot_add_model`; its alias works too.

### Keywords

| Keyword | Default | Meaning |
|---|---|---|
| `OUTPUT_DIR` | the current build folder | Where the archive goes, relative to the current build folder. |
| `FORMAT` | `tar.zst` | `tar.zst` or `tar.gz`. |

### Creates

The target `<target>_package`, part of `all`, which writes
`tfaot-model-<name>-<version>-<architecture>.<format>`.

### Example

    tfaot_package_model(tagger OUTPUT_DIR packages)
#]=]
function(tfaot_package_model target)
  set(options "")
  set(values OUTPUT_DIR FORMAT)
  set(lists "")
  cmake_parse_arguments(PARSE_ARGV 1 arg "${options}" "${values}" "${lists}")
  _tfaot_check_args(tfaot_package_model "${options};${values};${lists}" "${arg_UNPARSED_ARGUMENTS}" ""
                    "${arg_KEYWORDS_MISSING_VALUES}")
  if(NOT DEFINED arg_FORMAT)
    set(arg_FORMAT tar.zst)
  endif()
  if(NOT arg_FORMAT MATCHES "^tar\\.(zst|gz)$")
    message(FATAL_ERROR "tfaot_package_model: FORMAT '${arg_FORMAT}' is neither tar.zst nor tar.gz")
  endif()
  if(NOT DEFINED arg_OUTPUT_DIR)
    set(arg_OUTPUT_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  _tfaot_absolute_path(arg_OUTPUT_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  _tfaot_get_model(tfaot_package_model "${target}" model tree)
  _tfaot_check_new_target(tfaot_package_model ${model}_package
    "A model has one archive in a build; 'tfaot package' makes one in another format from the package tree.")
  _tfaot_package_command(${model}_package MODEL ${model} TREE "${tree}" OUTPUT_DIR "${arg_OUTPUT_DIR}"
                         FORMAT ${arg_FORMAT})
endfunction()
