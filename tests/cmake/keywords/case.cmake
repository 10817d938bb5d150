# SPDX-License-Identifier: Apache-2.0
case_configure()
case_build()
foreach(namespace IN ITEMS sizes a_b folder shared fixed named tuned)
  case_run(use_${namespace})
  case_expect_predictions(model minimal 1)
  set(said_${namespace} "${case_output}")
endforeach()

set(case_output "${said_sizes}")
case_expect("batch sizes: 1 3 cpu")
set(case_output "${said_a_b}")
case_expect("cpu level: x86-64 model")
case_expect_json(build/with_levels.tfaot/package/manifest.json "[\"x86-64\"]" cpu_levels)
case_expect_json("build/a tree/manifest.json" folder::minimal cpp_class)
case_expect_json(build/with_headers.tfaot/package/manifest.json cmssw headers)
case_expect_file(build/with_headers.tfaot/package/runtime/include/tfaot/cmssw/inside/xla_function.h
                 build/with_static.tfaot/package/runtime/include/tfaot/cmssw/drop_in/PhysicsTools/TensorFlowAOT/interface/AOT.h)
case_expect_file(build/libwith_static.a build/libwith_folder.a build/libwith_shared.so)

# Measured, and the program was compiled with that; the others were not.
case_expect_json(build/with_tune.tfaot/package/manifest.json 4 tuning calls 1 batch_size)
set(costs "include/tfaot-model-minimal/minimal_costs.h")
file(READ "${CASE_BINARY}/build/with_tune.tfaot/package/${costs}" case_output)
case_expect("kBs1_x86_64 = ")
case_expect_not(" = 0;")
file(READ "${CASE_BINARY}/build/with_sizes.tfaot/package/${costs}" case_output)
case_expect("kBs1_x86_64 = 0;")

# The shared library holds code, kernels and weights; who uses it has no copy of them.
case_execute("nm" COMMAND nm -D --defined-only build/libwith_shared.so)
case_expect("weights")
case_expect_not("xla_cpu_runtime")
case_execute("readelf" COMMAND readelf --relocs --wide build/use_shared)
case_expect("weights")
case_expect_not("R_X86_64_COPY[^\n]*weights")
case_execute("nm" COMMAND nm --defined-only build/use_shared)
case_expect_not("[^\n]*minimal_weights")
