// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {

std::string curve_to_csv(const ProfiledCurve& curve) {
  std::string text;
  for (const ProfiledSize& size : curve.sizes) {
    for (const double ns : size.rounds) text += fmt::format("{},{:.6g}\n", size.rows, ns / 1e6);
  }
  return text;
}

std::string csv_file_name(const ProfiledCurve& curve) {
  std::string name = fmt::format("{}_{}_{}", curve.model, curve.version, word_of(curve.engine));
  if (curve.engine == ProfiledEngine::kPackage) {
    name += fmt::format("_{}_{}", curve.cpu_level, word_of(curve.strategy));
  }
  std::ranges::replace_if(name, std::not_fn(is_name_character), '_');
  return name + ".csv";
}

}  // namespace tfaot::toolkit
