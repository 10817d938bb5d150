// SPDX-License-Identifier: Apache-2.0
// Each registers its benchmarks, named <operation>/<shape>/<candidate>.
#pragma once

namespace tfaot::kernels_benchmark {

void measure_peak();
void measure_ours();
void measure_eigen();
void measure_onednn();

}  // namespace tfaot::kernels_benchmark
