// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "candidates.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  tfaot::kernels_benchmark::measure_peak();
  tfaot::kernels_benchmark::measure_ours();
#if defined(TFAOT_WITH_EIGEN)
  tfaot::kernels_benchmark::measure_eigen();
#endif
#if defined(TFAOT_WITH_ONEDNN)
  tfaot::kernels_benchmark::measure_onednn();
#endif
#if defined(TFAOT_WITH_XNNPACK)
  tfaot::kernels_benchmark::measure_xnnpack();
#endif
#if defined(TFAOT_WITH_LIBXSMM)
  tfaot::kernels_benchmark::measure_libxsmm();
#endif
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
