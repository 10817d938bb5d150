// SPDX-License-Identifier: Apache-2.0
// libxsmm of Debian 12: code made at run time for one size of product. Its convolutions want images
// in a layout of their own, so only products are measured.
#include <libxsmm.h>

#include "candidates.h"
#include "measure.h"
#include "shapes.h"

namespace tfaot::kernels_benchmark {
namespace {

libxsmm_smmfunction made_for(const Product& p, bool transposed, float /*type*/) {
  const auto m = static_cast<int>(p.columns), n = static_cast<int>(p.rows),
             k = static_cast<int>(p.depth);
  const int lda = transposed ? k : m, flags = transposed ? LIBXSMM_GEMM_FLAG_TRANS_A : 0;
  const float alpha = 1, beta = 0;
  return libxsmm_smmdispatch(m, n, k, &lda, &k, &m, &alpha, &beta, &flags, nullptr);
}
libxsmm_dmmfunction made_for(const Product& p, bool transposed, double /*type*/) {
  const auto m = static_cast<int>(p.columns), n = static_cast<int>(p.rows),
             k = static_cast<int>(p.depth);
  const int lda = transposed ? k : m, flags = transposed ? LIBXSMM_GEMM_FLAG_TRANS_A : 0;
  const double alpha = 1, beta = 0;
  return libxsmm_dmmdispatch(m, n, k, &lda, &k, &m, &alpha, &beta, &flags, nullptr);
}

// It takes column-major matrices: ours transposed.
template <typename T>
void measure_product(const std::string& operation, const Product& p) {
  const bool transposed = !p.packed && p.columns < p.depth;  // as in kernels_benchmark.cc
  const auto kernel = made_for(p, transposed, T{});
  if (kernel == nullptr) return;  // it makes no code for that
  const auto run = [=, lhs = numbers<T>(p.batch * p.rows * p.depth),
                    rhs = numbers<T>(p.batch * p.depth * p.columns),
                    result = numbers<T>(p.batch * p.rows * p.columns)] {
    for (Int b = 0; b < p.batch; ++b) {
      kernel(rhs.get() + b * p.depth * p.columns, lhs.get() + b * p.rows * p.depth,
             result.get() + b * p.rows * p.columns);
    }
  };
  measure(operation + "/" + p.name() + "/libxsmm", p.operations(), run);
}

}  // namespace

void measure_libxsmm() {
  libxsmm_init();
  for (const Product& p : products()) measure_product<float>("matmul", p);
  for (const Product& p : double_products()) measure_product<double>("matmul_f64", p);
}

}  // namespace tfaot::kernels_benchmark
