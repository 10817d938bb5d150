# SPDX-License-Identifier: Apache-2.0
# tfaot-tfcompile as scram's DNN_NAME rule calls it: its objects link without extra flags, and are made again when needed.
case_needs_plain_folder()
set(models "../tests/e2e/models/works")
file(GLOB sources "${CASE_SOURCE}/*.cc")
file(COPY ${sources} "${CASE_SOURCE}/Makefile" "${CASE_TOOLKIT}/tests/e2e/models/works/frozen_unshaped/frozen_graph.pb" DESTINATION "${CASE_BINARY}")
file(RENAME "${CASE_BINARY}/frozen_graph.pb" "${CASE_BINARY}/mynet.pb")
set(config "# tfaot: batch_sizes=1,4
feed {
  id { node_name: \"x\" }
  shape { dim { size: 2 } dim { size: 3 } }
  name: \"x\"
}
fetch { id { node_name: \"out/y\" } }
")
file(WRITE "${CASE_BINARY}/mynet.config.pbtxt" "${config}")
string(REGEX REPLACE ".*-DCMAKE_CXX_COMPILER=([^;]*).*" "\\1" compiler "${CASE_OPTIONS}")
function(build)
  case_execute("make" COMMAND make "TFCOMPILE=${CASE_PREFIX}/bin/tfaot-tfcompile" "CXX=${compiler}" NET=mynet ${ARGN})
  set(case_output "${case_output}" PARENT_SCOPE)
endfunction()
build()
case_execute("program" COMMAND ./program)
case_expect("batch sizes: 1 2 4")
case_expect_predictions(tfcompile "${models}/frozen_unshaped" 2)
case_expect_predictions(caller "${models}/frozen_unshaped" 2)
foreach(label IN ITEMS native compatible other)
  case_expect_predictions(${label} "${models}/frozen_unshaped" 3)
endforeach()
case_execute("user" COMMAND ./user)
case_expect_predictions(library "${models}/frozen_unshaped" 2)
case_expect_predictions(user "${models}/frozen_unshaped" 2)
case_execute("ldd" COMMAND ldd program)
case_expect_not("[Tt]ensor[^ ]*|tfaot[^ ]*|not found")

# No level below x86-64-v2, which has SSE 4.2; the weights are stored once.
file(READ "${CASE_BINARY}/include/mynet/header.h" case_output)
case_expect("CPU levels x86-64-v2, x86-64-v3, x86-64-v4." "class mynet_bs4 final")
case_execute("nm" COMMAND nm --defined-only obj/mynet/tfcompile_function.o)
case_expect("tfaot_tfaot_model_mynet_bs4_x86_64_v4")
case_execute("nm" COMMAND nm --undefined-only obj/mynet/tfcompile_metadata.o)
case_expect_not("tfaot|tensorflow|xla|Eigen")

build()
case_expect("Nothing to be done")
file(TOUCH "${CASE_BINARY}/mynet.pb")
build()
case_expect("tfaot-tfcompile" "-o program")
string(REPLACE "batch_sizes=1,4" "batch_sizes=8 cpu_levels=x86-64" config "${config}")
file(WRITE "${CASE_BINARY}/mynet.config.pbtxt" "${config}")
build(libnet.so)
file(READ "${CASE_BINARY}/include/mynet/header.h" case_output)
case_expect("Compiled for batch sizes 2, 8 and CPU levels x86-64.")

# If the header finds an installed runtime, it uses that.
case_execute("compile" COMMAND "${compiler}" -std=c++17 -Wall -Werror -fsyntax-only -H -Iinclude "-I${CASE_PREFIX}/include"
             "${CASE_SOURCE}/library.cc")
case_expect("tfaot/runtime/tfcompile_model.h")

# A class in a namespace, options on the command line instead of the config's comment, nets in one program.
set(arguments --config=mynet.config.pbtxt --out_header=second/header.h --out_metadata_object=second/m.o --out_function_object=second/f.o)
case_execute("tfcompile" COMMAND "${CASE_PREFIX}/bin/tfaot-tfcompile" --graph=mynet.pb --cpp_class=a::b::second ${arguments}
             --target_features= --target_triple= --batch_sizes=1 --cpu_levels=x86-64,x86-64-v3)
file(WRITE "${CASE_BINARY}/both.cc" "#include \"mynet/header.h\"\n#include \"second/header.h\"\n#include <cstdio>
int main() {\n  a::b::second_bs1 one;\n  mynet two;\n  for (int i = 0; i < 3; ++i) one.arg_x(0, i) = two.arg_x(0, i) = two.arg_x(1, i) = 1;
  return one.Run() && two.Run() && one.result0(0, 1) == two.result0(1, 1) ? std::puts(\"same\") < 0 : 1;\n}\n")
case_execute("both" COMMAND "${compiler}" -std=c++17 -Wall -Werror -Iinclude -I. both.cc obj/mynet/tfcompile_metadata.o
             obj/mynet/tfcompile_function.o second/m.o second/f.o -o both)
case_execute("both" COMMAND ./both)
case_expect("same")

# Two plugins with networks of one name in one process: each keeps its own.
case_execute("host" COMMAND "${compiler}" -std=c++17 "${CASE_TOOLKIT}/tests/cmake/two_plugins/host.cc" -o host -ldl)
file(WRITE "${CASE_BINARY}/plugin.cc" "#include \"twin/header.h\"
extern \"C\" std::size_t predict(const float* x, std::size_t rows, float* y) {
  for (std::size_t i = 0; i < rows; ++i) {
    twin net;
    net.set_arg0_data(x + 4 * i);
    if (!net.Run()) return 0;
    y[i] = net.result0_data()[0];
  }
  return rows;
}\n")
foreach(net IN ITEMS trained retrained)
  file(WRITE "${CASE_BINARY}/${net}.config.pbtxt" "feed { id { node_name: \"x\" } shape { dim { size: 1 } dim { size: 4 } } }\nfetch { id { node_name: \"y\" } }\n")
  case_execute("tfcompile" COMMAND "${CASE_PREFIX}/bin/tfaot-tfcompile" "--graph=${CASE_TOOLKIT}/tests/e2e/models/works/frozen_${net}/frozen_graph.pb"
               --config=${net}.config.pbtxt --cpp_class=twin --out_header=${net}/twin/header.h --out_metadata_object=${net}/m.o --out_function_object=${net}/f.o)
  case_execute("plugin" COMMAND "${compiler}" -std=c++17 -Wall -Werror -fPIC -shared -I${net} plugin.cc ${net}/m.o ${net}/f.o -o ${net}.so)
  case_execute("nm" COMMAND nm -D --defined-only ${net}.so)
  case_expect_not("[^\n]* u [^\n]*tfaot[^\n]*|[^\n]* tfaot_[^\n]*|[^\n]*_ZT[VI]4twin[^\n]*")
  case_execute("host" COMMAND ./host local ./${net}.so)
  string(REGEX MATCH "${net}\\.so:[^\n]+" ${net} "${case_output}")
endforeach()
foreach(mode IN ITEMS local global)
  case_execute("host" COMMAND ./host ${mode} ./trained.so ./retrained.so)
  case_expect("${trained}" "${retrained}")
endforeach()

# No dimension is the batch: one scalar is fed and one is fetched.
set(float "attr { key: \"dtype\" value { type: DT_FLOAT } }")
set(type "attr { key: \"T\" value { type: DT_FLOAT } }")
file(WRITE "${CASE_BINARY}/scaled.pbtxt" "
node { name: \"x\" op: \"Placeholder\" ${float} } node { name: \"factor\" op: \"Placeholder\" ${float} }
node { name: \"y\" op: \"Mul\" input: \"x\" input: \"factor\" ${type} }
node { name: \"axes\" op: \"Const\" attr { key: \"dtype\" value { type: DT_INT32 } }
  attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 0 int_val: 1 } } } }
node { name: \"sum\" op: \"Sum\" input: \"y\" input: \"axes\" ${type} attr { key: \"Tidx\" value { type: DT_INT32 } } }\n")
set(x "feed { id { node_name: \"x\" } shape { dim { size: 2 } dim { size: 3 } } }")
set(scaled "${x}\nfeed { id { node_name: \"factor\" } shape { } name: \"factor\" }
fetch { id { node_name: \"y\" } }\nfetch { id { node_name: \"sum\" } name: \"sum\" }\n")
file(WRITE "${CASE_BINARY}/scaled.config.pbtxt" "${scaled}")
set(arguments --graph=scaled.pbtxt --config=scaled.config.pbtxt --cpp_class=scaled --out_header=scaled/header.h
              --out_metadata_object=scaled/m.o --out_function_object=scaled/f.o)
case_execute("tfcompile" COMMAND "${CASE_PREFIX}/bin/tfaot-tfcompile" ${arguments})
case_execute("scaled" COMMAND "${compiler}" -std=c++17 -Wall -Wextra -Werror -I. "${CASE_SOURCE}/scaled.cc" scaled/m.o scaled/f.o -o scaled/program)
case_execute("scaled" COMMAND scaled/program)
case_expect("y: 0 2 4 6 8 10 sum: 30" "y: 0 3 6 9 12 15 sum: 45")
# The same with feeds that have a common first dimension, as the config says.
string(REPLACE "shape { }" "shape { dim { size: 2 } dim { size: 1 } }" rows "${scaled}")
file(WRITE "${CASE_BINARY}/scaled.config.pbtxt" "${rows}")
case_execute("tfcompile" FAIL "its first dimension is not the batch" COMMAND "${CASE_PREFIX}/bin/tfaot-tfcompile" ${arguments})
file(WRITE "${CASE_BINARY}/scaled.config.pbtxt" "# tfaot: fixed_shapes\n${rows}")
case_execute("tfcompile" COMMAND "${CASE_PREFIX}/bin/tfaot-tfcompile" ${arguments})
file(READ "${CASE_BINARY}/scaled/header.h" case_output)
case_expect("// scaled: fixed shapes, with" "float& arg_factor(::std::size_t dim0, ::std::size_t dim1)" "float& result_sum()")

# A row alone has the bits of a batch: attention with its steps first, and the sum of what it gives.
set(whole "attr { key: \"dtype\" value { type: DT_INT32 } }")
set(graph "node { name: \"x\" op: \"Placeholder\" ${float} }\n")
# node(<name> <op> <inputs> [<key of the type of the last one> <its numbers>])
function(node name op inputs)
  set(text "${type}")
  if(ARGC GREATER 3)
    set(numbers ${ARGN})
    list(POP_FRONT numbers key)
    list(LENGTH numbers count)
    list(TRANSFORM numbers PREPEND "int_val: ")
    list(JOIN numbers " " numbers)
    set(constant "tensor { dtype: DT_INT32 tensor_shape { dim { size: ${count} } } ${numbers} }")
    string(APPEND graph "node { name: \"${name}_of\" op: \"Const\" ${whole} attr { key: \"value\" value { ${constant} } } }\n")
    string(APPEND text " attr { key: \"${key}\" value { type: DT_INT32 } }")
    list(APPEND inputs ${name}_of)
  endif()
  list(TRANSFORM inputs REPLACE "(.+)" "input: \"\\1\"")
  list(JOIN inputs " " inputs)
  set(graph "${graph}node { name: \"${name}\" op: \"${op}\" ${inputs} ${text} }\n" PARENT_SCOPE)
endfunction()
node(steps Transpose x Tperm 1 0 2)
node(heads Reshape steps Tshape 6 -1 4)
node(v Transpose heads Tperm 1 0 2)
node(k Transpose v Tperm 0 2 1)
node(scores BatchMatMulV2 "v;k")
node(seen BatchMatMulV2 "scores;v")
node(first Transpose seen Tperm 1 0 2)
node(joined Reshape first Tshape 6 -1 8)
node(y Sum joined Tidx 0 2)
file(WRITE "${CASE_BINARY}/rows.pbtxt" "${graph}")
file(WRITE "${CASE_BINARY}/rows.config.pbtxt" "# tfaot: batch_sizes=1,4
feed { id { node_name: \"x\" } shape { dim { size: 4 } dim { size: 6 } dim { size: 8 } } }\nfetch { id { node_name: \"y\" } }\n")
case_execute("tfcompile" COMMAND "${CASE_PREFIX}/bin/tfaot-tfcompile" --graph=rows.pbtxt --config=rows.config.pbtxt --cpp_class=rows
             --out_header=rows/header.h --out_metadata_object=rows/m.o --out_function_object=rows/f.o)
case_execute("rows" COMMAND "${compiler}" -std=c++17 -Wall -Wextra -Werror -I. "${CASE_SOURCE}/rows.cc" rows/m.o rows/f.o -o rows/program)
case_execute("rows" COMMAND rows/program)
case_expect("0 rows differ")

# expect(<message> <argument>...)
function(expect message)
  case_execute("tfcompile" FAIL "${message}" COMMAND "${CASE_PREFIX}/bin/tfaot-tfcompile" ${ARGN})
endfunction()
set(all --graph=mynet.pb --cpp_class=mynet --config=mynet.config.pbtxt --out_header=second/header.h --out_metadata_object=second/m.o
        --out_function_object=second/f.o)
expect("tfaot: error: unknown flag '--target_feature'
          did you mean '--target_features'?
          see 'tfaot-tfcompile --help'" ${all} --target_feature=+avx)
expect("unexpected argument 'x'" x)
expect("--graph needs a value: --graph=..." --graph mynet.pb)
expect("--out_header is required see 'tfaot-tfcompile --help'" --graph=a --config=b --cpp_class=c)
expect("--cpp_class: 'a-b' is not a C++ name" ${all} --cpp_class=a-b)
expect("--target_features: '+nonsense' is unknown" ${all} --target_features=+nonsense)
expect("${CASE_BINARY}/no-such.pb: no such file named by --graph" ${all} --graph=no-such.pb)
case_execute("tfcompile" COMMAND "${CASE_PREFIX}/bin/tfaot-tfcompile" --version)
file(STRINGS "${CASE_TOOLKIT}/packaging/VERSION" version)
case_expect("tfaot-tfcompile ${version}")
# expect_config(<text> <message>)
function(expect_config text message)
  file(WRITE "${CASE_BINARY}/wrong.pbtxt" "${text}")
  expect("${message}" ${all} --config=wrong.pbtxt)
endfunction()
set(wrong "${CASE_BINARY}/wrong.pbtxt")
set(fetch "fetch { id { node_name: \"out/y\" } }")
expect_config("\n\nfeed { nonsense: 1 }" "${wrong}:3: not the text of a tensorflow.tf2xla.Config")
expect_config("${fetch}" "${wrong}: the config needs a feed and a fetch")
expect_config("feed { id { node_name: \"x\" } shape { dim { size: 2 } dim { size: -1 } } } ${fetch}"
  "${wrong}: feed 'x:0' has a dimension below 1 in tfcompile all shapes are known")
expect_config("# tfaot: batch_sizes=4\nfeed { id { node_name: \"x\" } shape { dim { size: 2 } dim { size: 3 } } }
  feed { id { node_name: \"z\" } shape { dim { size: 5 } } } ${fetch}"
  "${wrong}: batch_sizes, but no dimension is the batch all feeds must have the same first dimension")
expect_config("# tfaot: batch_sizes=4 fixed_shapes\nfeed { id { node_name: \"x\" } shape { dim { size: 2 } dim { size: 3 } } } ${fetch}"
  "leave out one of batch_sizes and fixed_shapes")
expect_config("feed { id { node_name: \"x\" } shape { dim { size: 2 } dim { size: 3 } } } ${fetch} variable { node_name: \"v\" }"
  "${wrong}: variables cannot be compiled")
expect_config("feed { id { node_name: \"y\" } shape { dim { size: 2 } dim { size: 3 } } } ${fetch}"
  "mynet.pb: there is no node 'y'")
expect_config("# a comment\n# tfaot: batch_size=1\n" "${wrong}:2: 'batch_size=1' is unknown")
case_execute("help" COMMAND "${CASE_PREFIX}/bin/tfaot-tfcompile" --help)
case_expect("--out_metadata_object=FILE")
