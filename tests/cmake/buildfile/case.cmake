# SPDX-License-Identifier: Apache-2.0
# Each tag and each keyword, shown by its effect on programs that print what they were compiled with.
set(area "${CASE_BINARY}/area")
set(root "${area}/src")
function(write name text)
  file(WRITE "${root}/${name}" "${text}")
endfunction()
# configure(<keywords> <file>...)
function(configure call)
  list(JOIN ARGN "," files)
  case_configure(OPTIONS "-DFOLDER=${root}" "-DFILES=${files}" "-DCALL=${call}")
  set(case_output "${case_output}" PARENT_SCOPE)
endfunction()

# Packages: a library of src, and one with only headers; uses are passed on, except those in NO_EXPORT.
write(One/Lib/BuildFile.xml "<use name='elsewhere'/><use name='Two/Headers'/><flags CPPDEFINES='INNER=1'/>
<flags CXXFLAGS='-DFLAG=3 -DKEPT=1'/><flags REM_CXXFLAGS='-DKEPT%'/><flags SKIP_FILES='broken.cc'/>
<export><lib name='1'/></export>")
write(One/Lib/interface/lib.h "int lib();\n")
write(One/Lib/src/lib.cc "#include \"One/Lib/interface/lib.h\"\n#include \"Two/Headers/interface/two.h\"
#ifndef KEPT\n#error\n#endif\nint lib() { return INNER * 1000 + FLAG * 100 + ELSEWHERE + TWO; }\n")
write(One/Lib/src/broken.cc "#error skipped\n")
write(Two/Headers/BuildFile.xml "")
write(Two/Headers/interface/two.h "#define TWO 7\n")
write(One/Lib/bin/BuildFile.xml "<use name='One/Lib'/>
<bin name='a' file='a.cc,part?.cpp'><flags CPPDEFINES='TEXT=\\&quot;a\\&quot; OWN'/></bin>
<bin name='b' file='\${dir}/b.cc' foreach='x,y'><flags CPPDEFINES='LOOP_\${value}=1'/>
<include_path path='src/One/Lib/extra'/><iftool name='rocm'><flags CPPDEFINES='TOOL=1'/><elif name='present' version='^2'/>
<flags CPPDEFINES='TOOL=2'/><else/><flags CPPDEFINES='TOOL=3'/></iftool>
<ifarchitecture name='_amd64_'><flags CPPDEFINES='ARCH=1'/></ifarchitecture>
<ifrelease name='CMSSW_15'><flags CPPDEFINES='RELEASE=1'/></ifrelease></bin>
<library name='MyShared' file='shared.cc'><lib name='m'/><flags LDFLAGS='-Wl,-soname,libRenamed.so'/></library>")
write(One/Lib/bin/a.cc "#include <iostream>\n#include \"One/Lib/interface/lib.h\"\nint part();
#ifdef INNER\n#error\n#endif\n#ifndef OWN\n#error\n#endif
int main() { std::cout << \"a: \" << lib() << ' ' << ELSEWHERE << ' ' << TEXT << ' ' << part() << std::endl; }\n")
write(One/Lib/bin/part1.cpp "int part() { return 5; }\n")
write(One/Lib/bin/sub/b.cc "#include <iostream>\n#include \"extra.h\"\n#ifdef LOOP_x\n#define WHICH 'x'\n#else\n#define WHICH 'y'\n#endif
#ifndef RELEASE\n#define RELEASE 0\n#endif\n#ifndef ARCH\n#define ARCH 0\n#endif
int main() { std::cout << \"b: \" << WHICH << ' ' << EXTRA << ' ' << TOOL << ' ' << ARCH << ' ' << RELEASE << std::endl; }\n")
write(One/Lib/bin/shared.cc "#include <cmath>\ndouble root(double x) { return std::sqrt(x); }\n")
write(One/Lib/extra/extra.h "#define EXTRA 11\n")
write(One/Lib/plugins/BuildFile.xml "<use name='tfaot-runtime'/><use name='One/Lib' source_only='1'/>")
write(One/Lib/plugins/auto.cc "#include \"One/Lib/interface/lib.h\"\n#include \"tfaot/runtime/model.h\"\nint plugged() { return 1; }\n")
write(One/Lib/test/BuildFile.xml "<bin file='good.cc'><flags TEST_RUNNER_ARGS='one two'/><flags SETENV='WORD=set'/></bin>
<bin file='never.cc'><flags NO_TESTRUN='1'/></bin><test name='script' command='script.sh &quot;\${LOCALTOP}&quot; &amp;&amp; good 1 2'/>")
write(One/Lib/test/good.cc "#include <cstdlib>\nint main(int argc, char**) { return argc == 3 ? 0 : 1; }\n")
write(One/Lib/test/never.cc "int main() { return 1; }\n")
write(One/Lib/test/script.sh "#!/bin/sh\ntest -d \"$1/src/One/Lib\"\n")
file(CHMOD "${root}/One/Lib/test/script.sh" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

set(files Two/Headers/BuildFile.xml One/Lib/BuildFile.xml One/Lib/bin/BuildFile.xml One/Lib/plugins/BuildFile.xml
          One/Lib/test/BuildFile.xml)
set(call "USES elsewhere=elsewhere VARIABLES dir=sub TOOLS Present=2.1 RELEASE CMSSW_15_0 ARCHITECTURE el8_amd64_gcc12")
configure("${call}" ${files})
case_build()
case_run(a)
case_expect("a: 1349 42 a 5")
case_run(b_x)
case_expect("b: x 11 2 1 1")
case_run(b_y)
case_expect("b: y 11 2 1 1")
case_expect_file(build/libOneLib.so build/libMyShared.so build/pluginOneLibAuto.so)
case_execute("readelf" COMMAND readelf -d build/libMyShared.so)
case_expect("libRenamed.so")
case_execute("nm" COMMAND nm -DC build/pluginOneLibAuto.so)
case_expect("plugged()")
case_execute("readelf" COMMAND readelf -d build/pluginOneLibAuto.so)
case_expect_not("libOneLib")
case_execute("ctest" IN "${CASE_BINARY}/build" COMMAND "${CMAKE_CTEST_COMMAND}" --output-on-failure)
case_expect("Passed" "100% tests passed, 0 tests failed out of 2")

# Conditions the other way; IGNORE_USES leaves out uses, in any letter case.
set(call "IGNORE_USES Elsewhere COMPILER llvm ARCHITECTURE el8_aarch64_gcc12 VARIABLES dir=sub")
write(One/Lib/BuildFile.xml "<use name='elsewhere'/><use name='Two/Headers'/><flags CPPDEFINES='INNER=1 FLAG=1 ELSEWHERE=1 KEPT=1'/>
<ifcompiler name='gcc'><flags SKIP_FILES='lib.cc'/></ifcompiler><flags SKIP_FILES='broken.cc'/><export><lib name='1'/></export>")
write(One/Lib/bin/a.cc "#include <iostream>\nint part();\nint main() { std::cout << \"a: \" << part() << std::endl; }\n")
configure("${call}" ${files})
case_build()
case_run(b_x)
case_expect("b: x 11 3 0 0")

# A new file matches a pattern: the build notices by itself. It also notices a changed BuildFile.
write(One/Lib/bin/part1.cpp "int other();\nint part() { return other(); }\n")
write(One/Lib/bin/part2.cpp "int other() { return 6; }\n")
case_build()
case_run(a)
case_expect("a: 6")
write(One/Lib/bin/BuildFile.xml "<bin name='renamed' file='a.cc,part*.cpp'/>\n<skip/>")
case_build()
case_expect("tfaot_add_buildfile: ${root}/One/Lib/bin/BuildFile.xml:2: <skip> is not known and is ignored")
case_run(renamed)
case_expect("a: 6")

# PACKAGE gives the name if the folders have other names; another package finds it by that name.
write(x/y/BuildFile.xml "<export><lib name='Chosen'/></export>")
write(x/y/src/z.cc "int z() { return 1; }\n")
configure("PACKAGE Sub/Pkg" x/y/BuildFile.xml)
case_build()
case_expect_file(build/libChosen.so)

# Models: a SavedModel by its path in the package, a config, and one that was installed; all used by name.
file(COPY "${CASE_TOOLKIT}/examples/minimal" DESTINATION "${root}/Mod/El/data")
set(main "#include <array>\n#include <iostream>\n#include \"tfaot-model-minimal/model.h\"
int main() {\n  const std::array<float, 4> x = {0.09375f, 1.5625f, 1.984375f, 0.234375f};\n  std::array<float, 2> y{};
  tfaot::native::Model<MODEL> model;\n  model.run(1, tfaot::inputs(x), tfaot::outputs(y));\n  std::cout.precision(9);
  for (const auto size : model.batch_sizes()) std::cout << size << ' ';
  std::cout << model.cpu_level() << \"\\nmodel y: \" << y[0] << ' ' << y[1] << std::endl;\n}\n")
write(Mod/El/bin/main.cc "${main}")
write(Mod/El/bin/BuildFile.xml "<bin name='m1' file='main.cc'><flags CPPDEFINES='MODEL=ns::minimal'/>
<aot_compile model='/data/minimal/saved_model' class='ns::minimal' batch_sizes='1,3' cpu_levels='x86-64' version='7.1'/></bin>
<bin name='m2' file='main.cc'><flags CPPDEFINES='MODEL=other::minimal'/>
<aot_compile model='../data/minimal/aot_config.yaml' class='other::minimal' batch_sizes='2'/></bin>")
configure("" Mod/El/bin/BuildFile.xml)
case_build()
case_run(m1)
case_expect("1 3 x86-64 model")
case_expect_predictions(model minimal 1)
case_expect_json(build/ns_minimal.tfaot/package/manifest.json "7.1" version)
case_run(m2)
case_expect_predictions(model minimal 1)
case_expect_json(build/other_minimal.tfaot/package/manifest.json "[2]" batch_sizes)

# Without a class, a model is named after its file or folder.
write(Mod/El/bin/BuildFile.xml "<aot_compile model='../data/minimal/saved_model' batch_sizes='1,3'/>
<aot_compile model='${CASE_TOOLKIT}/tests/e2e/models/onnx/tracks/model.onnx' dimensions='n_tracks=5'/>
<bin name='m5' file='main.cc'><flags CPPDEFINES='MODEL=tfaot_model::minimal'/></bin>")
configure("" Mod/El/bin/BuildFile.xml)
case_build()
case_run(m5)
case_expect_predictions(model minimal 1)
case_expect_json(build/tfaot_model_tracks.tfaot/package/manifest.json 5 signature inputs 0 row_shape 0)

case_execute("compile" COMMAND "${CASE_PREFIX}/bin/tfaot" compile -c "${CASE_TOOLKIT}/examples/minimal/aot_config.yaml"
             -o "${CASE_BINARY}/area/model" --quiet)
write(Mod/El/bin/BuildFile.xml "<bin name='m3' file='main.cc'><use name='tfaot-model-minimal'/>
<flags CPPDEFINES='MODEL=tfaot_model::minimal'/></bin>")
set(CASE_PREFIX "${CASE_PREFIX}:${CASE_BINARY}/area/model")
configure("" Mod/El/bin/BuildFile.xml)
case_build()
case_run(m3)
case_expect_predictions(model minimal 1)

# Users of a package whose library has a model see the model, also through the package's header; its code stays in the library.
write(Mod/Lib/BuildFile.xml "<aot_compile model='${root}/Mod/El/data/minimal/saved_model' class='lib::minimal' batch_sizes='1 2'/>
<export><lib name='1'/></export>")
write(Mod/Lib/interface/lib.h "#include \"tfaot-model-minimal/model.h\"\nusing Model = tfaot::native::Model<lib::minimal>;\nModel make();\n")
write(Mod/Lib/src/lib.cc "#include \"Mod/Lib/interface/lib.h\"\nModel make() { return Model(); }\n")
write(Mod/Lib/bin/main.cc "#include \"Mod/Lib/interface/lib.h\"\n${main}")
write(Mod/Lib/bin/BuildFile.xml "<bin name='m4' file='main.cc'><use name='Mod/Lib'/><flags CPPDEFINES='MODEL=lib::minimal'/></bin>")
configure("" Mod/Lib/BuildFile.xml Mod/Lib/bin/BuildFile.xml)
case_build()
case_run(m4)
case_expect_predictions(model minimal 1)
case_execute("nm" COMMAND nm --defined-only build/m4)
case_expect_not("tfaot_lib_minimal_bs")

# DNN_NAME: the header by the network's name and by the package's path, a program and a library with one network.
set(networks "${CASE_TOOLKIT}/tests/e2e/models/works/frozen_unshaped")
foreach(folder IN ITEMS src bin)
  file(COPY "${networks}/frozen_graph.pb" DESTINATION "${root}/Net/Work/${folder}")
  file(RENAME "${root}/Net/Work/${folder}/frozen_graph.pb" "${root}/Net/Work/${folder}/mynet.pb")
  write(Net/Work/${folder}/mynet.config.pbtxt "# tfaot: batch_sizes=1
feed { id { node_name: \"x\" } shape { dim { size: 2 } dim { size: 3 } } }\nfetch { id { node_name: \"out/y\" } }\n")
endforeach()
write(Net/Work/BuildFile.xml "<flags DNN_NAME='mynet'/><export><lib name='1'/></export>")
file(COPY "${CASE_TOOLKIT}/tests/cmake/tfcompile/library.cc" DESTINATION "${root}/Net/Work/src")
file(COPY "${CASE_TOOLKIT}/tests/cmake/tfcompile/user.cc" DESTINATION "${root}/Net/Work/bin")
file(READ "${root}/Net/Work/src/library.cc" library)
string(REPLACE "\"mynet/header.h\"" "\"Net/Work/src/mynet/header.h\"" library "${library}")
write(Net/Work/src/library.cc "${library}")
write(Net/Work/bin/BuildFile.xml "<bin file='user.cc'><use name='Net/Work'/><flags DNN_NAME='mynet'/></bin>")
configure("" Net/Work/BuildFile.xml Net/Work/bin/BuildFile.xml)
case_build()
case_run(user)
foreach(label IN ITEMS library user)
  case_expect_predictions(${label} ../tests/e2e/models/works/frozen_unshaped 2)
endforeach()
case_build()
case_expect_not("Compiling|Building|Linking")
file(TOUCH "${root}/Net/Work/src/mynet.pb")
case_build()
case_expect("Compiling network mynet" "libNetWork.so")
