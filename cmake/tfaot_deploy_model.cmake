# SPDX-License-Identifier: Apache-2.0
#[=[
## tfaot_deploy_model

Puts a model's package into a release area, on demand. CMake's own `install()` is something else:
see [Installing what links a model](#installing-what-links-a-model).

### Signature

    tfaot_deploy_model(<target> RELEASE_AREA <folder> [SCRAM_ARCH <architecture>] [REPLACE])

`<target>` was made by `tfaot_add_model`; its alias works too.

### Keywords

| Keyword | Default | Meaning |
|---|---|---|
| `RELEASE_AREA` | required | The release area, relative to the current build folder; made when missing. |
| `SCRAM_ARCH` | that of a scram area, else none | Folder of the tool file below `config/toolbox` of the area. |
| `REPLACE` | off | Replace an installed package of the same version and other contents, which is an error otherwise. |

### Creates

The target `<target>_deploy`, not part of `all`. Build it to deploy: the package goes to
`<area>/tfaot-model-<name>/<version>`, where a build finds it with `CMAKE_PREFIX_PATH=<area>` and
`find_package(tfaot-model-<name>)`.

### Example

    tfaot_deploy_model(tagger RELEASE_AREA /opt/models)
    # cmake --build build --target tagger_deploy
#]=]
function(tfaot_deploy_model target)
  set(options REPLACE)
  set(values RELEASE_AREA SCRAM_ARCH)
  set(lists "")
  cmake_parse_arguments(PARSE_ARGV 1 arg "${options}" "${values}" "${lists}")
  _tfaot_check_args(tfaot_deploy_model "${options};${values};${lists}" "${arg_UNPARSED_ARGUMENTS}" ""
                    "${arg_KEYWORDS_MISSING_VALUES}")
  _tfaot_require(tfaot_deploy_model RELEASE_AREA "${arg_RELEASE_AREA}")
  _tfaot_absolute_path(arg_RELEASE_AREA "${CMAKE_CURRENT_BINARY_DIR}")
  _tfaot_get_model(tfaot_deploy_model "${target}" model tree)
  _tfaot_check_new_target(tfaot_deploy_model ${model}_deploy
    "A build deploys a model into one release area; for another area use another build, or 'tfaot install'.")
  set(tool_options --release-area "${arg_RELEASE_AREA}")
  if(DEFINED arg_SCRAM_ARCH)
    list(APPEND tool_options --scram-arch "${arg_SCRAM_ARCH}")
  endif()
  if(arg_REPLACE)
    list(APPEND tool_options --replace)
  endif()
  _tfaot_deploy_command(${model}_deploy MODEL ${model} TREE "${tree}" OPTIONS ${tool_options})
endfunction()
