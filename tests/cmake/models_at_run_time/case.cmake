# SPDX-License-Identifier: Apache-2.0
# Models that a program loads by name: 100 in one library of `tfaot link`, and three versions of one, with both kinds of headers,
# in an area of `tfaot install --link`. Their numbers are known: those of the 100 from their formula, the others from TensorFlow.
string(REGEX REPLACE ".*-DCMAKE_CXX_COMPILER=([^;]*).*" "\\1" compiler "${CASE_OPTIONS}")
set(tfaot "${CASE_PREFIX}/bin/tfaot")
set(works "${CASE_TOOLKIT}/tests/e2e/models/works")

# model_N: y = N / 4 * x - N, three numbers a row.
set(many "")
foreach(n RANGE 1 100)
  math(EXPR whole "${n} / 4")
  math(EXPR rest "${n} % 4 * 25")
  file(WRITE "${CASE_BINARY}/model_${n}.mlir" "func.func public @main(%arg0: tensor<4x3xf32> {tfaot.name = \"x\"}) -> (tensor<4x3xf32> {tfaot.name = \"y\"}) {
  %k = stablehlo.constant dense<${whole}.${rest}> : tensor<4x3xf32>
  %n = stablehlo.constant dense<-${n}.0> : tensor<4x3xf32>
  %0 = stablehlo.multiply %arg0, %k : tensor<4x3xf32>
  %1 = stablehlo.add %0, %n : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
")
  case_execute("compile" COMMAND "${tfaot}" compile model_${n}.mlir -o model_${n} --batch-sizes 4 --cpu-levels x86-64 --quiet)
  list(APPEND many model_${n})
endforeach()
case_execute("link" COMMAND "${tfaot}" link ${many} -o libmodels.so)
case_expect("model    model_1 1.0.0" "model    model_100 1.0.0")

# Nobody sees what is in it, and it needs the standard libraries alone.
case_execute("nm" COMMAND nm -D --defined-only libmodels.so)
case_expect("tfaot_models_open@@TFAOT_1")
string(REGEX REPLACE "[^\n]* T tfaot_models_[a-z_]+@@TFAOT_1\n|[^\n]* A TFAOT_1\n" "" others "${case_output}")
if(others)
  message(FATAL_ERROR "libmodels.so shows more than its interface:\n${others}")
endif()
case_execute("ldd" COMMAND ldd libmodels.so)
case_expect_not("[Tt]ensor[^ ]*|tfaot[^ ]*|not found")
# The same packages in another order of folders give other bytes, in the same order the same.
case_execute("link again" COMMAND "${tfaot}" link ${many} -o again/libmodels.so)
case_execute("compare" COMMAND "${CMAKE_COMMAND}" -E compare_files libmodels.so again/libmodels.so)

# version(<version> <headers> <model section's other lines>)
set(archives "")
function(version version headers text)
  file(WRITE "${CASE_BINARY}/twin.yaml" "model:\n  name: twin\n  version: \"${version}\"\n${text}compilation:\n  batch_sizes: [1, 2]\n  headers: ${headers}\n")
  case_execute("compile" COMMAND "${tfaot}" compile -c twin.yaml -o "twin ${version}" --quiet)
  case_execute("package" COMMAND "${tfaot}" package "twin ${version}" -o dist --quiet)
  file(GLOB archive "${CASE_BINARY}/dist/tfaot-model-twin-${version}-*.tar.zst")
  set(archives ${archives} "${archive}" PARENT_SCOPE)
endfunction()
set(frozen "  format: frozen_graph\n  inputs: [x]\n  outputs: [y]\n  frozen_graph:")
version(1.0.0 self_contained "${frozen} ${works}/frozen_trained/frozen_graph.pb\n")
version(1.1.0 cmssw "${frozen} ${works}/frozen_retrained/frozen_graph.pb\n")
version(2.0.0 self_contained "  saved_model: ${CASE_TOOLKIT}/examples/minimal/saved_model\n")
case_execute("install" COMMAND "${tfaot}" install ${archives} --link --release-area area)
case_expect_file("area/tfaot-model-twin/1.1.0/lib/twin.so")
case_execute("verify" COMMAND "${tfaot}" verify area)

# A program without any library of tfaot: the headers of a package are enough.
case_execute("host" COMMAND "${compiler}" -std=c++17 -O2 -Wall -Wextra -Werror -pthread "-I${CASE_BINARY}/twin 1.0.0/runtime/include"
             "-I${CASE_BINARY}/twin 1.0.0/include" "${CASE_SOURCE}/host.cc" -o host -ldl)
# A plugin that links version 1.0.0 of the same class, by both APIs.
file(GLOB objects "${CASE_BINARY}/twin 1.0.0/lib/*.o")
case_execute("plugin" COMMAND "${compiler}" -std=c++17 -O2 -fPIC -shared -DOUTPUTS=1 "-DTWIN_VERSION=\"1.0.0\""
             "-I${CASE_BINARY}/twin 1.0.0/runtime/include" "-I${CASE_BINARY}/twin 1.0.0/include" "${CASE_SOURCE}/../two_plugins/plugin.cc"
             -o plugin.so ${objects} "${CASE_BINARY}/twin 1.0.0/runtime/lib/libtfaot_runtime.a")
foreach(mode IN ITEMS local global)
  case_execute("host ${mode}" COMMAND ./host ${mode} area libmodels.so 100 ./plugin.so)
  case_expect("100 models are right in 8 threads" "nothing is loaded any more")
  case_expect_predictions("1.0.0" ../tests/e2e/models/works/frozen_trained 2)
  case_expect_predictions("plugin" ../tests/e2e/models/works/frozen_trained 2)
  case_expect_predictions("1.1.0" ../tests/e2e/models/works/frozen_retrained 2)
  case_expect_predictions("2.0.0" minimal 2)
endforeach()

# From C.
get_filename_component(folder "${compiler}" DIRECTORY)
case_execute("C" COMMAND "${compiler}" -x c -std=c99 -pedantic -Wall -Wextra -Werror "-I${CASE_BINARY}/twin 1.0.0/runtime/include"
             "${CASE_SOURCE}/host.c" -x none -o host_c "${CASE_BINARY}/libmodels.so" "-Wl,-rpath,\$ORIGIN")
case_execute("C" COMMAND ./host_c)
case_expect("model_8 1.0.0: -8 -6 -4" "no model 'model_0': the library has model_1 1.0.0,")
file(REMOVE "${CASE_BINARY}/host_c")  # its run path is for this folder alone

# What is current is preferred; what goes away while it is used stays usable.
case_execute("use" COMMAND "${tfaot}" use tfaot-model-twin 1.0.0 --release-area area)
case_execute("host chosen" COMMAND ./host chosen area ">=1.1 <2" "<2" ">0" ">2")
case_expect(">=1.1 <2: 1.1.0" "<2: 1.0.0" ">0: 1.0.0" ">2: no version of 'twin'")
# A damaged library is found, and made again.
file(APPEND "${CASE_BINARY}/area/tfaot-model-twin/2.0.0/lib/twin.so" "damage")
case_execute("verify" FAIL "lib/twin.so: differs from the hash beside it" COMMAND "${tfaot}" verify area)
list(GET archives 2 archive)
case_execute("install again" COMMAND "${tfaot}" install "${archive}" --link --release-area area)
case_execute("verify" COMMAND "${tfaot}" verify area)
# Without a linker the error says what is missing, and nothing is written.
file(MAKE_DIRECTORY "${CASE_BINARY}/empty")
case_execute("no linker" FAIL "install it (Debian: binutils)" COMMAND
             "${CMAKE_COMMAND}" -E env "PATH=${CASE_BINARY}/empty" "${tfaot}" link model_1 -o none.so)
if(EXISTS "${CASE_BINARY}/none.so")
  message(FATAL_ERROR "a failed link wrote its library")
endif()
