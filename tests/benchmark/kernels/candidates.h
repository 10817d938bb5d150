// SPDX-License-Identifier: Apache-2.0
// Each registers its benchmarks, named <operation>/<shape>/<candidate>.
#pragma once

namespace tfaot::kernels_benchmark {

void measure_peak();
void measure_ours();
void measure_eigen();
void measure_onednn();
void measure_xnnpack();
void measure_libxsmm();

}  // namespace tfaot::kernels_benchmark
