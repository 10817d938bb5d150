# SPDX-License-Identifier: Apache-2.0
#[=[
## tfaot_add_buildfile

Makes the targets that a scram `BuildFile.xml` describes, so that a package of CMSSW builds without
scram. [buildfile.md](buildfile.md) says how each tag is read.

### Signature

    tfaot_add_buildfile(<BuildFile.xml>
                        [USES <name>=<target>...] [IGNORE_USES <name>...] [PACKAGE <Sub/Pkg>]
                        [TOOLS <name>=<version>...] [ARCHITECTURE <architecture>]
                        [COMPILER <name>] [RELEASE <name>]
                        [VARIABLES <name>=<value>...])

The file belongs to a package, `Sub/Pkg/BuildFile.xml`, or to its folder `plugins`, `bin` or `test`.
Its path is relative to the current source folder. Add a package before the packages that use it.

### Keywords

| Keyword | Default | Meaning |
|---|---|---|
| `USES` | none | What `<use name="..."/>` links, such as `boost=Boost::boost`. A name may come more than once. |
| `IGNORE_USES` | none | Names of `<use>` that need nothing here. |
| `PACKAGE` | from the path | `Sub/Pkg`, if the file's folders have other names. |
| `TOOLS` | none | Tools that exist, for `<iftool>`, in addition to those in `USES`. Without `=<version>` the version is `unknown`. |
| `ARCHITECTURE` | such as `linux_amd64_gcc12` | For `<ifarchitecture>`: scram's `SCRAM_ARCH`. |
| `COMPILER` | `gcc`, `llvm` or the compiler's id | For `<ifcompiler>`. |
| `RELEASE` | empty | For `<ifrelease>`: the name of the CMSSW release. |
| `VARIABLES` | none | Values of `${name}` and `$(name)` in the file that scram takes from its environment. |

### Creates

| From | Result |
|---|---|
| `Sub/Pkg/BuildFile.xml` | the shared library `SubPkg` of `src/*.cc`, or an interface library if there are none; also called `Sub::Pkg`. Its users also get what it uses, and the folder above `Sub` as include folder. |
| `<library>` in `plugins`, or with `EDM_PLUGIN=1` | a module `plugin<name>.so`; the target is `<name>` |
| any other `<library>` | a shared library |
| `<bin>` | an executable; in `test` also a test of that name |
| `<test>` | a test |
| `<aot_compile>` | a model, made by `tfaot_add_model`, for the products that ask for it |

The BuildFile is read again when it changes, and when files that match its patterns are added or
removed.

### Example

    tfaot_add_buildfile(Demo/Tagger/BuildFile.xml IGNORE_USES FWCore/Framework)
    tfaot_add_buildfile(Demo/Tagger/plugins/BuildFile.xml
                        USES boost=Boost::boost IGNORE_USES FWCore/Framework)
#]=]
function(tfaot_add_buildfile file)
  set(options "")
  set(values PACKAGE ARCHITECTURE COMPILER RELEASE)
  set(lists USES IGNORE_USES TOOLS VARIABLES)
  cmake_parse_arguments(PARSE_ARGV 1 arg "${options}" "${values}" "${lists}")
  _tfaot_check_args(tfaot_add_buildfile "${options};${values};${lists}" "${arg_UNPARSED_ARGUMENTS}" "${arg_USES};${arg_IGNORE_USES};${arg_TOOLS};${arg_VARIABLES}"
                    "${arg_KEYWORDS_MISSING_VALUES}")
  _tfaot_absolute_path(file "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${file}" OR IS_DIRECTORY "${file}")
    message(FATAL_ERROR "tfaot_add_buildfile: not a file: ${file}")
  endif()
  _tfaot_check_pairs(tfaot_add_buildfile USES "${arg_USES}")
  _tfaot_check_pairs(tfaot_add_buildfile VARIABLES "${arg_VARIABLES}")
  _tfaot_buildfile_place("${file}" "${arg_PACKAGE}" package folder root)

  set(request "file=${file}" "package=${package}" "folder=${folder}")
  _tfaot_buildfile_conditions(conditions "${arg_ARCHITECTURE}" "${arg_COMPILER}" "${arg_RELEASE}" "${arg_USES}" "${arg_TOOLS}")
  list(APPEND request ${conditions})
  foreach(variable IN LISTS arg_VARIABLES)
    list(APPEND request "variable=${variable}")
  endforeach()
  string(MAKE_C_IDENTIFIER "${package}/${folder}" script)
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${script}.buildfile.cmake")
  _tfaot_run_buildfile_tool("${script}" ${request})
  # The script passes this to each function that it calls (detail/tfaot_buildfile.cmake).
  set(buildfile BUILDFILE "${file}" SCRAM_PACKAGE "${package}" ROOT "${root}" USES ${arg_USES} IGNORE_USES ${arg_IGNORE_USES})
  include("${script}")
endfunction()
