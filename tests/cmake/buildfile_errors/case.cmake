# SPDX-License-Identifier: Apache-2.0
set(root "${CASE_BINARY}/src")
set(place "${root}/Sub/Pkg/bin/BuildFile.xml")
# expect(<text of the BuildFile> <keywords> <message>): the configure step fails with the message.
function(expect text call message)
  file(WRITE "${place}" "${text}")
  case_configure(SOURCE "${CASE_TOOLKIT}/tests/cmake/buildfile"
                 OPTIONS "-DFOLDER=${root}" "-DFILES=Sub/Pkg/bin/BuildFile.xml" "-DCALL=${call}" FAIL "${message}")
endfunction()
file(WRITE "${root}/Sub/Pkg/bin/a.cc" "int main() {}\n")
file(WRITE "${root}/Sub/Pkg/bin/b.c" "int main(void) { return 0; }\n")
file(WRITE "${root}/Sub/Pkg/bin/c.cu" "")
file(WRITE "${root}/Other/Pkg/BuildFile.xml" "")

# The tool's messages, only once: tests/unit/scram checks them all.
expect("<bin file='a.cc'/>\n<use nam='x'/>" ""
       "tfaot_add_buildfile: ${place}:2: <use> has no attribute 'nam' (did you mean 'name'?)
          allowed: name, source_only, for, force_link")

expect("<bin file='a.cc'>\n<use name='Unknown/Thing'/></bin>" ""
       "tfaot_add_buildfile: ${place}:2: <use name=\"Unknown/Thing\"/> is not known here
          Give its target: USES Unknown/Thing=<target>, or ignore it: IGNORE_USES Unknown/Thing.")
expect("<bin file='a.cc'><use name='Other/Pkg'/></bin>" ""
       "tfaot_add_buildfile: ${place}:1: <use name=\"Other/Pkg\"/> is not known here
          Add that package first: tfaot_add_buildfile(${root}/Other/Pkg/BuildFile.xml).")
expect("<bin file='a.cc'><use name='tfaot-model-nowhere'/></bin>" ""
       "tfaot_add_buildfile: ${place}:1: <use name=\"tfaot-model-nowhere\"/> is not known here
          Install that model into a folder of CMAKE_PREFIX_PATH, or add it with tfaot_add_model() first.")
expect("<bin file='b.cc'/>" "" "tfaot_add_buildfile: ${place}:1: no file 'b.cc' in ${root}/Sub/Pkg/bin")
expect("<bin name='x' file='*.cpp'/>" "" "tfaot_add_buildfile: ${place}:1: no file '*.cpp' in ${root}/Sub/Pkg/bin")
expect("<bin file='b.c'/>" ""
       "tfaot_add_buildfile: ${place}:1: '${root}/Sub/Pkg/bin/b.c' needs the language C; enable it in project()")
expect("<bin file='c.cu'/>" ""
       "tfaot_add_buildfile: ${place}:1: files such as '${root}/Sub/Pkg/bin/c.cu' are not compiled here
          C++ (cc, cpp, cxx, C), C (c) and Fortran (f, f77, F, F77) are.")
expect("<bin name='x' file='a.cc'><flags SKIP_FILES='a.cc'/></bin>" ""
       "tfaot_add_buildfile: ${place}:1: 'x' has no sources in ${root}/Sub/Pkg/bin")
expect("<bin name='elsewhere' file='a.cc'/>" ""
       "tfaot_add_buildfile: ${place}:1: there is already a target 'elsewhere'
          The names of scram's products are targets in the whole project.")
expect("<bin file='a.cc'><include_path path='no/where'/></bin>" ""
       "tfaot_add_buildfile: ${place}:1: the include path 'no/where' is not a folder in ${CASE_BINARY} or ${root}/Sub/Pkg/bin")
expect("<bin file='a.cc'><flags DNN_NAME='net'/></bin>" ""
       "tfaot_add_buildfile: ${place}:1: there is no 'net.pb' in ${root}/Sub/Pkg/bin
          DNN_NAME is the name of a frozen graph and its config in the folder of the sources (buildfile.md).")

expect("\n<aot_compile model='/data/m' class='M'/><bin file='a.cc'/>" ""
       "tfaot_add_buildfile: ${place}:2: there is no model '/data/m'
          It may be absolute, or relative to ${root}/Sub/Pkg or to ${root}/Sub/Pkg/bin: a SavedModel's folder, an ONNX file, a file with StableHLO, or an aot_config.yaml.")
# The package's own BuildFile: one folder, named once.
set(inner "${place}")
set(place "${root}/Sub/Pkg/BuildFile.xml")
file(WRITE "${place}" "<aot_compile model='/data/m' class='M'/>")
case_configure(SOURCE "${CASE_TOOLKIT}/tests/cmake/buildfile" OPTIONS "-DFOLDER=${root}" "-DFILES=Sub/Pkg/BuildFile.xml" "-DCALL="
  FAIL "It may be absolute, or relative to ${root}/Sub/Pkg: a SavedModel's folder, an ONNX file, a file with StableHLO, or an aot_config.yaml.")
set(place "${inner}")
expect("<aot_compile model='x' class='no-name'/><bin file='a.cc'/>" ""
       "tfaot_add_buildfile: ${place}:1: the class 'no-name' is not a C++ name")
file(COPY "${CASE_TOOLKIT}/examples/minimal" DESTINATION "${root}/Sub/Pkg")
expect("<aot_compile model='minimal/aot_config.yaml' class='Other'/><bin file='a.cc'/>" ""
       "tfaot_add_buildfile: ${place}:1: the config's model is not called 'Other' (${root}/Sub/Pkg/minimal/aot_config.yaml)")
expect("<aot_compile model='minimal/aot_config.yaml' class='minimal' version='2.0'/><bin file='a.cc'/>" ""
       "tfaot_add_buildfile: ${place}:1: version='2.0' has no effect: the config has a version (${root}/Sub/Pkg/minimal/aot_config.yaml)")
expect("<aot_compile model='minimal/aot_config.yaml'/><bin file='a.cc'/>" ""
       "tfaot_add_buildfile: ${place}:1: <aot_compile> of a config needs the attribute 'class' it is the config's model.name")
file(WRITE "${root}/Sub/Pkg/graph.pb" "")
expect("<aot_compile model='graph.pb' class='minimal'/><bin file='a.cc'/>" ""
       "tfaot_add_buildfile: ${place}:1: a frozen graph needs a config: it does not say what its inputs and outputs are")

expect("" "USE x=y" "tfaot_add_buildfile: unknown keyword 'USE'
          Known keywords: PACKAGE ARCHITECTURE COMPILER RELEASE USES IGNORE_USES TOOLS VARIABLES")
expect("" "USES boost" "tfaot_add_buildfile: USES takes name=value, not 'boost'")
expect("" "VARIABLES A" "tfaot_add_buildfile: VARIABLES takes name=value, not 'A'")
expect("" "PACKAGE Name" "tfaot_add_buildfile: 'Name' is not of the form Sub/Pkg (${place}) Give the package's name with PACKAGE.")

set(place "${root}/Sub/Pkg/python/BuildFile.xml")
file(WRITE "${place}" "")
case_configure(SOURCE "${CASE_TOOLKIT}/tests/cmake/buildfile" OPTIONS "-DFOLDER=${root}" "-DFILES=Sub/Pkg/python/BuildFile.xml" "-DCALL="
  FAIL "tfaot_add_buildfile: nothing is built from the folder 'python': ${place}
          BuildFiles are read from a package (Sub/Pkg) and from its folders plugins, bin and test.")
case_configure(SOURCE "${CASE_TOOLKIT}/tests/cmake/buildfile" OPTIONS "-DFOLDER=${root}" "-DFILES=nowhere.xml" "-DCALL="
  FAIL "tfaot_add_buildfile: not a file: ${root}/nowhere.xml")
